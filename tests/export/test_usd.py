"""USD: what Pixar's own library computes from a file is where the take had every bone."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.export import export
from stunt.export.contents import gather
from stunt.export.options import Options
from stunt.maths.rotations import to_matrix

pytest.importorskip("pxr", reason="usd-core is not installed: pip install 'stunt[usd]'")

from pxr import Usd, UsdGeom, UsdSkel  # noqa: E402

Y_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(("name", "up"), [("stage.usda", "z"), ("stage.usdc", "y")])
def test_usds_own_skinning_puts_every_joint_where_the_take_has_it(tmp_path, stage_take, name, up):
    stage = Usd.Stage.Open(str(export(stage_take, tmp_path / name, up=up, rigid=True)[0]))
    assert UsdGeom.GetStageUpAxis(stage) == up.upper() and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 60.0
    motion, rigs, _ = gather(stage_take, Options())
    assert stage.GetEndTimeCode() == len(motion.times) - 1
    axes = np.eye(3) if up == "z" else Y_UP
    cache, worst = UsdSkel.Cache(), 0.0
    for rig in rigs:
        root = UsdSkel.Root(stage.GetPrimAtPath(f"/stage/{rig.character}"))
        cache.Populate(root, Usd.PrimDefaultPredicate)
        skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath(f"/stage/{rig.character}/{rig.character}_skeleton"))
        assert [str(path).split("/")[-1] for path in skeleton.GetJointsAttr().Get()] == list(rig.names)
        query = cache.GetSkelQuery(skeleton)
        for frame in range(len(motion.times)):
            found = np.array(query.ComputeJointSkelTransforms(Usd.TimeCode(frame)))  # rows are images of the axes
            worst = max(worst, np.abs(found[:, 3, :3] @ axes.T - rig.positions[frame]).max())
            turned = axes @ found[:, :3, :3].transpose(0, 2, 1) @ axes.T
            worst = max(worst, np.abs(turned - to_matrix(rig.rotations[frame])).max())
    print(f"{name}: worst {worst:.2e} m or matrix entry")
    assert worst < 5e-6


def test_usds_own_validators_find_nothing(tmp_path, stage_take):
    validation = pytest.importorskip("pxr.UsdValidation", reason="this usd-core has no validators")
    stage = Usd.Stage.Open(str(export(stage_take, tmp_path / "stage.usdc")[0]))
    validators = validation.ValidationRegistry().GetOrLoadAllValidators()
    found = validation.ValidationContext(validators).Validate(stage)
    print(f"{len(validators)} validators")
    assert validators and not [f"{error.GetName()}: {error.GetMessage()}" for error in found]


def test_the_suffix_says_text_or_binary(tmp_path, ada_take):
    text = export(ada_take, tmp_path / "a.usda", rigid=True)[0].read_bytes()
    binary = export(ada_take, tmp_path / "a.usd", rigid=True)[0].read_bytes()
    assert text.startswith(b"#usda") and binary.startswith(b"PXR-USDC")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.usd", "a.usda"]


def test_an_interrupted_export_leaves_nothing(tmp_path, ada_take):
    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(ada_take, tmp_path / "a.usd", rigid=True, progress=stop)
    assert not list(tmp_path.iterdir())
