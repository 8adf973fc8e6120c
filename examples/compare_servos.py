"""A researcher's comparison: two servos, the same clip, the same pushes, one table."""

import stunt

SERVOS = ("world", "parent")
PUSHES = (0.0, 20.0, 40.0)


def measure(servo: str, impulse: float, seconds: float) -> dict[str, float]:
    """Follow a walk with a servo, push it sideways [N·s], and return what the report says."""
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free", strength=1.5)}, hz=120)
    stage.actor("ada").follow("walk", servo=servo)
    if impulse:
        stage.push("ada/thorax", at=0.4, impulse=(0.0, impulse, 0.0))
    told = stage.run(seconds).report()["characters"]["ada"]
    return {"error_deg": told["error_deg_mean"], "drift_m": told["drift_m"], "fell": float(told["fell"])}


def main(seconds: float = 1.2) -> dict[tuple[str, float], dict[str, float]]:
    """Print the table; return it by servo and push."""
    table = {(servo, push): measure(servo, push, seconds) for servo in SERVOS for push in PUSHES}
    print("servo    push [N·s]   error [°]   drift [m]   fell")
    for (servo, push), row in table.items():
        print(f"{servo:8} {push:9.0f} {row['error_deg']:11.2f} {row['drift_m']:11.3f} {row['fell']:6.0f}")
    return table


if __name__ == "__main__":
    main()
