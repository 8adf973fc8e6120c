"""The antagonist law: two springs per joint, whose sum is tension."""
