"""A plan: clips × bodies × settings × pushes × seeds, and single jobs, as data. Described in `docs/batch.md`.

A plan is never laid out: its jobs are counted by multiplying and made one after another, so one of a billion jobs costs
nothing until it is run.
"""

from __future__ import annotations

import glob
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from stunt.archives import read_file
from stunt.errors import NOWHERE, InvalidValueError, MissingValueError, Place, ScriptFileError, UnknownNameError, brief
from stunt.jobs.job import Job, JobError, digest
from stunt.keys import (
    CLIP,
    FILE,
    NAME,
    SECONDS,
    TEXT,
    Choice,
    Context,
    ListOf,
    MappingOf,
    Nested,
    Number,
    ValueKind,
    Whole,
    Word,
    key,
    read,
    spec,
    write,
)
from stunt.library.bodies import OWN_SKELETON
from stunt.many.columns import COLUMNS
from stunt.many.setting import SettingKind
from stunt.many.shove import Shove, Shoved
from stunt.motion.formats.registry import clip_suffixes, is_listed, is_motion_file, motion_files
from stunt.schema import Node, Section, entries, items, node_from_plain, plain_from_node, whole, wrong
from stunt.script.yaml import MAX_BYTES, node_from_yaml

RUN: Final = "stunt.many.follow:follow"
"""What runs a job that follows a clip."""
TAKES: Final = ("none", "failed", "all")
"""Of which jobs takes are kept."""
MOST_SEEDS: Final = 10**9
MOST_VALUES: Final = 66_000  # of a plan made in Python; a file has fewer, and patterns for the names of many clips
_GLOB = set("*?[")
_SAYS_NOTHING = ("title", "takes", "columns")  # of what a row holds


@dataclass(frozen=True)
class Seeds:
    """Seeds: the first so many whole numbers, or certain ones."""

    count: int = 0
    certain: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.certain) or self.count

    def __iter__(self) -> Iterator[int]:
        return iter(self.certain or range(self.count))


class SeedsKind(ValueKind):
    """How many seeds, or a list of them."""

    def read(self, node: Node, context: Context, name: str) -> Seeds:
        """Read them."""
        if not isinstance(node.value, tuple):
            return Seeds(whole(node, 0, MOST_SEEDS))
        certain = tuple(whole(seed, 0, 2**53) for seed in items(node))
        if len(set(certain)) < len(certain):
            raise wrong(node, "seeds that differ: the same seed gives the same row")
        return Seeds(certain=certain)

    def write(self, value: Any, context: Context) -> Any:
        """Write them."""
        return list(value.certain) if value.certain else value.count

    def told(self) -> str:
        """Say what they are."""
        return "how many, or a list of whole numbers"


@spec("noise")
class StartNoise:
    """By how much a seed changes the start: standard deviations of independent normal draws."""

    joints: float = key(default=1.0, kind=Number(0.0, 180.0, unit="°"), help="of each joint's angle")
    spin: float = key(
        default=0.15, kind=Number(0.0, 100.0, unit="rad/s"), help="of each joint's velocity, and of the root's turning"
    )
    speed: float = key(default=0.05, kind=Number(0.0, 100.0, unit="m/s"), help="of the root's velocity along each axis")
    place: Place = field(default=NOWHERE, compare=False)


class Anything(ValueKind):
    """Plain data as it is, for a function that knows what it means."""

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        return plain_from_node(node)

    def told(self) -> str:
        """Say what it is."""
        return "a mapping of anything"


class Ranges(ValueKind):
    """Arguments that vary: each a list of values, or a number of whole ones."""

    def read(self, node: Node, context: Context, name: str) -> dict[str, tuple[Any, ...] | int]:
        """Read them."""
        found: dict[str, tuple[Any, ...] | int] = {}
        for argument, values in entries(node).items():
            if isinstance(values.value, tuple):
                found[argument] = tuple(plain_from_node(value) for value in items(values))
            else:
                found[argument] = whole(values, 1, MOST_SEEDS)
        return found

    def write(self, value: Any, context: Context) -> Any:
        """Write them."""
        return {argument: list(values) if isinstance(values, tuple) else values for argument, values in value.items()}

    def told(self) -> str:
        """Say what they are."""
        return "a mapping of lists, or of how many"


@spec("job {}", by=("clip", "run"))
class PlannedJob:
    """One job by itself; of a function of one's own, or as many as there are combinations of `over`."""

    clip: str | None = key(default=None, kind=CLIP, only=("clip",), help="which clip is followed; this or `run`")
    body: str = key(default=OWN_SKELETON, kind=NAME, only=("clip",), help="by whose body; else the clip's own skeleton")
    setting: str | None = key(default=None, kind=NAME, only=("clip",), help="in which setting; else the first")
    seed: int | None = key(default=None, kind=Whole(0, 2**53), only=("clip",), help="which start; else the clip's own")
    push: Shove | None = key(default=None, kind=Shoved(), only=("clip",), help="who pushes; else nobody")
    run: str | None = key(
        default=None, kind=Word("`module:function`"), only=("run",), help="a function of your own (see below)"
    )
    arguments: Mapping[str, Any] = key(default={}, kind=Anything(), name="with", only=("run",), help="what it is told")
    over: Mapping[str, tuple[Any, ...] | int] = key(
        default={}, kind=Ranges(), only=("run",), help="arguments that vary, a job for each combination: a list of "
        "values, or how many whole numbers from 0",
    )  # fmt: skip
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def count(self) -> int:
        """How many jobs it stands for."""
        return math.prod(len(values) if isinstance(values, tuple) else values for values in self.over.values())

    @property
    def told(self) -> Iterator[dict[str, Any]]:
        """What each of them is told; the last argument that varies goes round first."""
        ranges = [values if isinstance(values, tuple) else range(values) for values in self.over.values()]
        for chosen in itertools.product(*ranges):
            yield {**self.arguments, **dict(zip(self.over, chosen, strict=True))}


class OwnSettings(ValueKind):
    """Settings by name."""

    def read(self, node: Node, context: Context, name: str) -> dict[str, dict[str, Any]]:
        """Read them."""
        found: dict[str, dict[str, Any]] = MappingOf(SettingKind(), keep=dict, counted=("settings", 100_000)).read(
            node, context, name
        )
        return found

    def told(self) -> str:
        """Say what they are."""
        return f"by name: {SettingKind().told()}"


@spec("the plan")
class BatchPlan:
    """What is to be done: every clip on every body in every setting, pushed by each push, from each seed's start.

    Attributes:
        folder: Where relative names begin.
        expanded: The clips, folders and patterns told one by one; None: not yet looked for.
    """

    title: str = key(default="", kind=TEXT, help="for people")
    clips: tuple[str, ...] = key(
        default=(), kind=ListOf(CLIP, alone=(str,)), help="names, files, folders, or patterns such as `walks/*.bvh`"
    )
    bodies: tuple[str, ...] = key(
        default=(OWN_SKELETON,), kind=ListOf(NAME, alone=(str,)), help="whose bodies; `skeleton`: the clip's own"
    )
    settings: Mapping[str, Mapping[str, Any]] = key(default={}, kind=OwnSettings(), help="ways of following them")
    pushes: tuple[Shove, ...] = key(
        default=(), kind=ListOf(Shoved(), alone=(str, dict)), help="one push each; else nobody pushes"
    )
    seeds: Seeds = key(default=Seeds(), kind=SeedsKind(), help="starts with noise; else one start, the clip's own")
    seed: int = key(default=0, kind=Whole(0, 2**53), help="of the plan: other noise and pushes for the same seeds")
    noise: StartNoise = key(default=StartNoise(), kind=Nested(StartNoise), help="by how much seeds change the start")
    seconds: float | None = key(default=None, kind=SECONDS, help="how long each lasts; else as long as its clip")
    folders: tuple[str, ...] = key(
        default=(), kind=ListOf(FILE, alone=(str,)), help="folders in which names of clips are looked for first"
    )
    takes: str = key(default="none", kind=Choice("takes", TAKES), help="of which jobs takes are kept")
    columns: tuple[str, ...] = key(default=(), kind=ListOf(NAME), help="which columns the table has; else all")
    jobs: tuple[PlannedJob, ...] = key(default=(), kind=ListOf(Nested(PlannedJob)), help="more jobs, one by one")
    place: Place = field(default=NOWHERE, compare=False)
    folder: str = field(default="", compare=False)
    expanded: tuple[str, ...] | None = field(default=None, compare=False)

    def after_reading(self, section: Section, context: Context) -> BatchPlan:
        """Complain about an empty plan, unknown settings and unknown columns."""
        if not self.clips and not self.jobs:
            raise MissingValueError("clips' or 'jobs", "the plan", self.place)
        for job in self.jobs:
            if job.setting is not None and job.setting not in self.settings:
                raise UnknownNameError("setting", job.setting, self.settings, job.place)
        if all(job.run is None for job in self.jobs):
            for node, column in zip(items(section.need("columns")) if self.columns else (), self.columns, strict=True):
                if column not in COLUMNS:
                    raise UnknownNameError("column", column, COLUMNS, node.place)
        if section.get("seeds") is not None and not len(self.seeds):
            raise InvalidValueError("seeds", 0, "left out, or at least 1", section.need("seeds").place)
        return self

    # ---- as a list of jobs

    @cached_property
    def digest(self) -> str:
        """Tells it from any other plan: as it is written, whatever its folders hold."""
        data = write(self)
        return digest({key: value for key, value in data.items() if key not in _SAYS_NOTHING})

    @cached_property
    def found_clips(self) -> tuple[str, ...]:
        """All clips one by one, as they are named relative to the plan."""
        if self.expanded is not None:
            return self.expanded
        return tuple(dict.fromkeys(name for clip in self.clips for name in _expanded(clip, self.folder, self.place)))

    @property
    def count(self) -> int:
        """How many jobs it has."""
        product = len(self.found_clips) * len(self.bodies)
        for factor in (self.settings, self.pushes, self.seeds):
            product *= max(len(factor), 1)
        return product + sum(job.count for job in self.jobs)

    def each(self) -> Iterator[Job]:
        """Yield its jobs in their order, lazily: the last factor, seeds, may be a billion."""
        seeds = self.seeds if len(self.seeds) else (None,)
        outer = itertools.product(self.found_clips, self.bodies, tuple(self.settings) or ("",), self.pushes or (None,))
        indices = itertools.count()
        for clip, body, setting, push in outer:
            for seed in seeds:
                yield self._follow(next(indices), clip, body, setting, push, seed)
        for job in self.jobs:
            if job.clip is not None:
                yield self._follow(next(indices), job.clip, job.body, job.setting or "", job.push, job.seed)
            else:
                yield from (self._own(next(indices), str(job.run), told) for told in job.told)

    def _follow(self, index: int, clip: str, body: str, setting: str, push: Shove | None, seed: int | None) -> Job:
        name = setting or next(iter(self.settings), "")
        arguments = {
            "clip": clip, "body": body, "setting": dict(self.settings.get(name, {})), "seed": seed, "plan": self.seed,
            "push": write(push) if push is not None and push.impulse else None, "noise": write(self.noise),
            "seconds": self.seconds, "folders": list(self.folders),
        }  # fmt: skip
        label = push.label if push is not None else ""
        columns = {"clip": clip, "body": body, "setting": name or "default", "push": label, "seed": seed}
        return Job(RUN, arguments, columns, index, self.folder, near=f"{clip}|{body}")

    def _own(self, index: int, run: str, told: dict[str, Any]) -> Job:
        columns = {key: value for key, value in told.items() if isinstance(value, str | int | float | bool)}
        return Job(run, told, {"run": run, **columns}, index, self.folder, near=run)


def _expanded(clip: str, folder: str, place: Place) -> list[str]:
    """Return the clips of a folder or a pattern; a name or a file as it is.

    Raises:
        JobError: There are none.
    """
    near = Path(folder, clip)
    try:
        near.exists()
    except OSError as error:  # no file can have that name
        raise JobError(f"there is no clip '{brief(clip)}' ({error.strerror}).") from None
    if near.is_dir():
        found = [Path(clip, path.relative_to(near)) for path in motion_files(near)]
    elif _GLOB & set(clip) and not near.exists():
        all_of_them = glob.glob(clip, root_dir=folder or None, recursive=True)
        asked = Path(clip).suffix.lower()  # who writes `*.txt` means texts
        found = sorted(
            path
            for path in map(Path, all_of_them)
            if is_listed(path) or (is_motion_file(path) and path.suffix.lower() == asked)
        )
    else:
        return [clip]
    if not found:
        raise JobError(f"there are no clips in '{clip}' ({', '.join(clip_suffixes())}).", place)
    return [str(path) for path in found]


def plan_from_data(data: Mapping[str, Any], folder: str | Path = "") -> BatchPlan:
    """Make a plan of plain data.

    Args:
        data: As a plan's file has it.
        folder: Where relative names begin.

    Raises:
        StuntError: The one that fits the mistake.
    """
    return replace(read(BatchPlan, node_from_plain(data, most=MOST_VALUES)), folder=str(folder))


def load_plan(source: str | Path) -> BatchPlan:
    """Read a plan: a YAML file, a folder of clips, or a pattern of clips' files.

    Raises:
        StuntError: There is none, or the one that fits the mistake, with file and line.
    """
    if not isinstance(source, str | Path):
        raise InvalidValueError("the plan", source, "a plan, its data, or the name of a file or folder")
    path = Path(source)
    if path.suffix.lower() not in (".yaml", ".yml"):
        return replace(BatchPlan(clips=(str(source),), title=path.name), folder="")
    try:
        raw = read_file(path, 64 * MAX_BYTES)
    except (OSError, ValueError) as error:
        raise ScriptFileError(f"cannot read the plan '{path}': {getattr(error, 'strerror', error)}.") from None
    return replace(read(BatchPlan, node_from_yaml(raw, str(path))), folder=str(path.parent.absolute()))
