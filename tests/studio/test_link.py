"""The simulation may think for long, as long as it says that it lives; one that says nothing is given up."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from stunt.studio import link as links
from stunt.studio.backstage import worker


class Thinker(worker.Worker):
    """Thinks as long as it is asked to, without looking at what is said to it."""

    def do_think(self, seconds):
        time.sleep(seconds)
        return seconds


def lively(pipe):
    worker.Worker, worker._ALIVE = Thinker, 0.05
    worker.main(pipe)


def silent(pipe):
    Thinker(pipe).run()


def asked(monkeypatch, main, patience):
    async def ask():
        link = links.Link(asyncio.get_running_loop(), lambda kind, data: None)
        try:
            await link.ask("think", seconds=0.0)  # it is there
            return await link.ask("think", patience=patience, seconds=3 * patience)
        finally:
            link.close()

    monkeypatch.setattr(links.worker, "main", main)
    with ThreadPoolExecutor(1) as apart:  # a browser's tests leave this thread a loop
        return apart.submit(asyncio.run, ask()).result()


def test_what_takes_long_is_waited_for_while_the_simulation_says_that_it_lives(monkeypatch):
    assert asked(monkeypatch, lively, 1.0) == 3.0


def test_a_simulation_that_says_nothing_is_not_waited_for(monkeypatch):
    with pytest.raises(links.LinkError, match="does not answer"):
        asked(monkeypatch, silent, 0.5)
