"""A take: everything that happened in one performance, in one `.npz` file.

The file holds plain arrays and one JSON text, no pickled objects; `docs/take.md` documents every field.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.archives import read_archive
from stunt.errors import NONSENSE, InvalidValueError, TakeError, brief
from stunt.record.cast import Cast, cast_from_data
from stunt.record.files import written_aside
from stunt.stage.ledger import Ledger
from stunt.stage.stored_model import read_model

SCHEMA_VERSION = 2
TAKE_FILE = "take.npz"
"""What a take is called in its folder."""
COMMITTED = ".new-take"
"""A folder in it with a take that is whole, but not yet moved into place (see `stunt.record.take_folder`)."""
_BEFORE_CASTS = 1  # kept in its meta who and what was on stage
LARGEST = 4 * 2**30
"""No take that unpacks to more bytes is read: some hours of a stage full of people."""
_FRAMES = (
    "time", "qpos", "qvel", "target", "target_velocity", "torque", "stiffness", "damping", "saturated", "assistance",
)  # fmt: skip
_WIDE = ("qpos", "qvel", "target", "target_velocity", "torque", "stiffness", "damping", "saturated")
_SHAPES = {"assistance": (None, None, 6), "contact_geoms": (None, 2), "contact_position": (None, 3)}
_SHAPES |= {"contact_force": (None, 3), "contact_frame": (None,), "time": (None,), "model_bytes": (None,)}
_SHAPES |= {name: (None, None) for name in _WIDE}
_LONGEST = 1e7  # seconds; four months
_IN_TEXT = ("cast", "events", "meta")
_LEDGER = ("model_bytes", "start", "states", "step", "half", "slot", "value")
_APART = (*_IN_TEXT, "ledger")
_CONTACTS = ("contact_frame", "contact_geoms", "contact_position", "contact_force")
Floats = NDArray[np.float64]


@dataclass
class Take:
    """One recorded performance. T frames, one per recorded control step, the first at time 0.

    Attributes:
        time: Simulated time [s], (T,).
        qpos: Positions, (T, nq).
        qvel: Velocities, (T, nv).
        target: Position each joint was heading for, (T, nq); NaN where a joint was passive.
        target_velocity: Velocity it was to arrive with, (T, nv).
        torque: Generalized force each joint produced in the step that led to the frame [N·m], (T, nv).
        stiffness: k_s of that step [N·m/rad], (T, nv); under `full` coupling the diagonal M_ii/λ².
        damping: k_d of that step [N·m·s/rad], (T, nv).
        saturated: Whether the torque was at the joint's limit, (T, nv).
        assistance: Force [N] and torque [N·m, about the root] that each character got from outside its body beyond
            contacts and pushes: what holds a fixed root, or a root spring gives. World frame, (T, characters, 6).
        contact_frame: Frame each contact belongs to, (K,).
        contact_geoms: The two geoms of each contact, (K, 2).
        contact_position: Contact point in the world [m], (K, 3).
        contact_force: Force on the second geom, world frame [N], (K, 3).
        model_bytes: The compiled MuJoCo model (MJB), (B,) bytes.
        cast: Who and what was on stage: bodies, joints, props, clips, with their indices in the arrays.
        events: What happened, in order: dicts with `time`, `kind` and what belongs to it.
        meta: Title, settings and warnings of the performance, as JSON-able data.
        ledger: Everything that was written into the engine, where the take is one that can be certified; else None.
    """

    time: Floats
    qpos: Floats
    qvel: Floats
    target: Floats
    target_velocity: Floats
    torque: Floats
    stiffness: Floats
    damping: Floats
    saturated: NDArray[np.bool_]
    assistance: Floats
    contact_frame: NDArray[np.int32]
    contact_geoms: NDArray[np.int32]
    contact_position: Floats
    contact_force: Floats
    model_bytes: NDArray[np.uint8]
    cast: Cast = field(default_factory=Cast)
    events: list[dict[str, Any]] = field(default_factory=list)
    meta: Mapping[str, Any] = field(default_factory=dict)
    ledger: Ledger | None = None

    file: ClassVar[str] = ""  # what it was read from; empty where it was performed here

    @property
    def seconds(self) -> float:
        """Length of the take [s]."""
        return float(self.time[-1]) if self.time.size else 0.0

    def model(self) -> mujoco.MjModel:
        """Return the model the take was performed with."""
        try:
            model = read_model(self.model_bytes.tobytes())
        except ValueError as error:
            raise TakeError(
                f"the take's model was stored by MuJoCo {self.meta.get('mujoco')}, and this MuJoCo "
                f"({mujoco.__version__}) cannot read it: {error}."
            ) from error
        self._check_model(model)
        return model

    def _check_model(self, model: mujoco.MjModel) -> None:
        """Complain where the take's arrays and cast are not of its model."""
        if not self.time.size:
            return
        widths = {name: model.nq if name in ("qpos", "target") else model.nv for name in _WIDE}
        wrong = [name for name, width in widths.items() if getattr(self, name).shape[1] != width]
        bodies = [member.name for member in self.cast.characters.values()]
        try:
            known = {model.body(body).name.partition("/")[0] for body in range(model.nbody)}
        except UnicodeDecodeError as error:
            raise TakeError(f"the take's model has names that are no text: {error}.") from error
        lost = [name for name in bodies if name not in known]
        lost += [member.name for member in self.cast.characters.values() if not 0 <= member.root_body < model.nbody]
        lost += [prop.name for prop in self.cast.props.values() if not 0 <= prop.body < model.nbody]
        if wrong or lost:
            what = f"'{wrong[0]}' has another width" if wrong else f"'{brief(lost[0])}' is not in it"
            raise TakeError(f"the take and its model do not belong together: {what}.")

    def report(self) -> dict[str, Any]:
        """Return what a program wants to know about the performance (see `docs/report.md`)."""
        from stunt.record.report import make_report  # which reads takes

        return make_report(self)

    def review(self) -> Any:
        """Return how believable it is, in numbers beside those of captured people: a `stunt.review.Review`."""
        import stunt  # asked at the front door: what reviews takes stands far behind what makes them

        return stunt.review.review(self)

    def export(self, to: str | Path, **options: Any) -> list[Path]:
        """Write it to a file of another format, told by its suffix (see `stunt.export.export` for the options).

        Returns:
            The files that were written.
        """
        import stunt  # asked at the front door: what writes takes stands far behind what makes them

        return list(stunt.export.export(self, to, **options))

    def save(self, path: str | Path) -> Path:
        """Write the take to `path`, aside first, then moved into place."""
        path = _path(path)
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _APART}
        told = {"cast": self.cast.to_data(), "events": self.events, "meta": dict(self.meta)}
        if self.ledger is not None:
            arrays |= {f"ledger_{name}": getattr(self.ledger, name) for name in _LEDGER}
            told["ledger"] = {"slots": self.ledger.slots}
        text = json.dumps({"schema_version": SCHEMA_VERSION, **told})
        with written_aside(path) as aside, open(aside, "wb") as file:
            np.savez_compressed(file, json=np.array(text), **arrays)
        return path

    @staticmethod
    def load(path: str | Path) -> Take:
        """Read a take.

        Raises:
            TakeError: The file does not exist, is no take, or is of another schema.
        """
        path = _path(path)
        if os.path.isdir(path):
            new = path / COMMITTED / TAKE_FILE
            path = new if new.is_file() else path / TAKE_FILE
        if not os.path.isfile(path):
            raise TakeError(f"there is no take at '{path}'.")
        try:
            stored = read_archive(path, LARGEST)
            text = json.loads(str(stored["json"]))
            arrays = {f.name: stored[f.name] for f in fields(Take) if f.name not in _APART}
            _check(text, arrays)
            version = text.get("schema_version")
            if version not in (_BEFORE_CASTS, SCHEMA_VERSION):
                raise TakeError(
                    f"'{path}' has take schema {version}, but this Stunt reads schemas up to {SCHEMA_VERSION}."
                )
            cast, meta = _cast_and_meta(text)
            _check_cast(cast, arrays)
            ledger = _ledger(text["ledger"], stored) if "ledger" in text else None
        except (OSError, *NONSENSE) as error:
            raise TakeError(
                f"'{path}' is not a take Stunt can read: no .npz archive with a take's arrays ({error})."
            ) from error
        take = Take(**arrays, cast=cast, events=text["events"], meta=meta, ledger=ledger)
        take.__dict__["file"] = str(path)
        return take


def _path(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
        raise InvalidValueError("path", path, "the path of a take")
    return Path(path)


@contextlib.contextmanager
def doubted(take: Take) -> Iterator[None]:
    """Doubt what a take from a file says of itself: what makes no sense in it is its mistake, and is said so.

    Raises:
        TakeError: It does not make sense.
    """
    try:
        yield
    except NONSENSE as error:
        if not take.file:
            raise
        reason = f"{type(error).__name__}: {error}"
        raise TakeError(f"'{take.file}' says of itself what no take says ({reason}).") from error


def _cast_and_meta(text: Mapping[str, Any]) -> tuple[Cast, dict[str, Any]]:
    """Return a take's cast and meta from the JSON of its file."""
    meta = text["meta"]
    if text["schema_version"] == SCHEMA_VERSION:
        return cast_from_data(text["cast"]), meta
    return cast_from_data(meta), {key: value for key, value in meta.items() if key not in ("characters", "props")}


def _ledger(about: Mapping[str, Any], stored: Mapping[str, NDArray[Any]]) -> Ledger:
    """Return a take's ledger from what its file holds.

    Raises:
        ValueError: Its parts do not belong together.
    """
    arrays = {name: stored[f"ledger_{name}"] for name in _LEDGER}
    slots = {str(name): (int(first), int(size)) for name, (first, size) in about["slots"].items()}
    widths = {len(arrays[name]) for name in ("step", "half", "slot", "value")}
    step, slot, end = arrays["step"], arrays["slot"], max(first + size for first, size in slots.values())
    if arrays["states"].ndim != 2 or arrays["start"].ndim != 1 or len(widths) != 1:
        raise ValueError("the parts of its ledger differ in length")
    if step.size and not (0 <= step.min() and step.max() < len(arrays["states"]) and (np.diff(step) >= 0).all()):
        raise ValueError("its ledger has writes of steps that were not taken")
    if slot.size and not (0 <= slot.min() and slot.max() < end):
        raise ValueError("its ledger has writes to nowhere")
    return Ledger(**arrays, slots=slots)


def _check_cast(cast: Cast, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Complain where a cast speaks of columns that are not there.

    Raises:
        ValueError: It says which.
    """
    if not arrays["time"].size:
        return
    nq, nv = arrays["qpos"].shape[1], arrays["qvel"].shape[1]
    if arrays["assistance"].size and arrays["assistance"].shape[1] != len(cast.characters):
        raise ValueError("its assistance is not that of its characters")
    if not all(isinstance(prop.body, int) and 0 <= prop.body < 2**31 for prop in cast.props.values()):
        raise ValueError("its props have no places")
    for member in cast.characters.values():
        roots = [] if member.root_qpos is None else [member.root_qpos, member.root_qpos + 6]
        columns = [*roots, *(joint.qpos for joint in member.joints.values())]
        whole = [*columns, member.root_body, *(joint.dof for joint in member.joints.values())]
        if not all(isinstance(number, int) for number in whole):
            raise ValueError(f"the joints of '{brief(member.name)}' have no places")
        if not all(0 <= column < nq for column in columns) or not all(0 <= dof < nv for dof in member.dofs):
            raise ValueError(f"the joints of '{brief(member.name)}' are not in its arrays")


def _check(text: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Complain where the parts of a take do not belong together.

    Raises:
        ValueError: It says what.
    """
    if not isinstance(text, dict):
        raise ValueError("its JSON is no mapping")
    if text.get("schema_version") in (_BEFORE_CASTS, SCHEMA_VERSION):
        if not isinstance(text.get("events"), list) or not isinstance(text.get("meta"), dict):
            raise ValueError("its JSON has no events, or does not say what is in it")
    for names in (_FRAMES, _CONTACTS):
        lengths = {name: arrays[name].shape[0] if arrays[name].ndim else -1 for name in names}
        if len(set(lengths.values())) > 1 or -1 in lengths.values():
            raise ValueError(f"its arrays differ in length: {lengths}")
    for name, array in arrays.items():
        shape = _SHAPES[name]
        if array.dtype.kind not in "fiub":
            raise ValueError(f"'{name}' holds no numbers")
        if not array.size and name != "model_bytes":
            continue  # of a stage that took no step, or nobody on it
        if array.ndim != len(shape) or any(w is not None and w != n for w, n in zip(shape, array.shape, strict=True)):
            raise ValueError(f"'{name}' is of shape {array.shape}")
    time = arrays["time"]
    if not (np.isfinite(time).all() and (np.abs(time) <= _LONGEST).all() and (np.diff(time) > 0).all()):
        raise ValueError("its times do not increase, or are no times")
    frame = arrays["contact_frame"]
    if frame.size and not (frame.dtype.kind in "iu" and frame.min() >= 0 and frame.max() < time.size):
        raise ValueError("its contacts are of frames it does not have")
