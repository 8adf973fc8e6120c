"""How stiff, toward what: the laws, as pure functions of arrays."""
