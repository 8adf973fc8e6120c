"""From a clip on a body to a motion that body can do."""
