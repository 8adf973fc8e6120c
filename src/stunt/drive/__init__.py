"""Ways to drive a body: beats, tension, paths, clips, on prepared motions, feet that stand, and balance."""
