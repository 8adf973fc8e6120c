"""The world-space servo: bones follow a motion in the frame of the root, which a weak spring helps."""
