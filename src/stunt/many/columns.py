"""The columns of a batch's table: what each says, and in which unit."""

from __future__ import annotations

from typing import Final

from stunt.review.figures import FIGURES

COLUMNS: Final[dict[str, tuple[str, str]]] = {
    "clip": ("", "the clip, as the plan names it"),
    "body": ("", "the body, likewise"),
    "setting": ("", "the setting's name"),
    "push": ("", "the push, as `stunt track --push` writes it"),
    "seed": ("", "the seed; empty: the clip's own start"),
    "failure": ("", "what went wrong, as one line; empty where nothing did"),
    "seconds": ("s", "how long the take is"),
    "error_deg_mean": ("°", "mean over bones and frames of the angle between body and clip"),
    "error_deg_max": ("°", "the largest of them"),
    "fell": ("", "whether it ended unlike its clip, or left its stand"),
    "fell_at": ("s", "when it left its stand; empty where it did not"),
    "ended": ("", "`up` or `lying`"),
    "drift_m": ("m", "how far the root is, at the end, from where the clip's is"),
    "drift_share": ("", "the same as a share of the clip's way; empty for a way shorter than 0.1 m"),
    "slide_m": ("m", "how far standing feet slid"),
    "effort": ("", "mean over joints and frames of torque as a share of strength"),
    "work_j": ("J", "∫ \\|torque · velocity\\| dt over all joints"),
    "strength_peak": ("", "largest torque as a share of its joint's strength"),
    "strength_over": ("", "share of time in which a joint wanted more than its strength"),
    "help_torque_mean": ("", "torque from outside on the root, as a share of m·g·h"),
    "help_torque_peak": ("", "its largest value"),
    "help_force_mean": ("", "force from outside on the root, as a share of weight"),
    "help_force_peak": ("", "its largest value"),
    "hits": ("", "hits it felt"),
    "warnings": ("", "sentences of warning in the report"),
    "outside": ("", "figures of its [review](review.md) that are out of captured people's range"),
    "not_happened": ("", "what was asked for and did not happen, as the review tells"),
    **{f"review_{name}": (about.unit, about.says.replace("|", "\\|")) for name, about in FIGURES.items()},
    "push_deg": ("°", "to where the push went, from where it faces at the start"),
    "take": ("", "the take's file in the folder; empty where none was kept"),
}
"""Columns of jobs that follow a clip, in their order: unit and meaning."""
