"""RGB: prediction files, and its numbers where they differ."""
