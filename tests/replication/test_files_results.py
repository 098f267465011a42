"""Published scores, read into tables; faults in their place."""

from __future__ import annotations

import json

import pytest

from evalframe.core.errors import InputError
from evalframe.replication.agreement import model_scores, study_scores
from evalframe.replication.files import read_results

PUBLISHED = {
    "metadata": {"generated_at": "2026-01-30", "format": "simple_results"},
    "configs": {
        "b": {
            "pas_raw": 0.5,
            "ecs": 0.25,
            "total_tokens": 30,
            "total_cost": 0.5,
            "studies": [
                {"study_id": "study_001", "title": "N/A", "pas_raw": 0.25, "ecs": None},
                {"study_id": "study_009", "title": "Maps", "pas_raw": 0.75, "total_tokens": 30},
            ],
            "findings": [
                {
                    "study_id": "study_001",
                    "finding_idx": 0,
                    "sub_study_id": "",
                    "finding_id": "F1",
                    "finding_score": 0.25,
                    "n_tests": 2,
                }
            ],
        },
        "a": {"pas_raw": None, "ecs": None, "studies": []},
    },
}


def test_published_scores_are_tables(tmp_path):
    (tmp_path / "simple_results.json").write_text(json.dumps(PUBLISHED))
    results = read_results(tmp_path)
    assert results.models.rows() == [("b", 0.5, 0.25, 30, 0.5), ("a", None, None, None, None)]
    assert results.studies.select("study_id", "title", "domain", "pas", "total_tokens").rows() == [
        ("study_001", None, "Cognition", 0.25, None),
        ("study_009", "Maps", "Strategic", 0.75, 30),
    ]
    assert results.findings.rows() == [("b", "study_001", 0, None, "F1", 0.25, 2)]
    assert results.domains.rows() == [("b", "Cognition", 0.25), ("b", "Strategic", 0.75)]
    assert results.pooling is None
    again = model_scores(results.studies.select("model", "study_id", "pas")).collect()
    assert again["pas"].to_list() == [0.5]
    assert study_scores(results.findings).collect()["pas"].to_list() == [0.25]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "document 0 holds no object 'configs'; is it the right file?"),
        ({"configs": {"m": 3}}, "document 0: configs['m'] must be an object, but is 3"),
        (
            {"configs": {"m": {"ecs": "x"}}},
            "document 0: configs['m'].ecs is 'x', not a number of 64 bits",
        ),
        (
            {"configs": {"k": {}, "m": {"studies": [{}, {"title": 1}]}}},
            "document 0: configs['m'].studies[1].title is 1, not text",
        ),
        (
            {"configs": {"m": {"findings": 1}}},
            "document 0: configs['m']: findings must be a list, but is 1",
        ),
    ],
)
def test_faults_in_published_scores(document, told):
    with pytest.raises(InputError) as refused:
        read_results(document)
    assert str(refused.value) == told


def test_several_files_of_published_scores_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "simple_results.json").write_text(json.dumps(PUBLISHED))
    with pytest.raises(InputError, match=r"2 files of results \(.*\); read them one by one"):
        read_results(tmp_path)
