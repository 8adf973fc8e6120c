"""A clip changed in Python, followed by a body with its skeleton, pushed, reported and exported."""

import tempfile
from pathlib import Path

import stunt


def main(folder: Path) -> stunt.Take:
    """Perform a mirrored walk and write it to a folder."""
    clip = stunt.load_clip("walk").mirrored()
    stage = stunt.Stage({"ada": stunt.Body(clip, root="free", strength=1.5)}, hz=120)
    ada = stage.actor("ada")
    ada.follow(clip)
    stage.push("ada/thorax", at=0.5, impulse=(40, 0, 0))
    take = stage.run(clip.duration)
    told = take.report()["characters"]["ada"]
    print(f"{told['error_deg_mean']:.2f}° off on average, hit {told['hits']} times, fell: {told['fell']}")
    take.export(folder / "walk.glb")
    return take


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
