"""A whole-body programme: contacts and joint torques alone, nothing on the root."""
