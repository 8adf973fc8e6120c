"""The inner loop: physics steps with control between them, and what ends a stretch early."""
