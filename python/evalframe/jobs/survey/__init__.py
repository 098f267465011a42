"""Jobs of the survey family."""
