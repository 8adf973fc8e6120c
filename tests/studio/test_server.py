"""Who may talk to the studio, and what becomes of those who misbehave: refused or dropped, unseen by the others."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest
from studio_helpers import Studio, run

pytest.importorskip("nicegui", reason="the studio's extra is not installed")
websockets = pytest.importorskip("websockets")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    running = Studio(tmp_path_factory.mktemp("server"), "ymca", "--stay")
    yield running
    running.end()


def get(studio, path, **headers):
    place = urlsplit(studio.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    return answer


def socket_of(studio, **options):
    return websockets.connect(studio.url.replace("http", "ws") + "socket", max_size=None, **options)


async def word(line, kind, seconds=300.0):
    """Wait for a word of a kind."""
    async with asyncio.timeout(seconds):
        while True:
            message = await line.recv()
            if isinstance(message, bytes):
                if kind == "pose":
                    return message
                continue
            message = json.loads(message)
            if message["kind"] == kind:
                return message


async def moments(line, number):
    """Watch so many pictures; returns the times on the stage they show [s]."""
    return [float(np.frombuffer(await word(line, "pose"), "<f4")[2]) for _ in range(number)]


async def ask(line, op, **data):
    await line.send(json.dumps({"op": op, "number": 7, "data": data}))
    return await word(line, "reply")


def test_a_page_with_the_address_gets_in_and_one_without_does_not(studio):
    path = urlsplit(studio.url).path
    assert get(studio, path).status == 200
    assert get(studio, path + "three.js").status == 200
    for wrong in (
        "/",
        "/page/main.js",
        "/wrong/",
        path[:-2] + ("y/" if path[-2] == "x" else "x/"),
        "/" + path,
        path + "page/../../server.py",
    ):
        assert get(studio, wrong).status in (403, 404), wrong
    assert get(studio, "/wrong/").status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)  # fmt: skip
def test_forged_hosts_and_other_origins_are_refused_even_with_the_token(studio, headers):
    assert get(studio, urlsplit(studio.url).path, **headers).status == 403

    async def knock():
        more = {key: value for key, value in headers.items() if key != "Host"}
        if more:
            with pytest.raises(websockets.InvalidStatus):
                await websockets.connect(studio.url.replace("http", "ws") + "socket", additional_headers=more)

    run(knock())
    assert "refused a request" in studio.said()


def test_a_socket_without_the_token_is_refused(studio):
    async def knock():
        place = urlsplit(studio.url)
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(f"ws://{place.netloc}/wrong/socket")

    run(knock())


def test_it_listens_on_this_machine_only(studio):
    port = urlsplit(studio.url).port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in others:
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if not address.startswith("127."):
                assert probe.connect_ex((address, port)) != 0


def test_garbage_is_refused_and_who_sends_nothing_else_is_dropped(studio):
    async def play():
        async with socket_of(studio) as line:
            for rubbish in ("", "{", "[]", '{"op": "nothing"}', '{"op": "edit", "data": {"name": "x", "args": {}}}'):
                await line.send(rubbish)
            with pytest.raises(websockets.ConnectionClosed):
                await word(line, "never")
        async with socket_of(studio) as line:
            with contextlib.suppress(websockets.ConnectionClosed):
                await line.send(b"\x00" * 300_000)  # larger than any word
                await word(line, "never")

    run(play())
    assert "sends garbage; it is dropped" in studio.said()


def test_a_flood_is_dropped_and_others_and_the_simulation_go_on(studio):
    async def flood(enough):
        """Talk without end, and come back whenever one is thrown out; returns how often that was."""
        dropped = 0
        while not enough.is_set():
            async with socket_of(studio) as bad, asyncio.timeout(300.0):
                with contextlib.suppress(websockets.ConnectionClosed):
                    while True:
                        await bad.send('{"op": "play", "data": {}}')
                        await asyncio.sleep(0)  # the other page is read by the same thread
            dropped += 1
        return dropped

    async def play():
        async with socket_of(studio) as good:
            await word(good, "document")
            await ask(good, "play", playing=True, loop=True)
            enough = asyncio.Event()
            flooding = asyncio.create_task(flood(enough))
            seen = await moments(good, 40)
            enough.set()
            dropped = await flooding
            await ask(good, "play", playing=False)
            print(f"{len(set(seen))} moments seen beside a flood that was dropped {dropped} times")
            return dropped, seen

    dropped, seen = run(play())
    assert dropped >= 1 and len(set(seen)) > 30  # the stage goes on: nearly every picture shows another moment
    assert "floods; it is dropped" in studio.said()


def test_a_page_that_stops_reading_costs_no_memory_and_slows_nobody(studio):
    def memory():
        with open(f"/proc/{studio.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    async def play():
        async with socket_of(studio) as good:
            await word(good, "document")
            lazy = [await socket_of(studio, max_queue=1).__aenter__() for _ in range(3)]
            for line in lazy:
                line.transport.pause_reading()
            await ask(good, "play", playing=True, loop=True)
            before = memory()
            seen = await moments(good, 200)
            after = memory()
            await ask(good, "play", playing=False)
            for line in lazy:
                line.transport.abort()
            print(f"{len(set(seen))} moments beside three stalled pages; {before:.0f} -> {after:.0f} MB")
            return seen, after - before

    seen, grown = run(play())
    assert len(set(seen)) > 150 and grown < 30.0


def test_every_page_sees_the_same_stage(studio):
    async def play():
        async with socket_of(studio) as one, socket_of(studio) as other:
            await word(one, "document")
            await word(other, "document")
            answer = await ask(one, "edit", name="set_seconds", args={"seconds": 5.0})
            told = await word(other, "document")
            assert told["revision"] == answer["data"]["revision"] and told["outline"]["seconds"] == 5.0
            await ask(other, "undo")
            assert (await word(one, "document"))["outline"]["seconds"] is None

    run(play())


def test_a_crash_of_the_simulation_is_told_and_loses_no_edit(studio):
    async def play():
        async with socket_of(studio) as line:
            await word(line, "document")
            await ask(line, "edit", name="set_seconds", args={"seconds": 4.5})
            children = f"/proc/{studio.process.pid}/task/{studio.process.pid}/children"
            with open(children, encoding="ascii") as file:
                pids = [int(pid) for pid in file.read().split()]
            workers = [pid for pid in pids if b"spawn_main" in open(f"/proc/{pid}/cmdline", "rb").read()]
            os.kill(workers[0], signal.SIGSEGV)
            told = await word(line, "error")
            assert "crashed" in told["error"] and "no edit is lost" in told["error"]
            await word(line, "scene")  # it is back
            found = await word(line, "results")
            while not found["done"]:
                found = await word(line, "results")
            assert found["seconds"] == 4.5
            await ask(line, "undo")

    run(play())


def test_a_simulation_that_blows_up_says_so_and_can_be_edited_on(studio):
    async def play():
        async with socket_of(studio) as line:
            await word(line, "document")
            refused = await ask(line, "edit", name="save_pose", args={"name": "Y", "angles": {"r_elbow_flexion": 400}})
            assert "error" not in refused
            told = await word(line, "error")
            assert "outside its limits" in told["error"]
            await ask(line, "undo")
            assert (await word(line, "results"))["error"] == ""

    run(play())


def test_closing_the_last_page_ends_it_and_keeps_the_work(tmp_path):
    running = Studio(tmp_path, "ymca")

    async def play():
        async with socket_of(running) as line:
            await word(line, "document")
            await ask(line, "edit", name="set_seconds", args={"seconds": 5.5})

    run(play())
    assert running.wait(300) == 0
    assert "unsaved edits are kept in" in running.said()
    assert "seconds: 5.5" in (tmp_path / ".ymca.autosave.yaml").read_text(encoding="utf-8")


def test_ctrl_c_ends_it_cleanly(tmp_path):
    running = Studio(tmp_path, "ymca", "--stay")
    running.process.send_signal(signal.SIGINT)
    assert running.wait(300) in (0, 130)
    assert "Traceback" not in running.said()
