"""One character's body: what it plays from data or follows by forces, and how it takes blows."""
