"""The process behind the page: the stage, rehearsed with saved states, shown, measured and exported."""
