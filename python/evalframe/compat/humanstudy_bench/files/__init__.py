"""Files of HumanStudy-Bench: evaluation results and published scores, read and written."""
