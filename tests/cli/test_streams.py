"""Standard streams closed or full, terminals of few letters, no home: the take is written, the exit code is right."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

from stunt.record.take import Take

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a shell")
STREAMS = [
    "".join(some)
    for count in (1, 2, 3)
    for some in itertools.combinations((" <&-", " >&-", " 2>&-"), count)
]  # fmt: skip


def shell(words, streams="", **environment):
    """Run Stunt under a shell that closes or fills its streams."""
    command = f'"{sys.executable}" -m stunt.cli.main {words}{streams}'
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, timeout=600, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("streams", STREAMS)
def test_closed_streams_do_not_matter(script, streams):
    done = shell("perform tiny.yaml --out out --no-pictures", streams)
    assert (done.returncode, done.stderr if "2>" not in streams else b"") == (0, done.stderr)
    assert Take.load("out").seconds == pytest.approx(0.3)
    assert {path.name for path in (script.parent / "out").iterdir()} == {"take.npz", "report.json"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("words", ["perform tiny.yaml --out out --no-pictures", "perform tiny.yaml --json", "examples"])
def test_a_full_output_is_one_line_and_no_success(script, words):
    done = shell(words, " > /dev/full")
    assert done.returncode == 2 and b"Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == b"error: No space left on device."
    if "out" in words:
        assert Take.load("out").seconds == pytest.approx(0.3)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_error_stream_does_not_matter(script):
    done = shell("perform tiny.yaml --out out --no-pictures", " 2> /dev/full")
    assert done.returncode == 0 and Take.load("out").seconds == pytest.approx(0.3)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_terminals_of_few_letters_get_what_they_can_show(script, encoding):
    script.write_text(script.read_text().replace("title: Tiny", "title: Tänzer ♥ 舞"))
    done = shell("perform tiny.yaml --out out --no-pictures", PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    done.stdout.decode(encoding)


def test_without_a_home_it_performs(script):
    gone = str(script.parent / "gone")
    done = shell("perform tiny.yaml --out out", HOME=gone, XDG_CACHE_HOME=gone, XDG_CONFIG_HOME=gone)
    assert done.returncode == 0 and b"Traceback" not in done.stderr and (script.parent / "out/filmstrip.png").exists()


LONG = "x" * 5000


@pytest.mark.parametrize(
    "words",
    [
        f"perform {LONG}", f"perform {LONG}.yaml", f"check {LONG}", f"track {LONG}", f"show {LONG}", f"learn {LONG}",
        f"export {LONG} --to a.bvh", f"export out --to {LONG}.bvh", f"perform tiny.yaml --out {LONG}",
        f"preview {LONG}", f"calibrate {LONG} --quiet",
        f"examples wave --copy {LONG}", f"figures p0 --out {LONG}", f"learn balance --out {LONG}",
        f"perform tiny.yaml --clips {LONG}", "check pipe.yaml", "perform pipe.yaml", "show pipe.yaml", "track pipe.bvh",
        "check pipe.bvh", "perform /dev/zero", "show /dev/zero", "check /dev/zero", "track /dev/zero",
    ],
    ids=lambda words: words[:40],
)  # fmt: skip
def test_names_no_system_takes_pipes_and_devices_are_one_line(stunt, script, words):
    for name in ("pipe.yaml", "pipe.bvh"):
        os.mkfifo(name)
    result = stunt(*words.split())
    assert result.code == 2 and result.err.count("\n") == 1 and len(result.err) < 4200, result.err[:300]
