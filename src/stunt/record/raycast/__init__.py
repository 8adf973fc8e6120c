"""A ray-caster that needs no display: cameras, scenes, trees, kernels, pictures."""
