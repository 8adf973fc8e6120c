"""One door out: a take, a file name, and what is wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stunt.errors import ExportError, InvalidValueError, TakeError, UnknownNameError, announced
from stunt.export.options import Options, PlacementChoice, Progress, SkeletonChoice, Up, Video, no_progress
from stunt.export.registry import Format, format_of
from stunt.record.files import written_aside
from stunt.record.take import Take, doubted

Source = Take | str | Path
_ADVICE = "Choose another place with --to."


@announced
def export(
    take: Source | Sequence[Source],
    to: str | Path,
    *,
    character: str | None = None,
    fps: float | None = None,
    start: float | None = None,
    end: float | None = None,
    up: Up | None = None,
    in_place: bool = False,
    root_motion: bool = False,
    skeleton: SkeletonChoice = "auto",
    rigid: bool = False,
    video: Video | None = None,
    placement: PlacementChoice = "auto",
    progress: Progress | None = None,
) -> list[Path]:
    """Write a take as a file for another tool; the suffix of `to` says which (see `stunt.export.FORMATS`).

    Args:
        take: A take, or the path of one; several of them for a video side by side.
        to: The file to write. Formats that hold one character write `NAME-CHARACTER.SUFFIX` for each of several.
        character: Whom to export; None is everyone and the props.
        fps: Frames per second; None: the clip's for a clip's skeleton, the take's own for arrays and tables, else 30
            for videos and 60 for the rest.
        start: From when [s].
        end: Until when [s].
        up: `y` or `z`; None is what the format's users expect.
        in_place: Whether characters stay over the spot where they began.
        root_motion: Whether a bone on the ground carries the travel and the heading.
        skeleton: BVH: `own` bones of the body, those of its `clip`, or `auto`; GLB: `own` surface, or its rigged file.
        rigid: GLB and USD only: rigid parts even where a smooth skin could be made.
        placement: On a clip's skeleton: where the clip lay in its `source` file, where it was on the `stage`,
            or (`auto`) the source's place if the take knows it.
        video: Videos only: size, camera, labels, clock, and what draws; None is the usual.
        progress: Called with the share that is done, 0 to 1.

    Returns:
        The files written. They are written aside and moved into place together: an export that fails or is
        interrupted leaves nothing.

    Raises:
        StuntError: No such take, character or format, a missing extra, an impossible option, an unwritable place.
    """
    look = Video() if video is None else video
    options = Options(character, fps, start, end, up, in_place, root_motion, skeleton, rigid, look, placement)
    if not isinstance(to, (str, Path)) or "\0" in str(to):
        raise InvalidValueError("to", to, "the path of a file")
    path = Path(to)
    kind = format_of(path)
    write = kind.writer(path.suffix.lower())
    takes = _takes(take)
    _check(takes, kind, path, options)
    orders = _orders(takes, kind, path, options)
    tell = no_progress if progress is None else progress
    with _explained(path), contextlib.ExitStack() as stack:
        # Every file is complete before the first is moved into place.
        asides = [_aside(file, stack) for file, _ in orders]
        for doubt in map(doubted, takes):
            stack.enter_context(doubt)
        for number, (aside, (_, wanted)) in enumerate(zip(asides, orders, strict=True)):
            write(takes, aside, wanted, _share_of(tell, number, len(orders)))
    tell(1.0)
    return [file for file, _ in orders]


def _takes(sources: Source | Sequence[Source]) -> list[Take]:
    if isinstance(sources, (Take, str, Path)):
        sources = [sources]
    takes = [source if isinstance(source, Take) else Take.load(source) for source in sources]
    for take in takes:
        if not take.time.size:
            raise ExportError("the take has no frames, so there is nothing to export: step its stage first.")
        if not take.cast.characters and not take.cast.props:
            raise ExportError("the cast of the take is empty: nobody and nothing is on stage that could be written.")
    if not takes:
        raise ExportError("there is no take to export.")
    return takes


def _check(takes: Sequence[Take], kind: Format, path: Path, options: Options) -> None:
    if len(takes) > 1 and not kind.several_takes:
        raise ExportError(f"{kind.name} holds one take, but {len(takes)} were given; only videos show several.")
    if options.up is not None and options.up not in kind.ups:
        other = "a video has no axes" if kind.several_takes else f"{kind.name} is {kind.ups[0]} up by its standard"
        raise ExportError(f"{path.suffix} cannot be {options.up} up: {other}. Leave --up out.")
    for take in takes:
        everyone = take.cast.names
        if options.character is not None and options.character not in everyone:
            raise UnknownNameError("character", options.character, everyone)
        if options.start is not None and options.start > take.time[-1]:
            raise ExportError(f"the export starts at {options.start:g} s, but the take ends at {take.seconds:g} s.")
    if path.is_dir():
        raise ExportError(f"'{path}' is a folder; name a file in it, for example '{path / ('take' + path.suffix)}'.")


def _orders(takes: Sequence[Take], kind: Format, path: Path, options: Options) -> list[tuple[Path, Options]]:
    """Return which files to write and what goes into each."""
    everyone = takes[0].cast.names
    if not kind.one_file_each:
        return [(path, options)]
    if not everyone:
        raise ExportError(f"{kind.name} holds a character's motion, but nobody is in this take.")
    if options.character is not None or len(everyone) == 1:
        return [(path, replace(options, character=options.character or everyone[0]))]
    return [(path.with_stem(f"{path.stem}-{name}"), replace(options, character=name)) for name in everyone]


def _share_of(tell: Progress, number: int, count: int) -> Progress:
    return lambda share: tell((number + min(max(share, 0.0), 1.0)) / count)


def _aside(file: Path, stack: contextlib.ExitStack) -> Path:
    try:
        return stack.enter_context(written_aside(file))
    except TakeError as error:  # no such folder, no permission
        raise ExportError(f"{error.reason} {_ADVICE}") from error


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"cannot write '{path}': {error.strerror or error}. {_ADVICE}") from error
