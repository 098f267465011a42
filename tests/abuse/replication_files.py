"""Files of the replication family: evaluations and published results."""

import functools
import json
import tempfile

from abuse.readers import Reader
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.replication.sample import sample_tests


@functools.cache
def _evaluation():
    tests = sample_tests().filter(model="harbor-7b", study_id="lantern-queue")
    with tempfile.TemporaryDirectory() as folder:
        results = humanstudy_bench.result_tables(replication.with_evidence(tests))
        files = humanstudy_bench.write_results(results, folder)
        return {file.name: file.read_bytes() for file in files}


_OF_TESTS = {
    "sub_study_id": "sub_study_id",
    "finding_id": "finding_id",
    "test_name": "test_name",
    "pi_human": "pi_human",
    "pi_agent": "pi_agent",
    "pas": "pas",
    "test_weight": "test_weight",
    "human_direction": "direction_human",
    "human_effect_d": "effect_d_human",
    "agent_effect_d": "effect_d_agent",
    "n_eff": "n_eff",
    "n_human_extracted": "n1_human",
}
_OF_FINDINGS = ("sub_study_id", "finding_id", "finding_score", "finding_weight", "n_tests")


def _read_evaluation(path):
    found = humanstudy_bench.read_evaluation(path, model="m", study_id="s")
    tests, findings = found.tests.select(_OF_TESTS.values()), found.findings.select(_OF_FINDINGS)
    return tests.rows(), findings.rows()


def _true_evaluation(data):
    document = json.loads(data)
    assert "test_results" in document or "error" in document
    tests, findings = (document.get(k) or [] for k in ("test_results", "finding_results"))
    return (
        [tuple(_known(test.get(key)) for key in _OF_TESTS) for test in tests],
        [tuple(_known(finding.get(key)) for key in _OF_FINDINGS) for finding in findings],
    )


def _known(value):
    return None if value == "" else value


def _read_results(path):
    found = humanstudy_bench.read_results(path)
    names = ("model", "study_id", "sub_study_id", "finding_id", "pas", "n_tests")
    return (
        found.models.select("model", "pas", "ecs", "total_tokens", "total_cost").rows(),
        found.studies.select("model", "study_id", "pas", "ecs", "total_tokens").rows(),
        found.findings.select(names).rows(),
    )


def _true_results(data):
    configs = json.loads(data)["configs"].items()
    of_models = ("pas_raw", "ecs", "total_tokens", "total_cost")
    of_studies = ("study_id", "pas_raw", "ecs", "total_tokens")
    of_findings = ("study_id", "sub_study_id", "finding_id", "finding_score", "n_tests")
    return (
        [(model, *map(content.get, of_models)) for model, content in configs],
        [
            (model, *(_known(study.get(key)) for key in of_studies))
            for model, content in configs
            for study in content.get("studies") or []
        ],
        [
            (model, *(_known(finding.get(key)) for key in of_findings))
            for model, content in configs
            for finding in content.get("findings") or []
        ],
    )


READERS = {
    "read_evaluation": Reader(
        "evaluation_results.json",
        lambda: _evaluation()["evaluation_results.json"],
        _read_evaluation,
        _true_evaluation,
        share=0.4,
    ),
    "read_results": Reader(
        "simple_results.json",
        lambda: _evaluation()["simple_results.json"],
        _read_results,
        _true_results,
        share=0.4,
    ),
}
