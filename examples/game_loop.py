"""A game's loop: 60 frames a second, people who come and go, pushes, and their state read back every frame."""

import stunt

FRAME = 1.0 / 60.0


def main(seconds: float = 3.0) -> stunt.Take:
    """Play for a while; return the take."""
    crowd = {
        f"walker{k}": stunt.Body("walk", root="free", strength=1.5, at=(0.0, 1.5 * k), facing=0.4 * k) for k in range(3)
    }
    stage = stunt.Stage(crowd, hz=120, seed=1)
    for name in crowd:
        stage.actor(name).follow("walk", loop=True)
    frame, pushed = 0, False
    while stage.time < seconds:
        stage.step(FRAME)
        frame += 1
        first = stage.actor("walker0").state
        if not pushed and first.position[0] > 0.5:
            stage.actor("walker0").hit("thorax", impulse=(0.0, 30.0, 0.0))
            pushed = True
        if frame == 45:
            late = stage.add("late", stunt.Body("walk", root="free", strength=1.5, at=(-1.0, -1.5)))
            late.follow("walk", loop=True)
        if frame == 75:
            stage.remove("walker2")
        if frame % 60 == 0:
            places = {name: stage.actor(name).state.position.round(2).tolist() for name in stage.characters}
            print(f"{stage.time:.2f} s: {places}")
    return stage.take(title="a crowd")


if __name__ == "__main__":
    main()
