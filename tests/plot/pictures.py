"""Draw the pictures of the README from the samples: `.venv/bin/python tests/plot/pictures.py`.

Each has an entry in the manifest of `data/`. It is current as long as its chart has the same
specification: the bytes of a picture differ from one drawing to the next.
"""

import hashlib
import json
from pathlib import Path

import polars as pl

import evalframe as ef

DATA = Path(__file__).parents[2] / "data"


def risk_coverage():
    loss = (pl.col("prediction") - pl.col("label")).abs() / 3
    items = pl.read_parquet(DATA / "items.parquet").with_columns(loss=loss)
    people = ef.Bootstrap(cluster="participant_id", n=2_000, seed=42)
    curve = ef.selective.rc_curve(items, by="mode", resample=people)
    return ef.plot.risk_coverage(curve, level=0.95)


def noise():
    labelled = ef.rag.label(pl.read_parquet(DATA / "rag_responses.parquet")).filter(dataset="en")
    rates = ef.rag.rates(labelled, by=["model", "noise_rate"], intervals="wilson")
    return ef.plot.noise(rates, level=0.95)


PICTURES = {"risk_coverage.svg": risk_coverage, "noise.svg": noise}


def entries():
    """The entries of the manifest, by name; each draws its chart."""
    found = {}
    for file, draw in PICTURES.items():
        spec = draw().to_dict()
        del spec["$schema"]
        text = json.dumps(spec, sort_keys=True)
        found[file.removesuffix(".svg")] = {
            "file": file,
            "generator": "tests/plot/pictures.py",
            "spec_sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
    return found


if __name__ == "__main__":
    for file, draw in PICTURES.items():
        draw().save(DATA / file)
    manifest = DATA / "manifest.json"
    described = json.loads(manifest.read_text()) | entries()
    manifest.write_text(f"{json.dumps(described, indent=2)}\n")
