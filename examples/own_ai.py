"""One's own AI: a pose for every tick, from whatever one likes, and a root that is led about."""

import math

import stunt


def wave(time: float) -> dict[str, float]:
    """Return what the arm is to do at a time: angles by joint [rad]."""
    return {"r_shoulder_flexion": 1.2 + 0.4 * math.sin(4.0 * time), "r_elbow_flexion": 0.8 + 0.5 * math.cos(4.0 * time)}


def main(seconds: float = 1.0) -> stunt.Take:
    """Let one wave by poses given per tick, and lead another's root about in a circle."""
    people = {"ada": stunt.Body("human39"), "bob": stunt.Body("human39", root="free", at=(0.0, 2.0))}
    stage = stunt.Stage(people, hz=240)
    ada, bob = stage.actor("ada"), stage.actor("bob")
    height = float(bob.state.position[2])
    while stage.time < seconds:
        ada.aim(wave(stage.time + 0.1), over=0.1)
        bob.put(root=(0.3 * math.sin(stage.time), 2.0, height))
        stage.step(1.0 / 60.0)
    elbow = math.degrees(ada.state.angles["r_elbow_flexion"])
    print(f"the elbow is at {elbow:.0f}°, bob at {bob.state.position.round(2)}")
    return stage.take()


if __name__ == "__main__":
    main()
