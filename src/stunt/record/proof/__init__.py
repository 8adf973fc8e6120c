"""Takes that prove what moved their bodies: replayed by the bare engine, measured, certified."""
