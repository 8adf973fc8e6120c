"""Search: what a clip has to be asked for beside itself, so that a body does it on its own feet."""
