"""Steps before falls: light pushes are stood, harder ones stepped out, and only hard ones fell anybody."""

from __future__ import annotations

import pytest

from papers.p2 import pushes


@pytest.mark.parametrize("seed", [0, 21])
def test_who_is_pushed_off_its_feet_steps_and_stands(seed: int) -> None:
    push = pushes.pushed(seed, 80.0)
    made = pushes.show(push, seed)
    how = pushes.outcome(made, push)
    assert how.stood and how.steps and made.ran(pushes.WHO, "stumble")
    assert 0.0 < how.help < 0.3


def test_a_light_push_is_taken_without_a_step() -> None:
    push = pushes.pushed(0, 30.0)
    how = pushes.outcome(pushes.show(push, 0), push)
    assert how.stood and how.steps == 0


def test_a_crate_on_the_chest_moves_the_feet_of_who_stands() -> None:
    (row,) = pushes.rows(1, 0, ["20x4"])
    assert row["steps"]


@pytest.mark.long
def test_pushes_are_stood_stepped_out_or_fell_by_their_size() -> None:
    rows = {row["impulse"]: row for row in pushes.told(pushes.rows(48, 100, pushes.IMPULSES))}
    share = {impulse: row["stood"] / row["pushed"] for impulse, row in rows.items()}
    assert min(share[30.0], share[60.0]) >= 0.9 and share[100.0] >= 0.6 and share[250.0] <= 0.2


@pytest.mark.long
def test_a_crate_of_40_kg_at_5_m_s_fells_nearly_everybody_and_one_of_20_at_4_moves_the_feet_of_all() -> None:
    heavy, light = (pushes.told(pushes.rows(24, 100, [crate]))[0] for crate in ("40x5", "20x4"))
    assert heavy["pushed"] - heavy["stood"] >= 22 and light["stepped"] == light["pushed"]
