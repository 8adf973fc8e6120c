"""A performance at a glance: one picture per beat, side by side, all from the same camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path

import matplotlib
import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from stunt.errors import InvalidValueError, TakeError, UnknownNameError, announced
from stunt.record.files import written_aside
from stunt.record.in_charge import Charge, bar_height, charges, draw_bars, in_charge
from stunt.record.raycast.camera import Camera, Floats, points_of_performance
from stunt.record.raycast.render import Raycaster
from stunt.record.take import Take

MOST_PANELS = 24
_EVENLY = 8  # Panels of a take without beats.
_BLOWS = 4  # So many of them show where a hand or a foot lands on somebody, if any does.
_SUPERVISED = 12  # Of one in which supervisors changed who was in charge.
_PAGE, _INK, _SOFT, _WARN = (255, 255, 255), (28, 32, 40), (120, 127, 138), (176, 84, 0)
_LATE_DEG = 1.0  # Error from which the label turns to the warning colour.
_SHEET = 1840  # Preferred width of the sheet [px].
_GAP = 14  # Between panels [px].
_ELEVATION = math.radians(9.0)
_SIDE = 24.0  # [°]
_APART = 0.5  # Across the picture, from which on people do not hide each other [m].


@dataclass(frozen=True)
class Panel:
    """One picture of the strip."""

    time: float  #: When [s]
    name: str = ""  #: Pose hit then, if any
    error_deg: float | None = None  #: Worst joint's error at that beat [deg]; None where nothing was measured


@announced
def filmstrip(
    take: Take,
    path: str | Path,
    *,
    times: Sequence[float] | None = None,
    columns: int | None = None,
    character: str | None = None,
    title: str | None = None,
    side: float | None = None,
) -> Path:
    """Draw a contact sheet of a performance as a PNG.

    Args:
        take: The performance.
        path: Where to write the picture.
        times: When to look [s]; None is at each beat (at most 24 of them, evenly chosen), or evenly without beats.
        columns: Panels in a row; None chooses.
        character: Whose beats, and whom the camera follows; None is everyone.
        title: The line on top; None is the take's own title.
        side: How far to the first character's left the camera stands [°]: 0 looks it in the face, 90 at its side. None
            is 24, or as little more as it takes for nobody to hide anybody.

    Returns:
        The path.
    """
    names = _characters(take, character)
    panels = choose_panels(take, times, names)
    if columns is not None and columns < 1:
        raise InvalidValueError("columns", columns, "at least 1")
    sheet = _draw(take, panels, columns, names, title, side)
    path = Path(path)
    with written_aside(path) as aside:
        sheet.save(aside, format="PNG", optimize=True)
    return path


def choose_panels(take: Take, times: Sequence[float] | None, characters: Sequence[str]) -> list[Panel]:
    """Choose the moments of a strip: the given times, else the beats, else evenly spaced."""
    if not take.time.size:
        raise TakeError("the take has no frames, so there is nothing to draw.")
    beats = _beats(take, characters)
    if times is not None:
        who = charges(take)
        asked = [_nearest(beats, float(time), _frame_period(take)) for time in _checked(times)]
        return [replace(p, name=p.name or in_charge(who, p.time)) for p in asked] if who else asked
    if not beats:
        return _evenly(take)
    spread = np.unique(np.linspace(0, len(beats) - 1, min(len(beats), MOST_PANELS)).round().astype(int))
    return [beats[k] for k in spread]


def _evenly(take: Take) -> list[Panel]:
    """Choose evenly spaced moments; of a supervised take more of them, each with who was in charge."""
    who = charges(take)
    times = np.linspace(take.time[0], take.time[-1], _SUPERVISED if who else _EVENLY)
    landed = [event for event in take.events if event.get("kind") == "blow" and event["landed"]]
    hits = [event for event in take.events if event.get("kind") == "hit"]
    seen = sorted(landed, key=lambda event: -float(event["worth"]))[:_BLOWS]
    seen = seen or sorted(hits, key=lambda event: -float(event.get("force", 0.0)))[:1]
    for event in seen[::-1]:  # the hardest of all blows is seen, whatever else is
        hardest = float(event["time"]) + 0.5 * float(event.get("seconds", 0.0))
        times[1 + np.abs(times[1:-1] - hardest).argmin()] = np.clip(hardest, times[0], times[-1])
    return [Panel(float(time), in_charge(who, float(time)) if who else "") for time in np.sort(times)]


def _characters(take: Take, character: str | None) -> list[str]:
    everyone = take.cast.names
    if character is None:
        return everyone
    if character not in everyone:
        raise UnknownNameError("character", character, everyone)
    return [character]


def _beats(take: Take, characters: Sequence[str]) -> list[Panel]:
    """Gather the beats in order; beats of several characters at the same time share a panel."""
    found: dict[float, Panel] = {}
    for event in take.events:
        if event.get("kind") != "beat" or (characters and event.get("character") not in (None, *characters)):
            continue
        time, error = round(float(event["time"]), 6), event.get("error_deg")
        if time > take.seconds + _frame_period(take):
            continue
        before = found.get(time, Panel(time))
        names = [*filter(None, before.name.split(" · ")), str(event.get("pose") or "")]
        errors = [float(e) for e in (before.error_deg, error) if e is not None]
        name = " · ".join(dict.fromkeys(filter(None, names)))
        found[time] = Panel(time, name, max(errors) if errors else None)
    return [found[time] for time in sorted(found)]


def _checked(times: Sequence[float]) -> Sequence[float]:
    numbers = all(isinstance(time, Real) and math.isfinite(time) for time in times)
    if not len(times) or not numbers:
        raise InvalidValueError("times", list(times), "one or more finite numbers")
    return times


def _nearest(beats: Sequence[Panel], time: float, period: float) -> Panel:
    close = [beat for beat in beats if abs(beat.time - time) <= period]
    return min(close, key=lambda beat: abs(beat.time - time)) if close else Panel(time)


def _frame_period(take: Take) -> float:
    return float(np.median(np.diff(take.time))) if take.time.size > 1 else 0.0


def _columns(count: int, aspect: float) -> int:
    """Choose how many panels stand in a row: fewer where they are wide, and rows as equal as they can be."""
    most = 8 if aspect < 0.9 else 5 if aspect < 1.3 else 4
    rows = 1 if count <= min(most, 6) else math.ceil(count / most)
    return math.ceil(count / rows)


def _draw(
    take: Take,
    panels: Sequence[Panel],
    columns: int | None,
    characters: Sequence[str],
    title: str | None,
    side: float | None,
) -> Image.Image:
    model = take.model()
    points = points_of_performance(model, take.qpos, characters)
    azimuth = facing(model, take.qpos[0], characters) + math.radians(_SIDE if side is None else side)
    if side is None:
        azimuth = clearest(_roots(take, model, panels), azimuth)
    aspect = _aspect(points, azimuth)
    camera = Camera.frame_on(points, azimuth, _ELEVATION, aspect=aspect, margin=0.05)
    columns = columns or _columns(len(panels), aspect)
    width = int(np.clip((_SHEET - _GAP * (columns + 1)) / columns, 200, 420))
    height = round(width / aspect)
    who = charges(take)
    page = _Page(columns, len(panels), width, height, bar_height(who))
    page.headline(title or str(take.meta.get("title") or "Performance"), _summary(take, panels))
    pictures = _pictures(take, model, panels, camera, width, height)
    for index, (panel, picture) in enumerate(zip(panels, pictures, strict=True)):
        page.panel(index, panel, picture)
    if who:
        page.bars(who, take.seconds, [panel.time for panel in panels])
    return page.image


def facing(model: mujoco.MjModel, qpos: Floats, characters: Sequence[str]) -> float:
    """Return the heading of the first character's root at the start [rad]."""
    bodies = [b for b in range(model.nbody) if characters and model.body(b).name.startswith(f"{characters[0]}/")]
    if not bodies:
        return 0.0
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    forward = data.xmat[bodies[0]].reshape(3, 3)[:, 0]
    return math.atan2(forward[1], forward[0]) if math.hypot(forward[0], forward[1]) > 0.3 else 0.0


def clearest(roots: Floats, wanted: float) -> float:
    """Return from which azimuth nobody hides anybody [rad]: of all that show most, the nearest to the one wanted.

    Args:
        roots: Where people are in each picture, over the ground [m], (pictures, people, 2).
        wanted: Where the camera would stand else [rad].
    """
    one, two = np.triu_indices(roots.shape[1], 1)
    if not len(one):
        return wanted
    apart = roots[:, one] - roots[:, two]
    least = np.minimum(_APART, 0.8 * np.linalg.norm(apart, axis=-1))  # who stand closer cannot be seen further apart
    turns = np.radians(sorted(range(-180, 180, 15), key=abs)) + wanted
    across = np.abs(apart @ np.stack([-np.sin(turns), np.cos(turns)]))  # (pictures, pairs, azimuths)
    return float(turns[(across >= least[..., None]).sum(axis=(0, 1)).argmax()])


def _roots(take: Take, model: mujoco.MjModel, panels: Sequence[Panel]) -> Floats:
    """Return where people's roots are in each picture, over the ground [m], (pictures, people, 2)."""
    data, bodies = mujoco.MjData(model), [take.cast.character(name).root_body for name in take.cast.names]
    found = np.zeros((len(panels), len(bodies), 2))
    for number, panel in enumerate(panels):
        data.qpos[:] = take.qpos[int(np.abs(take.time - panel.time).argmin())]
        mujoco.mj_kinematics(model, data)
        found[number] = data.xpos[bodies, :2]
    return found


def _aspect(points: Floats, azimuth: float) -> float:
    """Return the shape of the panels: as wide as the performance is, within reason."""
    across = points @ np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    return float(np.clip(np.ptp(across) / max(np.ptp(points[:, 2]), 1e-6), 0.55, 1.6))


def _pictures(
    take: Take, model: mujoco.MjModel, panels: Sequence[Panel], camera: Camera, width: int, height: int
) -> list[NDArray[np.uint8]]:
    caster, data, pictures = Raycaster(model), mujoco.MjData(model), []
    for panel in panels:
        data.qpos[:] = take.qpos[int(np.abs(take.time - panel.time).argmin())]
        mujoco.mj_kinematics(model, data)
        pictures.append(caster.render(data.geom_xpos, data.geom_xmat, camera, width, height, samples=3))
    return pictures


def _summary(take: Take, panels: Sequence[Panel]) -> str:
    parts = [f"{take.seconds:.2f} s"]
    beats = len({round(float(e["time"]), 6) for e in take.events if e.get("kind") == "beat"})
    if beats:
        parts.append(f"{beats} beats" if beats > 1 else "1 beat")
    errors = [panel.error_deg for panel in panels if panel.error_deg is not None]
    if errors:
        parts.append(f"worst joint {_degrees(max(errors))} off")
    return "   ·   ".join(parts)


def _degrees(angle: float) -> str:
    if angle < 0.005:
        return "<0.01°"
    return f"{angle:.1f}°" if angle >= 10 else f"{angle:.2f}°"


class _Page:
    """The sheet: a headline, then panels in rows, each with its caption below."""

    def __init__(self, columns: int, count: int, width: int, height: int, foot: int = 0) -> None:
        self.columns, self.width, self.height = columns, width, height
        scale = float(np.clip(width / 300, 0.75, 1.25))
        self._time, self._name = font(round(19 * scale), bold=True), font(round(19 * scale))
        self._small, self._title, self._note = font(round(16 * scale)), font(38, bold=True), font(21)
        self._caption, self._head = round(44 * scale), 86
        rows = math.ceil(count / columns)
        size = (columns * (width + _GAP) + _GAP, self._head + rows * (height + self._caption + _GAP) + foot)
        self._foot = foot
        self.image = Image.new("RGB", size, _PAGE)
        self._pen = ImageDraw.Draw(self.image)

    def headline(self, title: str, note: str) -> None:
        """Write the title, and what there is to know about the take, right of it if there is room."""
        right, baseline = self.image.width - _GAP - 4, 54
        room = right - _GAP - 4
        self._pen.text((_GAP + 4, baseline), fitted(title, self._title, room), _INK, self._title, anchor="ls")
        if self._title.getlength(title) + self._note.getlength(note) + 40 < room:
            self._pen.text((right, baseline), note, _SOFT, self._note, anchor="rs")

    def bars(self, who: dict[str, list[Charge]], seconds: float, marks: Sequence[float]) -> None:
        """Draw who was in charge, below everything."""
        box = _GAP + 4, self.image.height - self._foot, self.image.width - _GAP - 4
        draw_bars(self.image, who, box, seconds, marks, self._small)

    def panel(self, index: int, panel: Panel, picture: NDArray[np.uint8]) -> None:
        """Put one picture and its caption in place."""
        left = _GAP + (index % self.columns) * (self.width + _GAP)
        top = self._head + (index // self.columns) * (self.height + self._caption + _GAP)
        self.image.paste(Image.fromarray(picture), (left, top), _rounded(self.width, self.height))
        baseline = top + self.height + round(self._caption * 0.62)
        stamp = f"{panel.time:.2f} s"
        self._pen.text((left + 4, baseline), stamp, _INK, self._time, anchor="ls")
        start, end = left + 4 + self._time.getlength(stamp) + 10, float(left + self.width - 4)
        if panel.error_deg is not None:
            error, color = _degrees(panel.error_deg), _WARN if panel.error_deg > _LATE_DEG else _SOFT
            self._pen.text((end, baseline), error, color, self._small, anchor="rs")
            end -= self._small.getlength(error) + 10
        self._pen.text((start, baseline), fitted(panel.name, self._name, end - start), _INK, self._name, anchor="ls")


def _rounded(width: int, height: int) -> Image.Image:
    """Return a mask with softly rounded corners."""
    mask = Image.new("L", (4 * width, 4 * height), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, 4 * width - 1, 4 * height - 1), 4 * 10, 255)
    return mask.resize((width, height), Image.Resampling.LANCZOS)


def fitted(text: str, font: ImageFont.FreeTypeFont, room: float) -> str:
    """Shorten a text until it fits."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + "…") > room:
        text = text[:-1]
    return text.rstrip() + "…" if text else ""


def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the typeface that comes with matplotlib, so that it is there on every machine."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)), size)
