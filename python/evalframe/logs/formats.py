"""Formats of logs: their names, and what their logs are called.

To add one, write `evalframe.logs.NAME.reading` with its `FORMAT`, and name it here.
"""

FORMATS = {
    "every_eval_ever": "samples of Every Eval Ever",
    "helm": "runs of HELM",
    "inspect": "logs of Inspect",
    "lm_eval": "samples of lm-evaluation-harness",
}
