"""Reader of lm-evaluation-harness: samples of a task as items, and the published aggregates."""
