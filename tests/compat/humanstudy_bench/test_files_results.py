"""Published scores, read into tables; faults in their place."""

import json

import pytest

from evalframe.compat.humanstudy_bench import read_results
from evalframe.core.errors import InputError
from evalframe.replication.agreement.studies import model_scores, study_scores

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
    again = model_scores(results.studies.select("model", "study_id", "pas"))
    assert again["pas"].to_list() == [0.5]
    assert study_scores(results.findings)["pas"].to_list() == [0.25]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "document 0 holds no object 'configs'; is it the right file?"),
        ({"configs": {3: {}}}, "document 0: configs has the key 3, which is no text"),
        (
            {"configs": {"m": {"pas_raw": -0.5}}},
            "document 0: configs['m'].pas_raw is -0.5, not a number from 0 to 1",
        ),
        (
            {"configs": {"m": {"findings": [{"finding_score": 2.5}]}}},
            "document 0: configs['m'].findings[0].finding_score is 2.5, not a number from 0 to 1",
        ),
        (
            {"configs": {"": {"findings": [{"n_tests": -1}]}}},
            "document 0: configs[''].findings[0].n_tests is -1, not a whole number from 0 to 2**53",
        ),
        (
            {"configs": {"m": {"studies": [{"study_id": "s"}, {"study_id": "s"}]}}},
            "document 0: configs['m'] has study 's' more than once; keep one",
        ),
        (
            {"configs": {"m": {"studies": [{"title": "One"}]}}},
            "document 0: configs['m'] has a study without a study_id; name it",
        ),
        (
            {
                "configs": {
                    "k": {"studies": [{"study_id": "s"}]},
                    "m": {"findings": [{"study_id": "s"}]},
                }
            },
            "document 0: configs['m'] has a finding of study 's', which is not among its studies",
        ),
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


def test_what_rounding_moved_out_of_a_share_is_read():
    study = {"study_id": "s", "pas_raw": 1.0000000000000002}
    both = {name: {"studies": [study]} for name in ("a", "b")}
    assert read_results({"configs": both}).studies["model"].to_list() == ["a", "b"]


def test_several_files_of_published_scores_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "simple_results.json").write_text(json.dumps(PUBLISHED))
    with pytest.raises(InputError, match=r"2 files of results \(.*\); read them one by one"):
        read_results(tmp_path)
