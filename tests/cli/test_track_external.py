"""`stunt track --external`: own clips are followed by torques from outside, at any rate, and all of it is metered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stunt.cli.main import main
from stunt.errors import InvalidValueError
from stunt.script.file import load_script


def tracked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return what the report says of a body that follows, with the weak root spring as it is by default."""
    assert main(["track", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["characters"]["double"]


@pytest.mark.parametrize(("clip", "most"), [
    ("idle", 0.5), ("walk", 1.2), ("punch", 1.2), ("kick", 1.5), ("jump", 2.5), ("hop", 2.0), ("cartwheel", 5.0),
])  # fmt: skip
def test_own_clips_are_followed_in_the_external_form(
    clip: str, most: float, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tracked(capsys, clip, "--external")
    print(clip, found["error_deg_mean"], found["limits"], found["root_spring"])
    # Pulled from outside the cartwheel comes down beside its feet, and falls as it ends.
    assert (not found["fell"] or clip == "cartwheel") and found["error_deg_mean"] < most
    assert found["limits"]["over_share"] <= 0.002


@pytest.mark.parametrize("words", [["--rate", "60"], ["--rate", "480"], ["--gain", "0.25"], ["--assist", "hook"]])
def test_the_external_form_is_stable_at_other_rates_and_gains(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = tracked(capsys, "kick", "--external", *words)
    print(words, found["error_deg_mean"])
    # With a quarter of the gain the swinging foot lags, and meets the other shin.
    assert not found["fell"] and found["error_deg_mean"] < (5.0 if "--gain" in words else 4.0)


def test_all_the_external_form_gives_is_metered(capsys: pytest.CaptureFixture[str]) -> None:
    inside = tracked(capsys, "punch")
    outside = tracked(capsys, "punch", "--external")
    means = [found["root_spring"]["torque_mean"] for found in (inside, outside)]
    print(f"mean torque from outside, internal and external form: {means} m·g·h")
    assert means[1] > 1.5 * means[0]
    assert outside["assistance"]["torque_mean"] == pytest.approx(means[1], rel=0.1)  # the take's frames say so too


def test_the_external_form_says_where_it_has_nothing_to_hold_on_to(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for assist, told in (("weak", False), ("none", True)):
        assert main(["track", "walk", "--external", "--assist", assist, "--json"]) == 0
        warnings = json.loads(capsys.readouterr().out)["warnings"]
        assert any("holds the root" in line for line in warnings) == told
    assert main(["track", "walk", "--external", "--servo", "parent"]) == 2
    assert "--servo world" in capsys.readouterr().err
    script = tmp_path / "script.yaml"
    section = "clips: {play: [{clip: walk}], servo: parent, external: true}"
    script.write_text(f"characters: {{ada: {{body: idle, root: free}}}}\nperformance:\n  ada: {{{section}}}\n")
    with pytest.raises(InvalidValueError, match="external must be left out"):
        load_script(script)
