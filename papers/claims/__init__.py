"""The papers' claims as comparisons, one plan each: `stunt compare papers/claims/NAME.yaml --out DIR`."""
