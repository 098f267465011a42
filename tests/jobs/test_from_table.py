"""Item tables evaluated as run documents are."""

import json
from pathlib import Path

import pytest

from evalframe.compat.ai_psychiatrist import sample_document
from evalframe.selective.sample import sample_signals


def test_a_table_gives_the_artifact_of_its_document(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_bytes(sample_document(participants=12))
    sample_signals(participants=12).write_parquet("items.parquet")
    made = []
    for name in ("run.json", "items.parquet"):
        line = ("--mode", "few_shot", "--confidence", "token_msp", "--bootstrap", "20")
        call("selective", "--from-run", name, *line, "--artifact", "out.json", "-q")
        made.append(json.loads(Path("out.json").read_text()))
    whole, ours = (each["confidence_variants"]["token_msp"] for each in made)
    assert list(ours) == list(whole)
    assert ours["curve"] == whole["curve"]
    for name, interval in whole["bootstrap"]["ci95"].items():
        if isinstance(interval, list):
            assert ours["bootstrap"]["ci95"][name] == pytest.approx(interval, rel=1e-12)
    about = {"run_id": None, "git_commit": None, "mode": "few_shot"}
    assert made[1]["inputs"] == [{"path": "items.parquet", **about}]
    assert made[1]["population"]["participants_failed"] == 0, "no rows tell who failed"
