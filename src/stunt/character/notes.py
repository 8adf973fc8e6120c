"""What a body says about itself, kept inside its specification so that it survives attachment and compilation."""

from __future__ import annotations

import mujoco

from stunt.errors import InvalidValueError, announced

TEXT = "stunt_notes"


class Notes:
    """Collects sentences about how a body came to be."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)

    def add(self, line: str) -> None:
        """Add one sentence."""
        self.lines.append(line)

    def count(self, number: int, thing: str, verb: str) -> None:
        """Say what happened to a number of things; nothing when there were none."""
        if number:
            self.add(f"{number} {thing}{'s' if number > 1 else ''} {verb}")

    def write(self, spec: mujoco.MjSpec) -> None:
        """Store the sentences in the specification, as one text."""
        spec.add_text(name=TEXT, data="\n".join(self.lines))


@announced
def describe_body(body: mujoco.MjSpec | mujoco.MjModel, character: str = "") -> list[str]:
    """Return what was assumed when a body was made.

    Args:
        body: What `make_body` returned, or a compiled scene.
        character: In a scene, the character's name.
    """
    if not isinstance(body, (mujoco.MjSpec, mujoco.MjModel)):
        raise InvalidValueError("body", body, "what `make_body` returned (an MjSpec), or a compiled model")
    name = f"{character}/{TEXT}" if character else TEXT
    if isinstance(body, mujoco.MjSpec):
        found = [text.data for text in body.texts if text.name == name]
        return found[0].split("\n") if found else []
    index = mujoco.mj_name2id(body, mujoco.mjtObj.mjOBJ_TEXT, name)
    if index < 0:
        return []
    start, size = int(body.text_adr[index]), int(body.text_size[index])
    return bytes(body.text_data[start : start + size]).decode().rstrip("\0").split("\n")
