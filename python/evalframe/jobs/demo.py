"""What `evalframe demo` runs: the main command of each family, on the samples."""

from __future__ import annotations

from pathlib import Path

from evalframe.core.errors import InputError, OutputError

_RESAMPLES = "2000"


def commands(samples: Path, output: Path) -> dict[str, list[str]]:
    """The words of each command, by what it shows.

    Args:
        samples: The folder of the samples.
        output: The folder for results, which is made.

    Raises:
        InputError: There are no samples.
        OutputError: The folder cannot be made.
    """
    words = {
        "Selective prediction: what a system gains by not answering all": [
            *("selective", str(samples / "items.parquet"), "--by", "mode"),
            *("--confidence", "confidence,verbalized"),
            *("--metrics", "coverage,aurc,augrc,risk_at_0.50"),
            *("-o", str(output / "selective.parquet")),
        ],
        "Retrieval-augmented generation: robustness of responses to their documents": [
            *("rag", str(samples / "rag_responses.parquet"), "-o", str(output / "rag")),
        ],
        "Survey distributions: how well models predict what segments answer": [
            *("survey", str(samples / "survey_responses.parquet")),
            *("--truth", str(samples / "survey.parquet"), "-o", str(output / "survey")),
        ],
        "Replication: how far agents agree with humans in published studies": [
            *("replication", str(samples / "replication_tests.parquet")),
            *("-o", str(output / "replication")),
        ],
    }
    lacking = [each for each in words.values() if not Path(each[1]).exists()]
    if lacking:
        raise InputError(
            f"no samples in {samples}: {lacking[0][1]} is not there; write them by `evalframe "
            f"sample {samples}`, or name their folder"
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {output}: {error.strerror or error}") from None
    return {title: [*each, "--bootstrap", _RESAMPLES] for title, each in words.items()}
