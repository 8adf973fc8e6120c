"""Functions and policies as controllers, and pre-conditions from outside, in a few lines each.

```python
stand = from_function("stand", lambda now: {"l_knee": 0.0, "r_knee": 0.0})
policy = from_policy("walker", onnx_policy("walker.onnx"), observe=lambda now: np.r_[now.qpos[7:], now.qvel])
picky = WithPrecondition(policy, lambda now: now.tilt < 0.4)
```
"""

from __future__ import annotations

import contextlib
import glob
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from stunt import children
from stunt.archives import read_file
from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.layout import Layout
from stunt.errors import InvalidValueError, StuntError
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop
from stunt.supervise.calls import ask_bid, tell_recast
from stunt.supervise.contract import ORDINARY, RUNNING, BaseController, Bid, Controller, Status
from stunt.supervise.situation import Situation

Pose = Floats | Mapping[str, Any]
Answer = Pose | Status | None
Function = Callable[[Situation], Answer]


class FromFunction(BaseController):
    """A function of the situation that says which pose to go to: own coordinates, joint angles by name, a status, None.

    Attributes:
        function: What is asked at every look.
        reach: How long going to each pose takes [s].
    """

    shared = ("function", "can")

    def __init__(
        self,
        name: str,
        function: Function,
        *,
        can: Callable[[Situation], bool | float | None] | None = None,
        reach: float = 0.1,
        priority: int = ORDINARY,
        longest: float = 60.0,
    ) -> None:
        """Wrap a function.

        Args:
            name: What it is called.
            function: What is asked: returns a pose to go to, a `Status`, or None to go on.
            can: Its pre-condition: a score, or whether it can take the character; None: always.
            reach: How long going to each pose takes [s].
            priority: Of its bids.
            longest: How long it may be in charge [s].
        """
        super().__init__(name)
        self.function, self.can, self.reach = function, can, reach
        self.priority, self.longest = priority, longest

    def bid(self, now: Situation) -> Bid | float | None:
        """Bid where it can."""
        answer = 0.5 if self.can is None else self.can(now)
        if isinstance(answer, (bool, np.bool_)):
            return 0.5 if answer else None
        return answer

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Hold what is there, then ask for the first time."""
        actor.recover()
        actor.lean(None)
        actor.aim(now.qpos, over=0.0)
        self._ask(now, actor)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Ask again."""
        return self._ask(now, actor)

    def _ask(self, now: Situation, actor: BodyActor) -> Status:
        answer = self.function(now)
        if isinstance(answer, Status):
            return answer
        if answer is not None:
            actor.aim(answer if isinstance(answer, Mapping) else np.asarray(answer, float), over=self.reach)
        return RUNNING


def from_function(name: str, function: Function, **options: Any) -> FromFunction:
    """Make a controller of a function (options as of `FromFunction`)."""
    return FromFunction(name, function, **options)


def from_policy(
    name: str,
    policy: Callable[[Floats], Any],
    *,
    observe: Callable[[Situation], Floats] | None = None,
    scale: float = 1.0,
    **options: Any,
) -> FromFunction:
    """Make a controller of a policy: a callable from an observation to one action per joint degree of freedom.

    An action is how far each joint is turned away from the body's reference pose [rad]; of a ball joint, a rotation
    vector.

    Args:
        name: What it is called.
        policy: A network's forward pass, or any callable, (n,) → (dofs,).
        observe: Makes the observation; None: joint positions and all velocities, heading removed.
        scale: Radians per unit of action.
        options: As of `FromFunction`.
    """
    look = observe or observation

    def act(now: Situation) -> Floats:
        layout = Layout.of(now.character)
        action = np.asarray(policy(np.asarray(look(now), np.float32)), float).ravel()
        if action.shape != (layout.nv - 6,):
            raise InvalidValueError(f"the action of policy '{name}'", action.shape, f"{layout.nv - 6} numbers")
        home = now.stage.model.qpos0[now._slices[0]].copy()
        home[:7] = now.qpos[:7]
        return layout.moved(home, np.concatenate([np.zeros(6), scale * action]))

    return FromFunction(name, act, **options)


def observation(now: Situation) -> Floats:
    """Return a plain observation: height and tilt of the root, joint positions, all velocities, heading removed."""
    back = rotations.from_rotation_vector(np.array([0.0, 0.0, -now.heading]))
    tilt = rotations.multiply(back, now.qpos[3:7])
    speed = rotations.rotate(back, now.qvel[:3])
    return np.concatenate([now.qpos[2:3], tilt, now.qpos[7:], speed, now.qvel[3:]])


_LARGEST_NETWORK: Final = 256 * 2**20
_ROOM: Final = 512 * 2**20
"""What all networks together may take for what they compute with [bytes]."""
_PATIENCE: Final = 2.0
"""How long a forward pass may take [s]; one of a controller takes less than a thousandth of it."""
_TO_READ: Final = 5
"""How much of a processor reading one may take, and its first pass [s]."""
_SILENT: Final = 4
"""The runner of networks says nothing on the terminal: what is wrong is in its errors."""


def onnx_policy(path: str | Path) -> Callable[[Floats], Floats]:
    """Return the forward pass of an ONNX network with one input and one output (needs `pip install 'stunt[onnx]'`).

    It runs in one thread, so that the same observation gives the same action. A child process reads it first; what
    takes more than 2 s or 512 MB to answer is refused.

    Raises:
        StuntError: onnxruntime is missing, or cannot read the file.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise StuntError("an .onnx policy needs onnxruntime: pip install 'stunt[onnx]'.") from error
    try:
        read_file(path, _LARGEST_NETWORK)
        children.apart(f"{__name__}:tried", str(Path(path).absolute()), seconds=_TO_READ)
        session = _session(str(path))
    except Exception as error:  # onnxruntime has a dozen of its own
        raise StuntError(f"'{path}' is no ONNX network that can be run: {error}.") from error
    if not session.get_inputs():
        raise StuntError(f"'{path}' is a network without an input.")
    entry = session.get_inputs()[0].name

    def forward(observed: Floats) -> Floats:
        row = np.asarray(observed, np.float32)[None]
        options = onnxruntime.RunOptions()
        options.log_severity_level = _SILENT
        try:
            with _at_most(_PATIENCE, lambda: setattr(options, "terminate", True)):
                return np.asarray(session.run(None, {entry: row}, options)[0], float)[0]
        except Exception as error:
            raise StuntError(f"the network '{path}' cannot be run on {row.shape[1]} numbers: {error}.") from error

    return forward


def _session(path: str) -> Any:
    """Return a network that is ready to run, in one thread, with so much memory and no more."""
    import onnxruntime

    _bound_networks()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    options.add_session_config_entry("session.use_env_allocators", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@cache
def _bound_networks() -> None:
    import onnxruntime as ort

    kind = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(kind, ort.OrtArenaCfg({"max_mem": _ROOM, "arena_extend_strategy": 1}))


def tried(data: bytes, path: str) -> bytes:
    """Read a network, and run it once (the child's side). What it complains about is said again outside."""
    import onnxruntime  # noqa: F401 - what it takes itself is not the network's

    beside = Path(path).parent.glob(glob.escape(Path(path).name) + "*")  # weights may stand in a file of their own
    children.allow(children.SPARE + 8 * sum(file.stat().st_size for file in beside))
    try:
        session = _session(path)
        for entry in session.get_inputs()[:1]:
            size = entry.shape[-1] if entry.shape and isinstance(entry.shape[-1], int) else 1
            session.run(None, {entry.name: np.zeros((1, min(size, 10**6)), np.float32)})
    except Exception as error:
        if "memory" in str(error) or "alloc" in str(error):
            raise MemoryError from None
    return b""


_RUNNING: dict[object, tuple[float, Callable[[], object]]] = {}
"""What is under way: when it has to be over [s], and what ends it."""


@contextlib.contextmanager
def _at_most(seconds: float, end: Callable[[], object]) -> Iterator[None]:
    """End what is done here if it takes longer: a thread looks on, which costs nothing worth mentioning each time."""
    global _looks_on
    if not _looks_on.is_alive():  # the first time, and in a process that was forked
        _looks_on = threading.Thread(target=_look_on, name="looks on networks", daemon=True)
        _looks_on.start()
    token = object()
    _RUNNING[token] = (time.monotonic() + seconds, end)
    try:
        yield
    finally:
        del _RUNNING[token]


def _look_on() -> None:
    while True:
        time.sleep(0.25 * _PATIENCE)
        for latest, end in list(_RUNNING.values()):
            if time.monotonic() > latest:
                end()


_looks_on = threading.Thread()


class Wrapped(BaseController):
    """A controller around another: all it does not say itself, the inner one does.

    Attributes:
        inner: The controller.
    """

    shared: ClassVar[tuple[str, ...]] = ("inner",)

    def __init__(self, inner: Controller, name: str = "") -> None:
        """Wrap a controller."""
        super().__init__(name or inner.name)
        self.inner = inner
        self.kinematic, self.priority, self.interrupts = inner.kinematic, inner.priority, inner.interrupts
        self.longest, self.wakes = inner.longest, getattr(inner, "wakes", "always")
        self.low = bool(getattr(inner, "low", False))

    def bid(self, now: Situation) -> Bid | float | None:
        """Bid as the controller does."""
        return self.inner.bid(now)

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Let the controller begin."""
        self.inner.start(now, actor, bid)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Let it go on."""
        return self.inner.step(now, actor)

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let it stop."""
        self.inner.stop(now, actor)

    def recast(self, stage: StageLoop) -> None:
        """Let it look up anew what it knows of the scene."""
        tell_recast(self.inner, stage)

    def save(self) -> Any:
        """Return what the controller must keep."""
        return self.inner.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.inner.restore(state)


class WithPrecondition(Wrapped):
    """A controller that bids only where a pre-condition holds as well; a number replaces its score.

    Attributes:
        inner: The controller.
        holds: The pre-condition: False or None: no; True: as the controller bids; a number from 0 to 1: that score.
    """

    shared = ("inner", "holds")

    def __init__(self, inner: Controller, holds: Callable[[Situation], bool | float | None], name: str = "") -> None:
        """Put a pre-condition before a controller."""
        super().__init__(inner, name)
        self.holds = holds

    def bid(self, now: Situation) -> Bid | float | None:
        """Bid where both agree."""
        bid = ask_bid(self.inner, now)
        verdict = self.holds(now) if bid is not None else None
        if bid is None or verdict is None or verdict is False:
            return None
        if isinstance(verdict, (bool, np.bool_)):
            return bid if verdict else None
        return Bid(float(verdict), bid.why, bid.plan, bid.priority)
