"""Play a certified take again with the bare engine: `python replay_certificate.py takes/walk` (MuJoCo and NumPy alone).

From the state at the start it writes what was written, steps, and compares with the take: bit for bit; where that fails
(another processor or MuJoCo), each step from the take's own state before it, to a tolerance. It checks the digests of
certificate.json beside the take. Exit code 0: confirmed; 1: not.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

TOLERANCE = 1e-6  # after one step: of a number, or of its size where that is above 1
WHOLE = mujoco.mjtState.mjSTATE_INTEGRATION
MOVES = ("time", "qpos", "qvel", "act", "history", "plugin_state", "plastic")
PARTS = {"model": ["model_bytes"], "writes": ["start", "step", "half", "slot", "value"], "states": ["states"]}


class _Engine:
    def __init__(self, take: Any) -> None:
        self.model = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": take["ledger_model_bytes"].tobytes()})
        self.data, self.slots = mujoco.MjData(self.model), json.loads(str(take["json"]))["ledger"]["slots"]
        self.slot, self.value = take["ledger_slot"], take["ledger_value"]
        self.moves = np.concatenate([np.arange(self.slots[n][0], sum(self.slots[n])) for n in MOVES])
        halves = 2 * take["ledger_step"].astype(int) + take["ledger_half"]
        self.firsts = np.searchsorted(halves, np.arange(2 * len(take["ledger_states"]) + 1))
        mujoco.mj_setState(self.model, self.data, take["ledger_start"], WHOLE)

    def state(self) -> Any:
        found = np.zeros(mujoco.mj_stateSize(self.model, WHOLE))
        mujoco.mj_getState(self.model, self.data, found, WHOLE)
        return found

    def write(self, half: int) -> None:  # what was written before a step (2·n), or between its halves (2·n + 1)
        chosen, state, speed = slice(*self.firsts[half : half + 2]), self.state(), self.data.qvel.copy()
        for name, (first, size) in self.slots.items():
            mine = (self.slot[chosen] >= first) & (self.slot[chosen] < first + size)
            places, values = self.slot[chosen][mine] - first, self.value[chosen][mine]
            owner = self.data if name == "M" else self.model.opt if name.startswith("opt.") else self.model
            if first < len(state):
                state[first + places] = values
            elif mine.any() and np.ndim(field := getattr(owner, name.removeprefix("opt."))):
                field.reshape(-1)[places] = values
            elif mine.any():
                setattr(owner, name.removeprefix("opt."), type(field)(values[0]))
            if name == "M" and mine.any():
                mujoco.mj_factorM(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, state, WHOLE)
        if half % 2 and (self.data.qvel != speed).any():  # an impact: what follows from velocities, anew
            mujoco.mj_fwdVelocity(self.model, self.data)

    def step(self, number: int) -> Any:
        self.write(2 * number)
        mujoco.mj_step1(self.model, self.data)
        self.write(2 * number + 1)
        mujoco.mj_step2(self.model, self.data)
        return self.state()[self.moves]


path = Path(sys.argv[1]) / "take.npz" if Path(sys.argv[1]).is_dir() else Path(sys.argv[1])
take, certificate = np.load(path), path.with_name("certificate.json")
engine, states, off = _Engine(take), take["ledger_states"], 0.0
same = all(engine.step(number).tobytes() == wanted.tobytes() for number, wanted in enumerate(states))
engine = _Engine(take)
for number, wanted in enumerate(states if not same else []):
    off = np.max([off, *(np.abs(engine.step(number) - wanted) / np.maximum(1.0, np.abs(wanted)))])
    state = engine.state()
    state[engine.moves] = wanted
    mujoco.mj_setState(engine.model, engine.data, state, WHOLE)
print(f"{len(states)} steps: " + ("the same bits" if same else f"each within {off:.1e}, tolerated {TOLERANCE:g}"))
known = json.loads(certificate.read_text())["digest"] if certificate.exists() else {}
for what, names in PARTS.items():
    digest = hashlib.sha256(b"".join(take[f"ledger_{name}"].tobytes() for name in names)).hexdigest()
    off = off if known.get(what, digest) == digest else np.inf
    print(what, digest, "" if not known else "as certified" if known[what] == digest else "NOT as certified")
sys.exit(0 if off <= TOLERANCE else 1)
