"""The beat law: gains from the inertia a joint moves and the time it has left."""
