"""Jobs of the family of selective prediction."""
