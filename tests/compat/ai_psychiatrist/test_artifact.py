"""Artifacts of evaluations: what JSON cannot hold."""

import json
import math

import pytest

from evalframe.compat.ai_psychiatrist.artifact import write_artifact
from evalframe.core.errors import OutputError


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {"confidence_variants": {"llm": {"curve": {"threshold": [1.0, math.inf]}}}},
            r"an infinite number in confidence_variants\.llm\.curve\.threshold, which JSON lacks;",
        ),
        ({"inputs": [{"path": None, "run_id": math.nan}]}, r"holds NaN in inputs\.run_id, which"),
    ],
)
def test_what_json_lacks_is_named_by_its_keys(tmp_path, document, told):
    path = tmp_path / "artifact.json"
    with pytest.raises(OutputError, match=told):
        write_artifact(document, path)
    assert not path.exists()
    write_artifact(document, path, strict=False)
    assert str(json.loads(path.read_text())) == str(document)
