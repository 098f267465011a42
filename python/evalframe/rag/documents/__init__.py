"""Documents that a model is shown: which of an instance's passages, and in which order."""
