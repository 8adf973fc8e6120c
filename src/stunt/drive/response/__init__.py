"""How joints that hold a pose answer a blow: how far they give, beside how fast they return."""
