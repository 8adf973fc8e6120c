"""What of a take is measured: footage, and the figures of parts, feet, limbs, gait, falls and forces in it."""
