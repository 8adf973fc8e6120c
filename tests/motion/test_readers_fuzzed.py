"""Every reader of files, fed with damaged ones: an error or a result, in bounded time and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stunt.archives import ArrayCache
from stunt.examples import _FOLDER as EXAMPLES
from stunt.library.names import load_clip
from stunt.motion.clips import edit as clip_edit
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.motion.formats.npz import write_npz
from stunt.script.file import script_from_data
from stunt.script.performance import Performance
from stunt.supervise.learn.bids import FOLDER as STORED

MOST_SECONDS = 20.0
"""No single file may cost more of the processor's time than this."""
MOST_GB = 1.0

WORKER = """
import resource, sys, time
from pathlib import Path
from stunt.errors import StuntError
kind, folder = sys.argv[1], Path(sys.argv[2])
if kind == "clip":
    from stunt.library.doctor import examine as read
elif kind == "markers":
    from stunt.motion.markers import read_c3d as read
elif kind == "mapping":
    from stunt.motion.clips.mapping import read_mapping as read
elif kind == "script":
    from stunt.script.file import load_script as read
elif kind == "take":
    from stunt.record.take import Take
    read = Take.load
elif kind == "machine":
    from stunt.supervise.learn.svm import load_machine as read
elif kind == "cache":
    from stunt.archives import ArrayCache
    def read(path):
        if ArrayCache(folder).load(path.stem) is None:
            raise StuntError("made again")
good = bad = 0
slowest = 0.0
for path in sorted(folder.iterdir()):
    if path.suffix == ".asf":
        continue
    began = time.process_time()
    try:
        read(path)
        good += 1
    except StuntError:
        bad += 1
    slowest = max(slowest, time.process_time() - began)
# A process's resource usage begins with that of whoever started it; its own memory's peak does not.
status = Path("/proc/self/status")
if status.exists():
    peak = int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]) / 2**20
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(good, bad, slowest, peak)
"""


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut, flip bits, shuffle lines or blocks, drop or repeat a piece, or make a number huge."""
    kind = int(rng.integers(7))
    if kind == 0 or len(data) < 16:
        return data[: int(rng.integers(len(data) + 1))]
    if kind == 1:
        flipped = bytearray(data)
        for place in rng.integers(len(data), size=int(rng.integers(1, 9))):
            flipped[place] ^= 1 << int(rng.integers(8))
        return bytes(flipped)
    if kind == 2:
        pieces = data.split(b"\n") if b"\n" in data else [data[k : k + 64] for k in range(0, len(data), 64)]
        order = rng.permutation(len(pieces))
        return b"\n".join(pieces[int(k)] for k in order)
    start, stop = sorted(int(k) for k in rng.integers(len(data), size=2))
    if kind == 3:
        return data[:start] + data[stop:]
    if kind == 4:
        return data[:stop] + data[start:]
    if kind == 5:  # a header's count, as large as it can be
        place = int(rng.integers(min(len(data), 512) - 4))
        return data[:place] + b"\xff\xff\xff\x7f" + data[place + 4 :]
    digits = [k for k in range(len(data)) if 48 <= data[k] <= 57] or [0]
    place = digits[int(rng.integers(len(digits)))]
    return data[:place] + rng.choice([b"99999999999", b"1e308", b"-7", b"nan"]) + data[place:]


def seeds(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Return one good file of each kind: which reader, and its content, by file name."""
    walk = load_clip("walk")
    write_npz(walk, folder / "seed.npz")
    np.savez(folder / "amass.npz", poses=np.zeros((8, 156)), trans=np.zeros((8, 3)), mocap_framerate=np.array(60.0))
    found = {
        "a.bvh": ("clip", write_bvh(clip_edit.trimmed(walk, 0.0, 0.2), folder / "seed.bvh").read_bytes()),
        "b.npz": ("clip", (folder / "seed.npz").read_bytes()),
        "c.npz": ("clip", (folder / "amass.npz").read_bytes()),
        "d.json": ("clip", b'{"Loop": "wrap", "Frames": [' + b",".join([_deepmimic_row()] * 4) + b"]}"),
        "e.yaml": ("mapping", b"joints:\n  hips: Hips\n  l_thigh: LeftUpLeg\nbodies:\n  head: Head\n"),
        "f.yaml": ("script", (EXAMPLES / "boxing.yaml").read_bytes()),
        "g.c3d": ("markers", (EXAMPLES / "reach.c3d").read_bytes()),
    }
    asf = b":units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n"
    asf += b" position 0 0 0\n orientation 0 0 0\n"
    asf += b":bonedata\n begin\n name lfemur\n direction 0 -1 0\n length 7\n axis 0 0 20 XYZ\n dof rx ry rz\n end\n"
    asf += b":hierarchy\n begin\n root lfemur\n end\n"
    (folder / "h.asf").write_bytes(asf)
    found["i.asf"] = ("clip", asf)
    found["h.amc"] = ("clip", b":DEGREES\n1\nroot 1 16 3 4 5 6\nlfemur 1 2 3\n2\nroot 1 16 3 4 5 6\nlfemur 1 2 3\n")
    ball = {"shape": "sphere", "radius": 0.1, "mass": 1, "at": [0, 0, 1]}
    take = Performance(script_from_data({"props": {"ball": ball}, "seconds": 0.2})).run()
    found["j.npz"] = ("take", take.save(folder / "take.npz").read_bytes())
    found["k.npz"] = ("machine", (STORED / "balance.npz").read_bytes())
    cache = ArrayCache(folder)
    cache.keep("map", {"costs": np.random.default_rng(1).random((30, 40))})
    assert cache.load("map") is not None
    found["l.npz"] = ("cache", (folder / "map.npz").read_bytes())
    return found


def _deepmimic_row() -> bytes:
    row = [0.02, 0.0, 0.9, 0.0, *([1.0, 0, 0, 0] * 4), -0.2, *([1.0, 0, 0, 0] * 2), 0.3, 1.0, 0, 0, 0, -0.2]
    return str([*row, *([1.0, 0, 0, 0] * 2), 0.3]).encode()


NAMES = [
    "a.bvh", "b.npz", "c.npz", "d.json", "e.yaml", "f.yaml", "g.c3d", "h.amc", "i.asf",
    "j.npz", "k.npz", "l.npz",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_read_quickly_and_in_little_memory(name: str, tmp_path: Path) -> None:
    kind, data = seeds(tmp_path)[name]
    folder = tmp_path / "fuzz"
    folder.mkdir()
    rng = np.random.default_rng(sum(name.encode()))
    for number in range(60):
        (folder / f"{number:03d}{Path(name).suffix}").write_bytes(damaged(data, rng))
    if name == "i.asf":  # a whole motion beside every damaged skeleton
        for number in range(60):
            (folder / f"{number:03d}.amc").write_bytes(seeds(tmp_path)["h.amc"][1])
    if name == "h.amc":
        (folder / "000.asf").write_bytes((tmp_path / "h.asf").read_bytes())
        for number in range(60):
            (folder / f"{number:03d}.asf").write_bytes((tmp_path / "h.asf").read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", WORKER, kind, str(folder)], capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stderr[-1500:]
    good, bad, slowest, peak = (float(value) for value in done.stdout.split()[-4:])
    print(f"{name}: {good:.0f} read, {bad:.0f} refused, slowest {slowest:.2f} s, peak {peak:.2f} GB")
    assert good + bad >= 60 and slowest < MOST_SECONDS and peak < MOST_GB
