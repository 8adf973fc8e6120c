"""The certificate of a take: what moved its bodies, proved by playing it again with the bare engine.

`docs/certificate.md` says what each field means. A body passes where nothing but contacts, gravity, its own joints
within their strength and declared pushes moved it; whoever had help gets a certificate that says how much.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import TakeError, must_be
from stunt.record.departure import machine
from stunt.record.incidents import time_of_fall
from stunt.record.proof.replay import TOLERANCE, BodyAccount, Bookkeeper, Replay
from stunt.record.take import Take, doubted
from stunt.stage.ledger import BEFORE, Ledger

SCHEMA_VERSION: Final = 1
LOST: Final = 1e-3
"""Change of momentum that nothing accounts for, as a share of body weight (times 1 m), which the engine's contact
solver may leave: it ends when forces and accelerations agree well enough. Walking it leaves some 0.00003."""
_PARTS: Final = {
    "model": ("model_bytes",), "writes": ("start", "step", "half", "slot", "value"), "states": ("states",),
}  # fmt: skip
_SPRINGS: Final = ("jnt_stiffness", "dof_damping", "qpos_spring")
_HARMLESS: Final = {
    "qacc_warmstart": "where the contact solver starts",
    "opt.timestep": "steps taken in parts",
    "tree_sleep_policy": "who may sleep",
    "geom_priority": "whose friction a contact has, the soles'",
}
_ENDS: Final = ("eq_obj1id", "eq_obj2id")
_WELDS: Final = ("eq_active", "eq_data", *_ENDS)
_MASKS: Final = ("geom_contype", "geom_conaffinity", "body_contype", "body_conaffinity")
_INPUTS: Final = ("qfrc_applied", "xfrc_applied", "qpos", "qvel", "M", "ctrl", "act", "geom_friction")


def certify(take: Take) -> dict[str, Any]:
    """Certify a take: play it again with the bare engine, and say what moved its bodies.

    Args:
        take: One that was performed to be certified (`--certify`, `certify=True`).

    Returns:
        The certificate, as JSON-able data (see `docs/certificate.md`).

    Raises:
        TakeError: It keeps no ledger, or that makes no sense.
    """
    must_be("the take", take, Take)
    if take.ledger is None:
        raise TakeError(
            "this take does not keep what was written into the engine, so nothing can be proved of it. Perform it with "
            "`--certify` (in Python: `stage.run(…, certify=True)`)."
        )
    with doubted(take):
        return _certificate(take, take.ledger)


def digests(ledger: Ledger) -> dict[str, str]:
    """Return SHA-256 of the model, of all that was written, and of all states."""
    return {
        what: hashlib.sha256(b"".join(getattr(ledger, name).tobytes() for name in names)).hexdigest()
        for what, names in _PARTS.items()
    }


def _certificate(take: Take, ledger: Ledger) -> dict[str, Any]:
    replay = Replay(ledger)
    fresh = Replay(ledger).model
    books = Bookkeeper(replay, take.cast.characters, take.events)
    for number, _ in enumerate(replay.steps()):
        books.after() if number % 2 else books.before()
    at_home = take.meta.get("machine") == machine() and take.meta.get("mujoco") == mujoco.__version__
    confirmed = replay.differs < 0 or (not at_home and replay.off <= TOLERANCE)
    matches = _frames_match(take, ledger)
    general = _general_help(ledger, fresh)
    characters = {name: _character(take, account, ledger, fresh, general) for name, account in books.accounts.items()}
    passed = confirmed and matches and all(entry["passed"] for entry in characters.values())
    return {
        "schema_version": SCHEMA_VERSION,
        "title": take.meta.get("title", ""),
        "source": take.meta.get("source", ""),
        "stunt": take.meta.get("stunt"),
        "mujoco": take.meta.get("mujoco"),
        "seconds": take.seconds,
        "steps": ledger.steps,
        "passed": passed,
        "verdict": _verdict(confirmed, matches, characters),
        "replay": {
            "bit_for_bit": replay.differs < 0,
            "first_difference": None if replay.differs < 0 else replay.differs,
            "largest_difference": replay.off if np.isfinite(replay.off) else None,
            "tolerance": TOLERANCE,
            "same_machine": at_home,
            "frames_are_states": matches,
        },
        "digest": digests(ledger),
        "written": {name: int(n) for name in ledger.slots if (n := int(ledger.written(name).sum()))},
        "listed": _listed(ledger, fresh),
        "characters": characters,
    }


def _verdict(confirmed: bool, matches: bool, characters: dict[str, Any]) -> str:
    if not confirmed:
        return "not confirmed: the bare engine, told what the take says was written, does something else."
    if not matches:
        return "not confirmed: the take's frames are not the states of its steps."
    failed = [name for name, entry in characters.items() if not entry["passed"]]
    if failed:
        return f"no pass: {'; '.join(f'{name} {why}' for name in failed for why in characters[name]['help'][:1])}."
    return "passed: nothing but contacts, gravity, joints within their strength and declared pushes moved anybody."


def _frames_match(take: Take, ledger: Ledger) -> bool:
    """Whether the take's frames are states of its steps, or the one it began with."""
    nq, nv = take.qpos.shape[1], take.qvel.shape[1]
    states = np.concatenate([ledger.start[None, : 1 + nq + nv], ledger.states[:, : 1 + nq + nv]])
    place = np.searchsorted(states[:, 0], take.time - 1e-7).clip(0, len(states) - 1)
    put = np.unique(ledger.step[(ledger.half == BEFORE) & (ledger.written("qpos") | ledger.written("qvel"))])
    free = ~np.isin(place, put)  # where somebody was put, frames show that, states what came of the step before
    same = (take.qpos == states[place, 1 : 1 + nq]).all(axis=1) & (take.qvel == states[place, 1 + nq :]).all(axis=1)
    return bool(same[free].all())


# ---- help


def _character(
    take: Take, account: BodyAccount, ledger: Ledger, model: mujoco.MjModel, general: list[str]
) -> dict[str, Any]:
    member = account.member
    weight = member.mass * (float(np.linalg.norm(model.opt.gravity)) or 9.81)
    found = [*_root_help(take, account, weight), *_written_help(account, ledger, model), *general]
    over = account.over / max(account.joint_steps, 1)
    if account.over:
        found.append(
            f"was stronger than its joints are: {account.load.what} by {account.load.value:.4g} times its strength"
        )
    return {
        "passed": not found,
        "help": found,
        "external": {
            "force_n": account.force.value, "torque_nm": account.torque.value, "steps": account.helped,
            "impulse_ns": float(account.impulse[0]), "torque_impulse_nms": float(account.impulse[1]),
            "force_share": account.force.value / weight,
        },
        "momentum_residual": {
            "force_n": account.residual.value, "torque_nm": account.spin_residual.value,
            "force_share": account.residual.value / weight,
        },
        "torque": {
            "peak_share": account.load.value, "joint": account.load.what, "time": account.load.time,
            "over_share": over,
        },
        "friction": {"peak_use": account.friction.value, "sliding_share": account.slides / max(account.contacts, 1)},
        "penetration": {
            "others_m": account.ground.value, "body": account.ground.what, "time": account.ground.time,
            "own_limbs_m": account.inside.value,
        },
        "clock": _clock(take, member.name),
        "pushed_ns": account.pushed,
        "weld_n": account.weld.value,
        "fell": time_of_fall(take, member.name) is not None,
    }  # fmt: skip


def _clock(take: Take, name: str) -> dict[str, float] | None:
    """Return how far the clip's clock gave [s]; None for who follows no clip on its own feet."""
    told = take.meta.get("tracking", {}).get(name, {}).get("own_feet")
    return None if not told else {"late_s": float(told["late_s"]), "most_s": float(told["off_clock_s"])}


def _root_help(take: Take, account: BodyAccount, weight: float) -> list[str]:
    found = []
    if account.root < 0:
        number = take.cast.names.index(account.member.name)
        held = np.linalg.norm(take.assistance[1:, number, :3], axis=1)
        found.append(
            f"is held by a fixed root, with {float(held.max(initial=0.0)):.4g} N at most "
            f"({float(held.mean()) / weight if held.size else 0.0:.3g} of its weight on the mean)"
        )
    if account.helped:
        found.append(
            f"had its root held by control in {account.helped} steps: {account.force.value:.4g} N "
            f"({account.force.value / weight:.3g} of its weight) and {account.torque.value:.4g} N·m at most, "
            f"{account.impulse[0]:.4g} N·s and {account.impulse[1]:.4g} N·m·s in all"
        )
    if account.hidden.value > 0.0:
        found.append(
            f"was pushed by what nobody declared: {account.hidden.value:.4g} N or N·m on {account.hidden.what} at "
            f"{account.hidden.time:.3f} s, {account.pulled_impulse:.4g} N·s in all"
        )
    if account.pulled.value > 0.0:
        found.append(
            f"was dragged from outside, with {account.pulled.value:.4g} N at most and {account.pulled_impulse:.4g} N·s "
            "in all"
        )
    if not max(account.residual.value, account.spin_residual.value) <= LOST * weight:
        when = max(account.residual, account.spin_residual, key=lambda worst: worst.value).time
        found.append(
            f"changed its momentum by what nothing accounts for: {account.residual.value:.4g} N and "
            f"{account.spin_residual.value:.4g} N·m at most, at {when:.3f} s"
        )
    return found


def _written_help(account: BodyAccount, ledger: Ledger, model: mujoco.MjModel) -> list[str]:
    """Return what was written into one body's state, inertia or friction that helps it."""
    found, bodies = [], account.bodies
    dofs = np.flatnonzero(bodies[model.dof_bodyid])
    places = [q for joint in np.flatnonzero(bodies[model.jnt_bodyid]) for q in _qpos(model, int(joint))]
    moved = {**_steps_of(ledger, "qpos", places), **_steps_of(ledger, "qvel", [int(dof) for dof in dofs])}
    if put := sum(half == BEFORE for half in moved.values()):
        found.append(f"was put where it is, or set moving, in {put} steps")
    if struck := sum(half != BEFORE for half in moved.values()):
        found.append(f"got velocities from outside the engine in {struck} steps (two-stage collisions)")
    if account.root >= 0 and (count := len(_patched(ledger, model, account.root))):
        found.append(f"had its root's inertia changed in {count} steps")
    sprung = {d for d in _written_places(ledger, "dof_damping") if account.root >= 0 and 0 <= d - account.root < 6}
    if sprung:
        found.append("had its root damped")
    geoms = {place // 3 for place in _written_places(ledger, "geom_friction")}
    own = sorted({model.body(int(model.geom_bodyid[g])).name for g in geoms if bodies[model.geom_bodyid[g]]})
    if own:
        low = _lowest_friction(ledger, model, [g for g in geoms if bodies[model.geom_bodyid[g]]])
        steps = len(np.unique(ledger.step[ledger.written("geom_friction")]))
        found.append(f"had the friction of {', '.join(own)} changed by control, down to {low:.3g}, in {steps} steps")
    return found


def _general_help(ledger: Ledger, model: mujoco.MjModel) -> list[str]:
    """Return what was changed of the world itself, which may help anybody."""
    known = {"history", "userdata", "plugin_state", "plastic", *_INPUTS, *_SPRINGS, *_WELDS, *_HARMLESS, *_MASKS}
    found = []
    for name in ledger.slots:
        if name not in known and ledger.written(name).any():
            found.append(f"moved in a world whose {name} was changed while it played")
    free = last_free(model)
    geoms = {place // 3 for place in _written_places(ledger, "geom_friction")}
    if ground := sorted({model.geom(g).name or f"geom {g}" for g in geoms if not free[model.geom_bodyid[g]]}):
        found.append(f"stood on {', '.join(ground)}, whose friction was changed")
    if ledger.written("mocap_pos").any() or ledger.written("mocap_quat").any():
        found.append("shared the stage with bodies that were moved by hand")
    ends = {int(body) for end in _ENDS for body in ledger.value[ledger.written(end)]}
    if any(not free[body] for body in ends):
        found.append("had a weld to the world")
    return found


def last_free(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Return which bodies can move at all, (nbody,)."""
    moves = np.zeros(model.nbody, bool)
    for body in range(1, model.nbody):
        moves[body] = model.body_dofnum[body] > 0 or moves[model.body_parentid[body]]
    return moves


def _listed(ledger: Ledger, model: mujoco.MjModel) -> list[str]:
    """Return what else was written, in sentences: it helps nobody, and belongs to the proof."""
    found = []
    joints = {int(model.dof_jntid[place]) for place in _written_places(ledger, "dof_damping")}
    joints |= _written_places(ledger, "jnt_stiffness")
    if joints:
        found.append(
            f"springs and dampers of {len(joints)} joints were written, solved by the engine with its contacts"
        )
    if steps := len(np.unique(ledger.step[ledger.written("M")])):
        found.append(f"inertia between joints was patched in {steps} steps: springs in the world, solved implicitly")
    if any(ledger.written(name).any() for name in _WELDS):
        found.append("something was taken hold of, or let go: a weld")
    if ledger.written("xfrc_applied").any():
        found.append("bodies were pushed")
    if any(ledger.written(name).any() for name in _MASKS):
        found.append("who collides with whom was changed")
    found += [f"{what} was written" for name, what in _HARMLESS.items() if ledger.written(name).any()]
    return found


def _qpos(model: mujoco.MjModel, joint: int) -> list[int]:
    first = int(model.jnt_qposadr[joint])
    width = {int(mujoco.mjtJoint.mjJNT_FREE): 7, int(mujoco.mjtJoint.mjJNT_BALL): 4}.get(int(model.jnt_type[joint]), 1)
    return list(range(first, first + width))


def _written_places(ledger: Ledger, name: str) -> set[int]:
    """Return which numbers of a field were ever written."""
    mine = ledger.written(name)
    return {int(slot) - ledger.slots[name][0] for slot in np.unique(ledger.slot[mine])} if mine.any() else set()


def _steps_of(ledger: Ledger, name: str, places: list[int]) -> dict[tuple[int, int], int]:
    """Return the steps in which some numbers of the state were written, by step and half, with the half."""
    mine = ledger.written(name) & np.isin(ledger.slot - ledger.slots[name][0], places)
    return {(int(s), int(h)): int(h) for s, h in zip(ledger.step[mine], ledger.half[mine], strict=True)}


def _patched(ledger: Ledger, model: mujoco.MjModel, root: int) -> NDArray[np.int32]:
    """Return the steps in which the rows or columns of a root were changed in the inertia matrix."""
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    touched = ((row >= root) & (row < root + 6)) | ((model.M_colind >= root) & (model.M_colind < root + 6))
    mine = ledger.written("M")
    mine[mine] = touched[ledger.slot[mine] - ledger.slots["M"][0]]
    return np.unique(ledger.step[mine])


def _lowest_friction(ledger: Ledger, model: mujoco.MjModel, geoms: list[int]) -> float:
    mine = ledger.written("geom_friction")
    first = ledger.slots["geom_friction"][0]
    mine &= np.isin((ledger.slot - first) // 3, geoms) & ((ledger.slot - first) % 3 == 0)
    values = [*ledger.value[mine], *model.geom_friction[geoms, 0]]
    return float(min(values))
