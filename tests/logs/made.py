"""Logs of Inspect as the tests write them: tiny, and each with one peculiarity."""

import io
import json
import struct
import zipfile
import zlib

import pyarrow as pa

HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "quiz", "run_id": "r", "eval_id": "e", "task_id": "t", "model": "m"},
}


def sample(number=1, epoch=1, **entries):
    """A sample, scored by `match`."""
    scores = {"match": {"value": "C", "answer": "yes"}}
    return {"id": number, "epoch": epoch, "target": "yes", "scores": scores, **entries}


def valued(*values, scorer="s"):
    """Samples to which a scorer gave these values."""
    return [sample(n, scores={scorer: {"value": value}}) for n, value in enumerate(values)]


def document(samples, header=HEADER, **entries):
    """A `.json`."""
    return json.dumps({**header, **entries, "samples": samples}).encode()


def members(samples, header=HEADER, summaries=None):
    """The members of an `.eval`; its summaries are the samples."""
    named = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    told = samples if summaries is None else summaries
    return {"_journal/start.json": header, **named, "summaries.json": told, "header.json": header}


def archive(files, method=zipfile.ZIP_DEFLATED):
    """A zip of members: JSON, or bytes as they are; a list of pairs may repeat a name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in files.items() if isinstance(files, dict) else files:
            file.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return buffer.getvalue()


def zstandard(files, frames=1):
    """The same with method 93, each member in several frames."""
    codec, body, directory = pa.Codec("zstd"), b"", b""
    for name, content in files.items():
        data, called = json.dumps(content).encode(), name.encode()
        size = -(-len(data) // frames)
        pieces = [data[k : k + size] for k in range(0, len(data), size)]
        stored = b"".join(codec.compress(piece, asbytes=True) for piece in pieces)
        fields = (20, 0, 93, 0, 0, zlib.crc32(data), len(stored), len(data), len(called), 0)
        local = struct.pack("<4s5H3L2H", b"PK\3\4", *fields) + called
        entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, *fields, 0, 0, 0, 0, len(body))
        directory += entry + called
        body += local + stored
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(body), 0
    )
    return body + directory + end
