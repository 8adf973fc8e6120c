"""The accounts of a certificate: momentum balances, help and pushes are summed up, strength is a length."""

from __future__ import annotations

import pytest

import stunt


def test_the_accounts_of_somebody_helped_and_pushed_balance_to_the_last_newton() -> None:
    clip = stunt.load_clip("walk")
    rates = {"physics_hz": 120.0, "control_hz": 120.0}
    stage = stunt.Stage(stunt.Scene({"ada": stunt.Body(clip, root="free", strength=1.5)}, **rates))
    stage.actor("ada").follow(clip, assist="weak")
    chest = next(name for name in stage.character("ada").bodies if "thorax" in name or "spine" in name)
    stage.push(f"ada/{chest}", at=0.2, impulse=(6.0, 3.0, 0.0), duration=0.1, point=(0.05, 0.1, 0.05))
    take = stage.run(0.5, certify=True)
    ada, told = stunt.certify(take)["characters"]["ada"], take.report()["characters"]["ada"]
    weight = stage.character("ada").mass * 9.81
    assert ada["momentum_residual"]["force_n"] < 1e-4 * weight and ada["momentum_residual"]["torque_nm"] < 1e-4 * weight
    assert ada["external"]["torque_impulse_nms"] == pytest.approx(told["root_spring"]["angular_impulse"], rel=1e-6)
    assert ada["pushed_ns"] == pytest.approx((6.0**2 + 3.0**2) ** 0.5)
    assert not any("nobody declared" in sentence for sentence in ada["help"])
    assert ada["torque"]["peak_share"] == pytest.approx(stage.strength_of("ada")["peak_share"], rel=1e-3)
