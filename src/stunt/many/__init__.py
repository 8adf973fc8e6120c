"""Many performances: plans of clips, bodies, settings, seeds and pushes, and the tables that come of them."""
