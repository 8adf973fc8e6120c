"""The body: builders of people, loading of foreign models, strengths and limits, names and indices."""
