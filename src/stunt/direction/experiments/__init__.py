"""The experiments of P2 as scenes one can perform: each from a seed, each with an outcome."""
