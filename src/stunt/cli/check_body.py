"""`stunt check BODY`: the doctor's findings as lines for people and as data."""

from __future__ import annotations

from typing import Any

from stunt.character.bodies import BUILT_IN, SUFFIXES


def is_body(thing: str) -> bool:
    """Whether a thing to check is plainly a body: a built-in name, or a model file."""
    return thing in BUILT_IN or thing.partition("?")[0].lower().endswith(SUFFIXES)


def body_findings(thing: str, mapping: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Examine a body; write its mapping file if one is asked for."""
    from stunt.direction.body_doctor import examine_body

    found = examine_body(thing)
    if mapping is not None:
        _write_mapping(found, mapping)
    return found.to_data(), _lines(found)


def _write_mapping(found: Any, path: str) -> None:
    from stunt.direction.body_trial import raised, stage_for
    from stunt.motion.mapping import JointMapping, write_mapping

    names = list(stage_for(raised(found.body), 480.0).character("it").bodies)
    write_mapping(JointMapping({}, found.parts), path, names)


def _lines(found: Any) -> list[str]:
    kinds = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in found.joints.items())
    (weak, least), (strong, most) = found.strength
    x, y, z = found.size_m
    density = f"; {found.density:.0f} kg/m³ by its shapes" if found.density is not None else ""
    lines = [
        f"{found.body}: {found.kind}, {found.bodies} bodies, {kinds}, {found.dofs} degrees of freedom",
        f"  mass         {found.mass_kg:.4g} kg; heaviest '{found.heaviest[0]}' {found.heaviest[1]:.3g} kg, "
        f"lightest '{found.lightest[0]}' {found.lightest[1]:.3g} kg",
        f"  scale        {x:.2f} × {y:.2f} × {z:.2f} m (forward, across, up){density}",
        f"  inertia      smallest at '{found.smallest_moment[0]}': {found.smallest_moment[1]:.2g} kg·m²; "
        f"largest is {found.inertia_ratio:.0f} times that",
        f"  limits       {sum(found.joints.values()) - len(found.unlimited)} of {sum(found.joints.values())} joints",
        f"  strength     '{weak}' {least:.3g} to '{strong}' {most:.3g} N·m (slides: N)",
        *(f"  stability    {_held(held)}" for held in found.held),
        f"  marks        {_marks(found.marks)}",
        f"  person       {len(found.parts)} parts recognised",
    ]
    for what, some in (("missing", found.missing), ("assumed", found.assumed), ("warning", found.warnings)):
        lines += [f"  {what:12} {line}" for line in some]
    return [*lines, f"  verdict      {'ready to perform' if found.usable else 'not ready: see the warnings'}"]


def _held(held: Any) -> str:
    own = f"its own springs and dampers change it by {held.own:.2g} per step"
    own += " (which only an implicit step survives)" if held.own > 2.0 else ""
    if not held.stable:
        return f"at {held.hz:g} Hz a push on every joint does not die down; {own}"
    return f"at {held.hz:g} Hz a push on every joint is down to {100 * held.left:.2g} % after 0.5 s; {own}"


def _marks(marks: Any) -> str:
    strained = f"; at their strength: {', '.join(marks.at_limit)}" if marks.at_limit else ""
    return (
        f"{marks.joints} joints a tenth of their way and back, 0.6 s each: worst '{marks.joint}' "
        f"{marks.error_deg:.4f}° off{strained}"
    )
