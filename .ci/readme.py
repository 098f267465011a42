"""Run every block of the README as printed, with the package that is installed in `.venv`.

Run it in a folder that has the README, `data` and `.venv`. The first two commands, which set up and
test a checkout, are left out: `.ci/run` runs them itself. LOGS stands for a reader's logs; here it
is a log of answers to questions with documents, or to a survey.
"""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl

import evalframe as ef


def write_logs() -> dict[str, str]:
    """Logs of lm-evaluation-harness for each command that asks for LOGS."""
    survey = ef.survey.as_distributions(pl.read_parquet("data/survey.parquet")).head(6)
    truth = survey.drop("round", "question_id").with_row_index("question_id")
    truth.with_columns(pl.col("question_id").cast(pl.String)).write_parquet("survey.parquet")
    documents = [({"noise": 0.5 * (k % 2)}, "70", "It is 70.") for k in range(8)]
    answers = [
        ({"segment": segment}, "", str([round(100 * share, 2) for share in shares]))
        for segment, shares in truth.select("segment_id", "actual").rows()
    ]
    return {"rag": written("asked", documents), "survey": written("polled", answers)}


def written(task: str, samples: list) -> str:
    """A folder with the log of one task."""
    folder, date = Path(task), "2026-01-21T03-44-18.458309"
    folder.mkdir()
    told = {"model_name": "m", "results": {}, "configs": {}}
    (folder / f"results_{date}.json").write_text(json.dumps(told))
    lines = [
        {"doc_id": n, "doc": doc, "target": target, "filter": "none", "filtered_resps": [answer]}
        | {"metrics": ["acc"], "acc": n % 2}
        for n, (doc, target, answer) in enumerate(samples)
    ]
    (folder / f"samples_{task}_{date}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return task


def main() -> int:
    """How many commands and examples failed."""
    text = Path("README.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
    logs, failed, run = write_logs(), 0, 0
    for line in blocks.splitlines():
        if " -m pytest " in line:
            continue
        command = line.rpartition(" && ")[2] if " -m venv " in line else line
        if "LOGS" in command:
            command = command.replace("LOGS", logs[command.split()[1]])
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        run += 1
        if done.returncode:
            failed += 1
            print(f"{command}\n{done.stdout}{done.stderr}", file=sys.stderr)
    examples = doctest.testfile(
        "README.md",
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    print(
        f"README: {run} commands, {examples.attempted} examples, {failed + examples.failed} failed"
    )
    return failed + examples.failed


if __name__ == "__main__":
    sys.exit(main())
