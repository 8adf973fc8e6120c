"""Half-open connections, names no system takes, files too large, words without sense: the page is not locked out."""

import asyncio
import contextlib
import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest
from studio_helpers import Studio, run

pytest.importorskip("nicegui", reason="the studio's extra is not installed")
pytest.importorskip("websockets")
from tests.campaigns.messages import Talk, words  # noqa: E402


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    running = Studio(tmp_path_factory.mktemp("attacked"), "ymca", "--stay")
    yield running
    running.end()


def request(studio, path, method="GET", body=None):
    place = urlsplit(studio.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    connection.request(method, place.path + path, body=body)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(errors="replace")


def test_five_hundred_half_open_connections_do_not_lock_the_page_out(studio):
    place = urlsplit(studio.url)
    opened = [socket.create_connection((place.hostname, place.port)) for _ in range(500)]
    try:
        for number, one in enumerate(opened):
            if number % 3:
                one.sendall(b"GET / HTTP/1.1\r\nX: " if number % 3 == 1 else b"\r\n")
        assert request(studio, "")[0] == 200
        for one in opened:  # each is hung up on; a time limit only ends what hangs
            one.settimeout(120.0)
            try:
                while one.recv(4096):
                    pass
            except ConnectionError:
                pass
        assert request(studio, "")[0] == 200
    finally:
        for one in opened:
            one.close()


@pytest.mark.parametrize(
    "begun",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
        b"POST /drop/x.bvh HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=["many at once", "a body that never comes", "a chunk that never ends", "expecting", "another protocol"],
)
def test_who_has_no_token_gets_one_answer_and_is_hung_up_on(studio, begun):
    place = urlsplit(studio.url)
    with socket.create_connection((place.hostname, place.port), timeout=60.0) as one:
        one.sendall(begun)
        answer = b""
        with contextlib.suppress(ConnectionError):  # it may not wait for all we say
            while piece := one.recv(65536):
                answer += piece
    assert answer.count(b"HTTP/1.1") <= 1 and b" 200 " not in answer
    assert request(studio, "")[0] == 200


def test_a_slow_page_keeps_its_socket_longer_than_a_half_open_connection(studio):
    from stunt.studio.security import HEADER_SECONDS

    async def quiet():
        import websockets

        async with websockets.connect(studio.url.replace("http", "ws") + "socket", max_size=None) as line:
            await asyncio.sleep(HEADER_SECONDS + 2.0)
            await line.send(json.dumps({"op": "library", "number": 7}))
            while True:
                message = await line.recv()
                if not isinstance(message, bytes) and json.loads(message).get("number") == 7:
                    return True

    assert run(quiet())


@pytest.mark.parametrize(
    "path", ["page/" + "a" * 5000, "picture/" + "a" * 300, "page/%00", "export/99999999999", "page/%FF"]
)
def test_names_no_system_takes_are_not_found(studio, path):
    status, text = request(studio, path)
    assert status == 404 and "/" not in text


def test_a_file_over_the_limit_hears_the_sentence(studio):
    status, text = request(studio, "drop/big.bvh", "POST", bytes(70_000_000))
    assert (status, json.loads(text)) == (413, {"error": "a file may have 64 MB."})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.gltf", b'{"asset": {"version": "2.0"}, "nodes": [{"children": null}]}'), ("x.bvh", b"\xff"),
        ("x.exe", b"x"),
        ("x" * 300 + ".bvh", b"x"), ("x.c3d", b"x"), ("x.npz", b"PK"), ("%2e%2e%2fx.bvh", b"x"), ("x.glb", b""),
    ],
)  # fmt: skip
def test_broken_files_are_refused_in_a_sentence_without_a_path(studio, name, content):
    status, text = request(studio, f"drop/{name}", "POST", content)
    assert status in (404, 422) and "Traceback" not in text and "/tmp" not in text and len(text) < 4300


def test_mutated_words_are_answered_or_counted(studio):
    talk = Talk(studio.url, studio.log)
    run(talk.say(words(60, 3)))
    assert talk.finds == [] and talk.answered + talk.refused == 60 and studio.process.poll() is None
