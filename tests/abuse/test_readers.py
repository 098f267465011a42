"""Readers and damaged files: refused with an error of ours, or read as they are."""

import json
import math
import random

import pytest

from abuse import (
    inspect_files,
    log_files,
    rag_files,
    replication_files,
    selective_files,
    side_files,
    survey_files,
    written_files,
)
from abuse.mutations import DEEP, VALUES, value_replaced
from abuse.outcomes import SEED, N, difference, outcome

FAMILIES = (
    inspect_files,
    log_files,
    selective_files,
    rag_files,
    survey_files,
    replication_files,
    side_files,
    written_files,
)
READERS = {name: reader for family in FAMILIES for name, reader in family.READERS.items()}
OF_JSON = [name for name, reader in READERS.items() if {*VALUES} <= {*reader.mutations}]

NO_DOCUMENTS = {
    "empty": b"",
    "blank": b" \n\t\n",
    "mark": b"\xef\xbb\xbf",
    "zeros": b"\0" * 1_000,
    "null": b"null",
    "list": b"[]",
    "objects": b"{}\n{}\n",
    "long": b"x" * 1_000_000,
    "lines": b"\n" * 100_000,
    "parquet": b"PAR1" * 5,
    **{f"deep {number}": text.encode() for number, text in enumerate(DEEP)},
}
"""What no reader can read."""


def fault(reader, path, data):
    """What is wrong with what a reader makes of a file, or None."""
    path.write_bytes(data)
    wrong, found = outcome(lambda: reader.read(path), path.name)
    if wrong or found is None:
        return wrong
    try:
        truth = reader.truth(data)
    except Exception as error:
        return f"read, but is none: {type(error).__name__}: {error!s:.100}; {found!r:.300}"
    return difference(found, truth)


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_refused_or_read_as_it_is(name, tmp_path):
    reader = READERS[name]
    data, path, faults = reader.document(), tmp_path / reader.name, []
    assert fault(reader, path, data) is None
    assert reader.read(path), "the sound document has rows"
    for seed in range(SEED, SEED + math.ceil(N * reader.share)):
        draw = random.Random(seed)
        mutation = draw.choice(reader.mutations)
        if wrong := fault(reader, path, mutation(data, draw)):
            faults.append(f"{mutation.__name__}, seed {seed}: {wrong}")
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:20])


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_document_is_refused(name, tmp_path):
    reader = READERS[name]
    path = tmp_path / reader.name

    def ended():
        wrong, found = outcome(lambda: reader.read(path), path.name)
        return wrong, found if reader.is_needed else None

    assert ended() == (None, None), "no file"
    for what, data in NO_DOCUMENTS.items():
        path.write_bytes(data)
        assert ended() == (None, None), what
    path.unlink()
    path.mkdir()
    assert ended() == (None, None), "a folder"


@pytest.mark.parametrize("name", OF_JSON)
def test_a_long_text_in_the_place_of_a_value(name, tmp_path, monkeypatch):
    monkeypatch.setattr("abuse.mutations.HOSTILE", [json.dumps("x" * 10_000_000)])
    reader = READERS[name]
    data = value_replaced(reader.document(), random.Random(1))
    assert fault(reader, tmp_path / reader.name, data) is None
