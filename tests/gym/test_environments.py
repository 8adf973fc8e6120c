"""Environments keep Gymnasium's contract, give the same episode for the same seed, and reward what they say."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is an extra: pip install 'stunt[gym]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import stunt.gym as environments  # noqa: E402
from stunt.errors import InvalidValueError, UnknownNameError  # noqa: E402
from stunt.gym import BalanceTask, Beats, Rates, StuntEnv, StuntVectorEnv, TrackTask  # noqa: E402

IDS = list(environments.IDS.values())


@pytest.mark.parametrize("id_", IDS)
def test_an_environment_passes_gymnasiums_own_check_without_a_warning(id_: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        check_env(gymnasium.make(id_, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("id_", IDS)
def test_the_same_seed_gives_the_same_episode_bit_for_bit(id_: str) -> None:
    def episode() -> list[bytes]:
        env = gymnasium.make(id_)
        rng = np.random.default_rng(5)
        seen = [env.reset(seed=11)[0].tobytes()]
        for _ in range(25):
            action = rng.uniform(-0.3, 0.3, env.action_space.shape).astype(np.float32)
            observation, reward, *_ = env.step(action)
            seen += [observation.tobytes(), np.float64(reward).tobytes()]
        return seen

    assert episode() == episode()


@pytest.mark.parametrize("id_", IDS)
def test_an_episode_does_not_remember_the_one_before(id_: str) -> None:
    env = gymnasium.make(id_)
    first = env.reset(seed=3)[0]
    for _ in range(15):
        env.step(np.ones(env.action_space.shape, np.float32))
    again = env.reset(seed=3)[0]
    assert np.array_equal(first, again)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_at_once_are_as_many_single_ones(threads: int) -> None:
    many = StuntVectorEnv("beats", num_envs=3, threads=threads, seconds=0.5)
    singles = [StuntEnv("beats", seconds=0.5) for _ in range(3)]
    observations, _ = many.reset(seed=7)
    for number, env in enumerate(singles):
        assert np.array_equal(observations[number], env.reset(seed=7 + number)[0])
    rng = np.random.default_rng(0)
    for _ in range(14):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        observations, rewards, _, truncated, info = many.step(actions)
        for number, env in enumerate(singles):
            observation, reward, _, over, said = env.step(actions[number])
            assert np.array_equal(observation, observations[number]) and reward == rewards[number]
            assert over == truncated[number]
            if said:
                assert info["beat_error_deg"][number] == said["beat_error_deg"]
    assert not truncated.any()
    assert many.step(actions)[3].all()  # the fifteenth action ends half a second
    observations, rewards, terminated, truncated, _ = many.step(actions)  # which begins the next episode instead
    assert not rewards.any() and not truncated.any() and not terminated.any()
    many.close()


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_gymnasium_makes_them_by_the_dozen(mode: str) -> None:
    many = gymnasium.make_vec("Stunt/Beats-v0", num_envs=2, vectorization_mode=mode)
    observations, _ = many.reset(seed=0)
    assert observations.shape == (2, many.single_observation_space.shape[0])
    observations, rewards, *_ = many.step(many.action_space.sample())
    assert many.observation_space.contains(observations) and rewards.shape == (2,)
    many.close()


def test_going_straight_for_the_pose_hits_the_beat_and_doing_nothing_does_not() -> None:
    def errors(task: Beats, oracle: bool) -> float:
        task.reset(np.random.default_rng(0))
        found, action = [], np.zeros(task.actions, np.float32)
        while not task.truncated:
            if oracle:
                joints = task.character.joints.values()
                way = np.array([task.wanted[joint.qpos] - task.rows[0, joint.qpos] for joint in joints])
                action = (way / task.scale).astype(np.float32)
            task.step(action)
            found += [task.info["beat_error_deg"]] if task.info else []
        return float(np.median(found))

    task = Beats(seconds=5.0)
    aimed, idle = errors(task, True), errors(task, False)
    print(f"median error at the beat: {aimed:.2f}° aimed, {idle:.1f}° idle")
    assert aimed < 3.0 < 15.0 < idle


def test_standing_is_rewarded_and_a_hard_push_ends_it() -> None:
    task = BalanceTask(push=0.0, seconds=2.0)
    task.reset(np.random.default_rng(0))
    total = 0.0
    while not (task.truncated or task.terminated):
        task.step(np.zeros(task.actions, np.float32))
        total += task.reward
    assert task.truncated and 1.9 < total <= 2.0
    hard = BalanceTask(push=400.0, every=0.5, seconds=4.0)
    hard.reset(np.random.default_rng(1))
    while not (hard.truncated or hard.terminated):
        hard.step(np.zeros(hard.actions, np.float32))
    assert hard.terminated


def test_the_drawn_impulse_is_the_impulse_given() -> None:
    task = BalanceTask(push=50.0, every=0.2)
    task.reset(np.random.default_rng(4))
    momentum = []
    while not task.pushing:
        drawn = task.force / task.rates.policy_hz
        task.step(np.zeros(task.actions, np.float32))
        momentum.append(task.stage.data.xfrc_applied[task.target, :2].copy() / task.rates.policy_hz)
    np.testing.assert_allclose(momentum[-1], drawn)
    assert not np.array(momentum[:-1]).any() and 0 < np.linalg.norm(drawn) <= 50.0


def test_being_in_the_clip_is_worth_the_most() -> None:
    task = TrackTask(anywhere=False)
    task.reset(np.random.default_rng(0))
    task._look()
    there = task.reward
    task.qpos[task.root] += 0.3
    task._look()
    assert 0.97 < there <= 1.0 and task.reward < there - 0.05
    task.qpos[task.root] += 1.0
    task._look()
    assert task.terminated


def test_springs_to_the_clip_follow_it_for_a_while_and_then_fall() -> None:
    task = TrackTask(seconds=6.0)
    lasted = []
    for seed in range(4):
        task.reset(np.random.default_rng(seed))
        while not (task.truncated or task.terminated):
            task.step(np.zeros(task.actions, np.float32))
        lasted.append(task.stage.time)
    print("springs alone keep walking for", [round(seconds, 2) for seconds in lasted], "s")
    assert 0.4 < np.median(lasted) < 5.9  # there is something to follow, and something to learn


def test_actions_turn_ball_joints_by_a_rotation_vector() -> None:
    from stunt.gym import native
    from stunt.maths.rotations import difference

    task = TrackTask(anywhere=False)
    task.reset(np.random.default_rng(0))
    action = np.zeros(task.actions, np.float32)
    action[3:6] = (0.5, -0.25, 0.1)
    native.steer(task.table, action, 0)
    joint = list(task.character.joints.values())[1]
    goal, base = (some[joint.qpos : joint.qpos + 4] for some in (task.stage.board.goal, task.rows[0]))
    np.testing.assert_allclose(difference(goal, base), task.scale[3:6] * action[3:6], atol=1e-6)


def test_a_task_can_be_saved_and_gone_on_with() -> None:
    task = BalanceTask(push=0.0)
    task.reset(np.random.default_rng(0))
    action = np.full(task.actions, 0.1, np.float32)
    for _ in range(5):
        task.step(action)
    state = task.stage.save()
    ends = []
    for _ in range(2):
        task.stage.restore(state)
        for _ in range(5):
            task.step(action)
        ends.append((task.observation.tobytes(), task.stage.data.qpos.tobytes()))
    assert ends[0] == ends[1]


def test_any_body_can_be_trained() -> None:
    from pathlib import Path

    hound = Path(__file__).parents[1] / "character" / "models" / "hound.xml"
    env = StuntEnv("balance", body=str(hound), push=0.0, seconds=0.5)
    env.reset(seed=0)
    for _ in range(15):
        _, reward, terminated, truncated, _ = env.step(np.zeros(env.action_space.shape, np.float32))
    assert truncated and not terminated and reward > 0


def test_nonsense_is_refused_with_what_exists() -> None:
    with pytest.raises(UnknownNameError, match="Available: track, balance, beats"):
        StuntEnv("fly")
    with pytest.raises(UnknownNameError, match="rgb_array"):
        StuntEnv("beats", render_mode="human")
    with pytest.raises(InvalidValueError, match="whole fraction"):
        Beats(rates=Rates(policy_hz=50.0))
    with pytest.raises(InvalidValueError, match="seconds"):
        Beats(seconds=math.nan)
    with pytest.raises(InvalidValueError, match="shape"):
        StuntVectorEnv("beats", num_envs=2).step(np.zeros((1, 3), np.float32))


def test_a_picture_shows_the_character() -> None:
    env = StuntEnv("balance", render_mode="rgb_array", push=0.0)
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (480, 640, 3) and picture.dtype == np.uint8
    assert picture[150:330, 280:360].std() > 20  # somebody stands in the middle
