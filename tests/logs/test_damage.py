"""Damaged documents beside samples: refused with an error that names one of the files, or read."""

import json
import random
import warnings

import pytest

from abuse import log_files
from abuse.mutations import VALUES
from abuse.outcomes import SEED, N, outcome
from evalframe.logs import check_logs, log_report, read_logs

DATE = "2026-01-21T03-44-18"
UUID = "0b4c6b1e-1111-4111-8111-111111111111"
SCORES = {"alias": "t", "sample_len": 3, "acc,none": 0.5, "acc_stderr,none": 0.1}
RESULTS = {
    "results": {
        "t": {**SCORES, "mcc,none": 0.0, "mcc_stderr,none": 0.5, "em,none": 2.0},
        "u": SCORES,
        "all": {"acc,none": 0.5, "acc_stderr,none": 0.1},
    },
    "group_subtasks": {"all": ["t", "u"]},
    "configs": {
        "t": {"metric_list": [{"metric": "em", "aggregation": "median"}], "dataset_path": "d"}
    },
    "versions": {"t": 1.0},
    "n-samples": {"t": {"original": 9, "effective": 9}},
    "config": {"model": "hf", "model_args": {"a": 1}, "bootstrap_iters": 2_000},
    "model_name": "m",
}
AGGREGATE = {
    "evaluation_id": "run",
    "evaluation_results": [
        {
            "evaluation_name": "sums",
            "evaluation_result_id": "a",
            "metric_config": {"metric_id": "acc", "metric_parameters": {"score_name": "x"}},
            "source_data": {"dataset_name": "numbers"},
            "score_details": {"score": 0.75},
        }
    ],
    "detailed_evaluation_results": {"total_rows": 2, "checksum": "ab", "hash_algorithm": "sha256"},
}
SPEC = {
    "name": "sums:n=1",
    "scenario_spec": {"class_name": "Sums"},
    "adapter_spec": {"model": "m", "model_deployment": "d"},
}
STATE = {
    "request_states": [
        {
            "instance": {
                "id": "id1",
                "references": [{"output": {"text": "4"}, "tags": ["correct"]}],
            },
            "train_trial_index": 0,
            "result": {
                "success": True,
                "completions": [{"text": "4", "logprob": -1.0, "tokens": [{"logprob": -1.0}]}],
                "request_time": 0.5,
                "request_datetime": 1751729998,
            },
        }
    ]
}
_STAT = {"count": 1, "sum": 0.5, "min": 0.5}
_TYPOS = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "worst"}
STATS = [
    {"name": {"name": "f1_score", "split": "test"}, **_STAT},
    {"name": {"name": "f1_score", "split": "test", "perturbation": _TYPOS}, **_STAT},
]
BESIDE = {
    f"results_{DATE}.json": (RESULTS, {f"samples_t_{DATE}.jsonl": log_files.samples}),
    f"{UUID}.json": (AGGREGATE, {f"{UUID}_samples.jsonl": log_files.published}),
    "run_spec.json": (SPEC, {"per_instance_stats.json": log_files.stats}),
    "scenario_state.json": (STATE, {"per_instance_stats.json": log_files.stats}),
    "stats.json": (STATS, {"per_instance_stats.json": log_files.stats}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_damaged_document_beside_samples_is_refused_or_read(name, tmp_path):
    document, others = BESIDE[name]
    for other, sound in {"run_spec.json": SPEC, "stats.json": STATS}.items():
        (tmp_path / other).write_text(json.dumps(sound))
    for other, data in others.items():
        (tmp_path / other).write_bytes(data())

    def used():
        with warnings.catch_warnings(action="ignore"):
            log_report(tmp_path)
            read_logs(tmp_path, extra=["confidence"], strict=True).collect()
            return check_logs(tmp_path)

    data = json.dumps(document).encode()
    (tmp_path / name).write_bytes(data)
    assert len(used()), "the sound document has checks"
    for seed in range(SEED, SEED + N // 6):
        draw = random.Random(seed)
        (tmp_path / name).write_bytes(draw.choice(VALUES)(data, draw))
        wrong, _ = outcome(used)
        assert wrong is None, f"seed {seed}: {wrong}: {(tmp_path / name).read_bytes()[:2_000]}"
