"""Mutated words to a studio: each is answered, or counted and refused; no socket is closed without saying why.

python -m tests.campaigns.messages [--count N] [--seed S]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import websockets

from tests.campaigns.mutants import WILD, of_tree, pick

PATIENCE = 300.0  # where nothing was compiled before, and others are at work, too
PROBE = 10**9
AGAIN = 12  # words until the script is opened as it was
REFUSED = 1008  # a page that floods or sends garbage, as documented
TOO_LONG = 1009
SCRIPT = """\
stunt: 1
title: Everything
seconds: 1.5
characters:
  ada: torso28
  bea: {body: torso28, at: [0, 1.5]}
  cyd: {body: skeleton, root: free, strength: 1.5, self_collision: false, at: [0, -1.5]}
poses:
  up: {r_elbow_flexion: 60, neck_bend: 5}
  more: {like: up, neck_bend: -5}
props: {ball: {shape: sphere, radius: 0.1, mass: 1.0, at: [1, 0, 0.2]}}
performance:
  ada: {tension: 0.4, beats: [{pose: up, after: 0.3}, {pose: more, after: 0.3}, {pose: up, after: 0.3}]}
  bea:
    tension_poses:
      tension: {all: tight, trunk: braced}
      poses:
        - {pose: up, at: 0.3, lasts: 0.3, tension: {l_arm: braced, head: tight}}
        - {pose: more, at: 0.8, lasts: 0.3, tension: tight}
  cyd: {clips: {play: [{clip: walk}, {clip: walk, at: 1.0}]}}
events:
  - {push: ada/thorax, at: 0.6, impulse: [0.2, 0, 0]}
  - {throw: ball, target: ada/head, at: 0.2, hits_at: 0.7}
"""
NAME = "everything.yaml"
RESET = ({"op": "open", "data": {"name": NAME, "anyway": True}}, {"op": "discard"})


def _edit(name: str, /, **args: Any) -> dict[str, Any]:
    return {"op": "edit", "data": {"name": name, "args": args}}


def _ask(op: str, /, **data: Any) -> dict[str, Any]:
    return {"op": "ask", "data": {"op": op, **data}}


ANGLES = {"r_elbow_flexion": 30, "neck_bend": 2}
GOOD: tuple[dict[str, Any], ...] = (
    _edit("move_beats", character="ada", indices=[1], by=0.05, ripple=True),
    _edit("add_beat", character="ada", time=0.5, beat={"name": "made", "angles": ANGLES, "hold": 0.1}),
    _edit("copy_beat", character="ada", index=0, time=0.7),
    _edit("copy_beats", character="ada", indices=[0, 1], time=1.0),
    _edit("delete_beats", character="ada", indices=[1]), _edit("set_hold", character="ada", index=0, hold=0.2),
    _edit("set_holds", character="ada", factor=1.2), _edit("set_beat_pose", character="ada", index=0, pose="more"),
    _edit("set_beat_angles", character="ada", index=1, angles=ANGLES, name="own"),
    _edit("split_limb", character="ada", index=0, time=0.4, limb={"r_elbow_flexion": 60}, rest={"neck_bend": 5}),
    _edit("save_pose", name="new", angles=ANGLES, like="up", gone=[]),
    _edit("add_event", event={"push": "ada/head", "at": 0.5, "impulse": [1, 0, 0]}),
    _edit("move_event", index=0, at=0.7), _edit("set_event", index=0, values={"impulse": [0.5, 0, 0], "at": 0.4}),
    _edit("delete_event", index=1), _edit("set_clip", character="cyd", index=0, values={"from": 0.1}),
    _edit("add_clip", character="cyd", clip="walk", at=1.2), _edit("delete_clip", character="cyd", index=1),
    _edit("set_tension_pose", character="bea", index=0, values={"at": 0.35, "lasts": 0.2, "tension": 0.7}),
    _edit("set_tension_pose", character="bea", index=-1, values={"tension": 0.5}), _edit("set_seconds", seconds=1.2),
    _ask("curves", character="ada", joints=["neck_bend"], quantity="angle"), _ask("trail", body=3),
    _ask("pose", character="ada", angles=ANGLES, mirror=True), _ask("angles", character="ada", time=0.2),
    _ask("pose", character="ada", angles=ANGLES, reach={"body": "r_hand", "point": [0, 0, 0], "goal": [0.3, 0.2, 1]}),
    {"op": "undo"}, {"op": "redo"}, {"op": "save", "data": {"name": "copy.yaml", "over": True, "touches": "keep"}},
    {"op": "save", "data": {"touches": "leave", "over": True}}, {"op": "rename", "data": {"name": "other.yaml"}},
    {"op": "discard"}, {"op": "compare"}, {"op": "keep_mine"}, {"op": "reload"}, {"op": "unsaved"}, {"op": "library"},
    {"op": "throw_away", "data": {"path": NAME}}, {"op": "unwish"}, {"op": "leave", "data": {"number": 1, "go": True}},
    {"op": "play", "data": {"playing": True, "loop": False, "speed": 0.5, "seek": 0.2, "step": 1}},
    {"op": "ghost", "data": {"on": True}}, {"op": "keep"}, {"op": "forget"}, {"op": "pull"},
    {"op": "push", "data": {"target": "ada/thorax", "impulse": [1, 0, 0], "at": 0.5, "point": [0, 0, 0.1]}},
    {"op": "throw", "data": {"what": "ball", "target": "ada/head", "at": 0.2, "side": [2, 0]}},
    {"op": "pull", "data": {"data": {"target": "ada/thorax", "point": [0, 0, 0], "goal": [0, 0, 1]}}},
    {"op": "export", "data": {"kind": "report"}}, {"op": "open", "data": {"name": "wave", "anyway": True}},
    {"op": "use", "data": {"file": "walk.bvh", "character": "cyd", "at": 0.1, "anyway": True}},
)  # fmt: skip
REFUSED_AS_THEY_ARE = ("rename", "throw_away", "keep_mine", "use", "keep")  # of what is not there
"""Good words that this script has nothing for."""


def words(count: int, seed: int) -> list[str]:
    """Return mutated words."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        message = {**json.loads(json.dumps(pick(rng, GOOD))), "number": number + 1}
        if rng.random() < 0.85:
            changed = of_tree({"data": message.get("data", {})}, rng)
            message["data"] = changed.get("data") if isinstance(changed, dict) else changed
        else:
            message = of_tree(message, rng)
        text = json.dumps(message)
        if rng.random() < 0.05:
            text = text[: int(rng.integers(len(text)))]
        if rng.random() < 0.02:
            text = json.dumps(pick(rng, WILD))
        found.append(text)
    return found


class Talk:
    """Says words to a studio over one socket after the other.

    Attributes:
        answered: How many got a reply.
        refused: How many were counted and refused without one.
        finds: What was neither.
        resets: Whether the script is opened anew now and then, so that words find what they name.
        last: What was complained of in the last reply; "" if nothing was.
    """

    def __init__(self, url: str, log: Path) -> None:
        """Talk to a studio whose log is a file."""
        self.url, self.log = url.replace("http", "ws") + "socket", log
        self.answered = self.refused = 0
        self.finds: list[str] = []
        self.resets, self.last = True, ""
        self._seen = 0

    async def say(self, texts: list[str]) -> None:
        """Say all of them."""
        line, said = None, ""
        for place, text in enumerate(texts):
            if line is None:
                line = await websockets.connect(self.url, max_size=None, ping_timeout=None)
            try:
                if place % AGAIN == 0 and self.resets:
                    for said in (json.dumps({**word, "number": PROBE - 1}) for word in RESET):
                        await self._one(line, said)
                        self.answered -= 1
                said = text
                await self._one(line, said)
            except websockets.ConnectionClosed as closed:
                line, code = None, closed.rcvd.code if closed.rcvd else None
                if code in (REFUSED, TOO_LONG):
                    self.refused += 1
                else:
                    self.finds.append(f"closed with {code} after {place}: {said[:200]}")
            except TimeoutError:
                self.finds.append(f"no answer after {place}: {said[:200]}")
                await line.close()
                line = None
        if line is not None:
            await line.close()

    async def good(self) -> None:
        """Say the words as they are, each to the script as it was: mutants of what is refused anyway reach nothing."""
        self.resets = False
        for word in GOOD:
            for first in RESET:
                await self.say([json.dumps({**first, "number": 1})])
            await self.say([json.dumps({**word, "number": 2})])
            if self.last and word["op"] not in REFUSED_AS_THEY_ARE:
                self.finds.append(f"a good word was refused ({self.last}): {json.dumps(word)}")
        self.resets, self.answered = True, 0

    async def _one(self, line: Any, text: str) -> None:
        number = _number(text)
        await line.send(text)
        await line.send(json.dumps({"op": "unwish", "number": PROBE}))
        async with asyncio.timeout(PATIENCE):
            probed = heard = False
            while not (probed and (heard or self._counted())):
                message = await line.recv()
                if isinstance(message, bytes):
                    continue
                told = json.loads(message)
                if told.get("kind") == "reply":
                    if told["number"] == number:
                        self.last = str(told.get("error", ""))
                    if "mistake of the studio" in str(told.get("error")):
                        self.finds.append(f"a mistake of ours: {text[:300]}")
                    probed, heard = probed or told["number"] == PROBE, heard or told["number"] in (number, 0)
                    if told["number"] == PROBE and number in (0, None):
                        heard = True  # it asked for no reply
        if heard:
            self.answered += 1
        else:
            self.refused += 1

    def _counted(self) -> bool:
        """Whether the log has one more refusal than before."""
        count = len(re.findall(r"page \d+: |is dropped", self.log.read_text(errors="replace")))
        more, self._seen = count > self._seen, count
        return more


def _number(text: str) -> int | None:
    try:
        return int(json.loads(text)["number"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def main() -> int:
    """Run the campaign; return how many finds there were."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "studio"))
    from studio_helpers import Studio

    parser = argparse.ArgumentParser(description="Say mutated words to a studio.")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / NAME).write_text(SCRIPT, encoding="utf-8")
        studio = Studio(Path(folder), NAME, "--stay")
        talk = Talk(studio.url, studio.log)
        try:
            asyncio.run(talk.good())
            asyncio.run(talk.say(words(args.count, args.seed)))
            alive = studio.process.poll() is None
        finally:
            studio.end()
    print(
        f"{args.count} words: {talk.answered} answered, {talk.refused} refused, {len(talk.finds)} finds; alive: {alive}"
    )
    for find in talk.finds:
        print(find)
    return min(len(talk.finds) + (not alive), 100)


if __name__ == "__main__":
    sys.exit(main())
