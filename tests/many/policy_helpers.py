"""A policy of somebody's own: it holds the first pose of the clip it is given."""

from stunt.supervise.contract import RUNNING, BaseController, Bid


class Frozen(BaseController):
    def __init__(self, *, motion=None):
        super().__init__("frozen")
        self._pose = motion.qpos[0]

    def bid(self, now):
        return Bid(1.0, "always")

    def start(self, now, actor, bid):
        actor.aim(self._pose, over=0.1)

    def step(self, now, actor):
        return RUNNING


class Shy(BaseController):
    def __init__(self):
        super().__init__("shy")

    def bid(self, now):
        return None

    def step(self, now, actor):
        return RUNNING
