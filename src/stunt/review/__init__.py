"""Whether a performance can be believed, as numbers, each beside the range that captured people keep to."""

from stunt.review.asked import Missing
from stunt.review.filmed import take_of_clip
from stunt.review.ranges import Range, ranges
from stunt.review.verdict import Review, ReviewFinding, review

__all__ = ["Missing", "Range", "Review", "ReviewFinding", "ranges", "review", "take_of_clip"]
