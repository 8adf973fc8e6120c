"""The studio: a page on the user's own machine where performances are directed by eye and hand."""
