"""The memory of bodies on strings: which, the poses that go with their markers, and how it goes. One per stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.control.adaptive.law import SETTLING
from stunt.control.core.board import HELD, IMPEDANCE, PASSIVE, Board
from stunt.control.core.engine import contact_count, contact_pointer
from stunt.control.core.programs import STRINGS
from stunt.control.own.solver import PROBLEM, RESULT
from stunt.control.servo.memory import let_soles_count
from stunt.control.strings import layout as w
from stunt.maths.pointers import address_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Strung:
    """What a body on strings is to do. F frames, m strings.

    Attributes:
        fps: Frames per second.
        start: When the first frame falls [s].
        poses: Its own coordinates, (F, nq).
        velocities: Of its degrees of freedom, (F, nv); so are `accelerations`.
        sites: What strings are fastened to, m.
        markers: Where markers are [m], (F, m, 3).
        offsets: Where they sit, from their sites, in these' frames [m], (m, 3).
        joints: Those its muscles drive.
        limit: Largest force of a string [N].
        settling: How fast it closes in on its pose [s].
        soles: Geoms it stands on.
        friction: How well each holds to the ground, (F, soles).
    """

    fps: float
    start: float
    poses: Floats
    velocities: Floats
    accelerations: Floats
    sites: list[int]
    markers: Floats
    offsets: Floats
    joints: list[Joint]
    limit: float
    settling: float
    soles: list[int]
    friction: Floats


class StringsProgram:
    """Pulls bodies of one stage by strings that are solved together, and drives their muscles.

    Attributes:
        names: Of the bodies.
        bodies: What the kernel knows of each, of `stunt.control.strings.layout.BODY`.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.names: list[str] = []
        self.bodies = np.zeros(0, w.BODY)
        self.strings: dict[str, NDArray[Any]] = {}
        self._strung: dict[str, tuple[Character, Strung]] = {}
        self._kept: dict[str, list[NDArray[Any]]] = {}
        self._buffers: dict[str, NDArray[Any]] = {}
        self.table = np.zeros(len(w.TABLE.names), np.int64)

    def pull(self, character: Character, strung: Strung) -> None:
        """Put a body on strings, or on others."""
        self.release(character.name)
        self.names.append(character.name)
        self.bodies = np.append(self.bodies, np.zeros(1, w.BODY))
        strings = np.zeros(len(strung.sites), w.STRING)
        self.strings[character.name] = strings
        self._strung[character.name] = (character, strung)
        self._lay_out(len(self.names) - 1)
        let_soles_count(self._model, strung.soles)
        for joint in strung.joints:
            self._board.law[joint.id], self._board.feed_bias[joint.id] = IMPEDANCE, 1
            self._board.goal_time[joint.id] = HELD
        self._refresh()

    def _lay_out(self, number: int) -> None:
        """Write what a body is and what it is to do into its records."""
        name, model = self.names[number], self._model
        (character, strung), who, strings = self._strung[name], self.bodies[number], self.strings[name]
        joints, root = list(character.joints.values()), character.root
        every = [*([root] if root is not None else []), *joints]
        who["root_dof"], who["root_qpos"] = (root.dof, root.qpos) if root is not None else (-1, -1)
        who["first_qpos"], who["nq"] = every[0].qpos, every[-1].qpos + every[-1].nq - every[0].qpos
        who["first_dof"], who["nv"] = every[0].dof, every[-1].dof + every[-1].nv - every[0].dof
        muscles = np.array([(j.id, j.qpos, j.dof, j.nv) for j in strung.joints], np.int64).reshape(-1, 4)
        paths = [np.ascontiguousarray(strung.markers[:, n]) for n in range(len(strung.sites))]
        moved = [np.ascontiguousarray(rows) for rows in (strung.poses, strung.velocities, strung.accelerations)]
        spare = np.zeros(1, w.STRING) if not len(strings) else strings
        soles, friction = np.array([*strung.soles, 0], np.int64), np.append(strung.friction.ravel(), 0.0)
        self._kept[name] = [muscles, *paths, *moved, spare, soles, friction]
        who["soles"], who["sole_count"], who["friction"] = address_of(soles), len(strung.soles), address_of(friction)
        who["joints"], who["joint_count"] = address_of(muscles) if len(muscles) else 0, len(muscles)
        who["strings"], who["string_count"] = address_of(spare), len(strings)
        for field, rows in zip(("poses", "velocities", "accelerations"), moved, strict=True):
            who[field] = address_of(rows)
        who["frames"], who["fps"], who["start"] = len(strung.poses), strung.fps, strung.start
        who["lam"], who["weight"] = SETTLING / strung.settling, character.mass * 9.81
        for string, site, path, offset in zip(strings, strung.sites, paths, strung.offsets, strict=True):
            string["site"], string["body"], string["path"] = site, model.site_bodyid[site], address_of(path)
            string["offset"], string["limit"] = offset, strung.limit

    def release(self, name: str) -> None:
        """Cut a body's strings and let its muscles go."""
        if name not in self.names:
            return
        number = self.names.index(name)
        character, strung = self._strung.pop(name)
        for sole in strung.soles:
            self._model.geom_friction[sole, 0] = character.grip[sole]
        self.names.pop(number)
        self.bodies = np.delete(self.bodies, number)
        del self.strings[name], self._kept[name]
        board, data = self._board, self._data
        for joint in strung.joints:
            if board.law[joint.id] == IMPEDANCE:
                board.law[joint.id], own = PASSIVE, slice(joint.dof, joint.dof + joint.nv)
                board.feed_forward[own] = board.torque[own] = 0.0
                data.qfrc_applied[own] = board.pull[own]
        data.qfrc_applied -= board.pull
        board.pull[:] = 0.0
        self._refresh()

    def _refresh(self) -> None:
        """Write the addresses of all arrays to the table."""
        model, data, nv = self._model, self._data, self._model.nv
        most = max([len(strings) for strings in self.strings.values()], default=0)
        size = 3 * most + w.EDGES * w.CONTACTS
        owner = np.zeros(model.ngeom, np.int64)
        for number, name in enumerate(self.names):
            owner[sorted(self._strung[name][0].geoms)] = number + 1
        buffers = self._buffers = {
            "count": np.array([len(self.names)], np.int64), "geom_body": model.geom_bodyid, "geom_owner": owner,
            "ncon": contact_count(data), "contacts": contact_pointer(data), "sliding": model.geom_friction,
            "xpos": data.site_xpos,
            "xmat": data.site_xmat, "goal": np.zeros(model.nq), "pace": np.zeros(nv), "urge": np.zeros(nv),
            "product": np.zeros(nv), "wanted": np.zeros(nv), "jacobian": np.zeros(3 * nv), "point": np.zeros(3),
            "place": np.zeros(3 * (most + w.CONTACTS)), "owner": np.zeros(most + w.CONTACTS, np.int64),
            "push": np.zeros(size * nv), "weigh": np.zeros(nv), "aim": np.zeros(nv), "problem": np.zeros(1, PROBLEM),
            "result": np.zeros(1, RESULT), "hessian": np.zeros(size * size), "linear_term": np.zeros(size),
            "upper": np.zeros(size), "lower": np.zeros(size), "sense": np.zeros(size, np.int32), "x": np.zeros(size),
        }  # fmt: skip
        self._multipliers = np.zeros(size)
        problem, result = buffers["problem"][0], buffers["result"][0]
        problem["hessian"], problem["linear"] = address_of(buffers["hessian"]), address_of(buffers["linear_term"])
        problem["upper"], problem["lower"] = address_of(buffers["upper"]), address_of(buffers["lower"])
        problem["sense"] = address_of(buffers["sense"])
        result["x"], result["multipliers"] = address_of(buffers["x"]), address_of(self._multipliers)
        for name in ("problem", "result"):
            buffers[f"{name}_at"] = np.array([address_of(buffers[name])], np.int64)
        self.table[:] = w.TABLE.fill(bodies=self.bodies, **buffers)
        self._board.pulls(STRINGS, sum(len(strings) for strings in self.strings.values()))
        self._board.programs[STRINGS] = address_of(self.table) if self.names else 0

    def body(self, name: str) -> Any:
        """Return what the kernel knows of a body."""
        return self.bodies[self.names.index(name)]

    def save(self) -> dict[str, Any]:
        """Return what must survive a restore; poses are never changed, so they are shared."""
        strings = {name: rows.copy() for name, rows in self.strings.items()}
        return {
            "names": list(self.names), "bodies": self.bodies.copy(), "strings": strings, "strung": dict(self._strung),
            "friction": self._model.geom_friction.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.names, self.bodies = list(state["names"]), state["bodies"].copy()
        self.strings = {name: rows.copy() for name, rows in state["strings"].items()}
        self._strung = dict(state["strung"])
        self._model.geom_friction[...] = state["friction"]
        for number in range(len(self.names)):
            self._lay_out(number)
        self._refresh()

    def carry(self, old: StringsProgram, characters: Iterable[tuple[Character, Strung]]) -> None:
        """Go on with bodies of another scene, numbered anew."""
        for character, strung in characters:
            if character.name not in old.names:
                continue
            body, strings = old.body(character.name).copy(), old.strings[character.name].copy()
            self.pull(character, strung)
            self.bodies[-1] = body
            self.strings[character.name][:] = strings
            self._lay_out(len(self.names) - 1)
            self._refresh()
