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

PATIENCE = 120.0
PROBE = 10**9
REFUSED = 1008  # a page that floods or sends garbage, as documented
TOO_LONG = 1009
GOOD: tuple[dict[str, Any], ...] = (
    {"op": "edit", "data": {"name": "move_beat", "args": {"character": "ada", "index": 1, "time": 0.5}}},
    {"op": "edit", "data": {"name": "add_push", "args": {"target": "ada/thorax", "at": 0.5, "impulse": [1, 0, 0]}}},
    {"op": "edit", "data": {"name": "set_value", "args": {"path": ["seconds"], "value": 3}}},
    {"op": "undo"}, {"op": "redo"}, {"op": "save", "data": {"name": "copy.yaml"}}, {"op": "save"}, {"op": "discard"},
    {"op": "play", "data": {"on": True}}, {"op": "play", "data": {"step": 1}}, {"op": "play", "data": {"time": 0.5}},
    {"op": "play", "data": {"speed": 0.5, "loop": [0, 1]}}, {"op": "ghost", "data": {"on": True}},
    {"op": "push", "data": {"target": "ada/thorax", "impulse": [1, 0, 0], "at": 0.5}},
    {"op": "throw", "data": {"target": "ada/head", "origin": [2, 0, 1]}},
    {"op": "pull", "data": {"data": {"body": "ada/thorax", "point": [0, 0, 0], "to": [0, 0, 1]}}}, {"op": "pull"},
    {"op": "keep"}, {"op": "forget"}, {"op": "ask", "data": {"op": "plot", "character": "ada"}},
    {"op": "library"}, {"op": "open", "data": {"name": "wave"}}, {"op": "open", "data": {"name": "ymca"}},
    {"op": "use", "data": {"file": "walk", "character": "ada", "at": 0.1}},
)  # fmt: skip


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
    """

    def __init__(self, url: str, log: Path) -> None:
        """Talk to a studio whose log is a file."""
        self.url, self.log = url.replace("http", "ws") + "socket", log
        self.answered = self.refused = 0
        self.finds: list[str] = []
        self._seen = 0

    async def say(self, texts: list[str]) -> None:
        """Say all of them."""
        line = None
        for text in texts:
            if line is None:
                line = await websockets.connect(self.url, max_size=None, ping_timeout=None)
            try:
                await self._one(line, text)
            except websockets.ConnectionClosed as closed:
                line, code = None, closed.rcvd.code if closed.rcvd else None
                if code in (REFUSED, TOO_LONG):
                    self.refused += 1
                else:
                    self.finds.append(f"closed with {code}: {text[:200]}")
            except TimeoutError:
                self.finds.append(f"no answer: {text[:200]}")
                await line.close()
                line = None
        if line is not None:
            await line.close()

    async def _one(self, line: Any, text: str) -> None:
        number = _number(text)
        await line.send(text)
        await line.send(json.dumps({"op": "library", "number": PROBE}))
        async with asyncio.timeout(PATIENCE):
            probed = heard = False
            while not (probed and (heard or self._counted())):
                message = await line.recv()
                if isinstance(message, bytes):
                    continue
                told = json.loads(message)
                if told.get("kind") == "reply":
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
        studio = Studio(Path(folder), "ymca", "--stay")
        talk = Talk(studio.url, studio.log)
        try:
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
