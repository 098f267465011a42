"""JSON that is split while it streams, against the standard library."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.core.errors import InputError
from evalframe.logs import streams
from evalframe.logs.streams import Scanner, Stream, top_level

TEXTS = st.text(alphabet='a"\\[]{},: é\n', max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.lists(st.fixed_dictionaries({"id": st.integers(), "kept": VALUES, "junk": VALUES}))


def split(data, items, size):
    """The items and what is around them, from chunks of a size."""
    stream = Stream("x", items, {"kept", "eval"})
    batches = [*stream.batches(data[k : k + size] for k in range(0, len(data), size))]
    return [item for batch in batches for item in json.loads(batch)], json.loads(stream.around)


@settings(max_examples=40, deadline=None)
@given(ITEMS, VALUES, VALUES, st.integers(1, 60), st.sampled_from([None, 2]), st.booleans())
def test_items_and_what_is_around_them_whatever_the_chunks(
    items, told, junk, size, indent, is_ascii
):
    document = {"version": 2, "eval": {"a": told}, "junk": junk, "samples": items, "end": 1}
    data = json.dumps(document, indent=indent, ensure_ascii=is_ascii).encode()
    found, around = split(data, "samples", size)
    assert [{**item, "junk": 0} for item in found] == [{**item, "junk": 0} for item in items]
    assert (around["eval"], around["samples"], around["end"]) == (document["eval"], [], 1)
    assert around["junk"] in (junk, [], {})
    found, around = split(json.dumps(items, indent=indent).encode(), None, size)
    assert [item["kept"] for item in found] == [item["kept"] for item in items]
    assert around == []


def chunks(number, chunk, begin, end):
    yield begin
    yield from (chunk for _ in range(number))
    yield end


def test_what_nobody_reads_of_a_long_item_is_dropped(monkeypatch):
    monkeypatch.setattr(streams, "LONGEST", 10_000)
    message = b'{"text": "]}\\"", "more": [1, {"a": 2}]}, '
    begin, end = b'{"samples": [{"id": 1, "events": [', b'0], "kept": [3]}, {"id": 2}]}'
    stream = Stream("a.json", "samples", {"kept"})
    found = b"".join(stream.batches(chunks(10_000, message, begin, end)))
    assert found == b'[{"id": 1, "events": [], "kept": [3]}, {"id": 2}]'
    stream = Stream("a.json", "samples", {"events"})
    with pytest.raises(InputError, match=r"a\.json: an item has more than 10,000 bytes"):
        list(stream.batches(chunks(10_000, message, begin, end)))


def test_depth_and_ends_are_checked():
    with pytest.raises(InputError, match="nested more than 500 levels deep"):
        list(Stream("x", None, ()).batches([b"[" * 501]))
    for cut in (b'[{"a": 1}', b'[{"a": "]'):
        with pytest.raises(InputError, match="ends too early"):
            list(Stream("x", None, ()).batches([cut]))


def test_a_backslash_at_the_end_of_a_chunk_escapes_the_next():
    for text in (b'["\\\\", "\\"[\\\\\\"", {}]', b'["\\\\\\\\"]', b'["\\"]"]'):
        whole = Scanner().brackets(text)[0].tolist()
        scanner = Scanner()
        parts = [scanner.brackets(text[k : k + 1])[0] + k for k in range(len(text))]
        assert [place for part in parts for place in part.tolist()] == whole
        assert scanner.is_complete


def test_keys_at_the_top():
    head = b'\xef\xbb\xbf{"a": "{", "eval" : {"task": {"eval": []}}, "samples": [{"x'
    assert top_level(head) == {"eval": 23, "samples": 58}
    assert top_level(b"[{}]") == top_level(b"") == {}
