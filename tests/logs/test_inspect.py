"""Rules of reading Inspect's logs, each by a tiny log."""

import json
import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import EvalframeError, InputError, ParameterError, RunWarning
from evalframe.logs.inspect import archive as archives
from logs.made import HEADER, archive, document, members, sample, valued, zstandard


@pytest.fixture
def read(tmp_path):
    """Read a log from its bytes."""

    def rows(data, *columns, name="a.eval", **options):
        (tmp_path / name).write_bytes(data)
        table = ef.read_inspect(tmp_path / name, **options).collect()
        return table.select(columns).rows() if columns else table

    return rows


VALUES = [
    *(("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (False, 0.0), (7, 7.0)),
    *(("yes", 1.0), ("TRUE", 1.0), ("No", 0.0), (" 1 ", 1.0), ("1e-1", 0.1), ("-2", -2.0)),
    *(("1_0", 10.0), (math.nan, None), (None, None), (10**30, 1e30), (-0.0, -0.0)),
]
GARBAGE = ["c", "nan", "inf", "garbage", ""]


def test_values_become_the_numbers_that_inspect_takes(read):
    found = read(document(valued(*(value for value, _ in VALUES))), "score", name="a.json")
    assert [score for (score,) in found] == [number for _, number in VALUES]


def test_what_is_no_number_counts_zero_and_is_told(read, tmp_path):
    with pytest.warns(RunWarning, match=r"^5 scores of 1 log are no numbers and count 0\.0"):
        found = read(document(valued(*GARBAGE)), "score", name="a.json")
    assert found == [(0.0,)] * 5
    assert ef.log_report(tmp_path)["not_numbers"].to_list() == [5]


def test_objects_and_lists_are_a_score_for_each_part(read):
    values = ({"a": "C", "b": math.nan}, {"a": 0.5, "c": 2}, math.nan, None)
    found = read(document(valued(*values)), "score_name", "score", "value", name="a.json")
    by_name = {name: [row[1:] for row in found if row[0] == name] for name in "abc"}
    nothing = [(None, "NaN"), (None, "NaN")]
    assert by_name == {
        "a": [(1.0, '"C"'), (0.5, "0.5"), *nothing],
        "b": [(None, "NaN"), (None, None), *nothing],
        "c": [(None, None), (2.0, "2"), *nothing],
    }
    found = read(document(valued([1, "I"], [0.5])), "score_name", "score", name="b.json")
    assert found == [("0", 1.0), ("1", 0.0), ("0", 0.5), ("1", None)]


def test_every_sample_has_a_row_for_every_score(read):
    both = {"a": {"value": 1}, "b": {"value": "I"}}
    samples = [sample(1, scores=both), sample(2, scores={}), sample("2", 2, scores={"b": {}})]
    found = read(archive(members(samples)), "sample_id", "epoch", "scorer", "score", "value")
    assert found == [
        *(("1", 1, "a", 1.0, "1"), ("1", 1, "b", 0.0, '"I"')),
        *(("2", 1, "a", None, None), ("2", 1, "b", None, None)),
        *(("2", 2, "a", None, None), ("2", 2, "b", None, "NaN")),
    ]


def test_a_log_without_scores_has_the_scorers_of_its_header(read):
    told = {**HEADER["eval"], "scorers": [{"name": "x"}, {"name": "y"}, {"name": "x"}]}
    samples = [sample(1, scores=None, error={"message": "down"})]
    data = document(samples, eval=told)
    found = read(data, "scorer", "score", "is_error", "error", name="a.json")
    assert found == [(name, None, True, "down") for name in ("x", "y", "x1")]
    assert read(document(samples), "scorer", name="b.json") == [(None,)]
    assert read(document([]), name="c.json").is_empty()


def test_an_old_log_has_one_score_without_a_name(read):
    old = {"id": 1, "epoch": 1, "target": ["a", "b"], "score": {"value": "C"}}
    results = {
        "scorer": {"name": "match"},
        "metrics": {"accuracy": {"name": "accuracy", "value": 1}},
    }
    data = document([old], {"eval": {"task": "t"}}, results=results)
    row = read(data, "scorer", "score", "target", "log_id", "epoch", "uuid", name="old.json")
    assert row == [("match", 1.0, "a,b", "old", 1, None)]


@pytest.mark.parametrize("end", ["", "_epoch_1", "/ü 日本", "\ud83d"])
def test_ids_are_texts_and_members_are_found_whatever_is_in_them(read, end):
    number = f"q{end}".encode(errors="replace").decode()
    full = [sample(number, scores={"s": {"value": 1, "explanation": "long"}})]
    brief = [sample(number, scores={"s": {"value": 1, "explanation": "l..."}})]
    data = archive(members(full, summaries=brief))
    assert read(data, "sample_id", "explanation", extra="explanation") == [(number, "long")]


def test_the_later_record_counts(read, tmp_path):
    old, new = sample(1, scores={"s": {"value": "I"}}), sample(1, scores={"s": {"value": "C"}})
    files = [
        *(("_journal/start.json", HEADER), ("samples/1_epoch_1.json", old)),
        *(("_journal/summaries/2.json", [old]), ("_journal/summaries/10.json", [new])),
        *(("samples/1_epoch_1.json", new), ("_journal/summaries/1.json", [sample(2)])),
    ]
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = archive(files)
    found = read(data, "sample_id", "scorer", "score", "invalidated", extra="invalidated")
    assert ("1", "s", 1.0, False) in found
    assert ef.log_report(tmp_path).select("samples", "replaced").rows() == [(2, 1)]


def test_a_sample_without_a_summary_is_read_from_its_member(read):
    data = archive(members([sample(1), sample(2)], summaries=[sample(1)]))
    assert read(data, "sample_id", "score") == [("1", 1.0), ("2", 1.0)]


@pytest.mark.parametrize("frames", [1, 3])
def test_zstandard_members_of_several_frames(read, frames):
    files = members([sample(n, metadata={"k": "x" * 99}) for n in range(5)])
    expected = read(archive(files), metadata="k", extra="invalidated", name="a.eval")
    found = read(zstandard(files, frames), metadata="k", extra="invalidated", name="b.eval")
    assert_frame_equal(found.drop("log"), expected.drop("log"))


def test_sizes_beyond_32_bits(read, monkeypatch):
    """As zip files write them, here from ten bytes on."""
    files = members([sample(1)])
    expected = read(archive(files))
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", 10)
    monkeypatch.setattr("zipfile.ZIP_FILECOUNT_LIMIT", 1)
    data = archive(files)
    assert b"PK\x06\x06" in data
    assert_frame_equal(read(data), expected)


def test_long_summaries_are_read_in_parts(read, monkeypatch):
    data = archive(members([sample(n, metadata={"k": [n]}) for n in range(50)]))
    expected = read(data, metadata="k")
    monkeypatch.setattr("evalframe.logs.inspect.reading._LONG", 0)
    monkeypatch.setattr("evalframe.logs.inspect.reading.CHUNK", 0)
    monkeypatch.setattr("evalframe.logs.inspect.archive.CHUNK", 100)
    assert_frame_equal(read(data, metadata="k", extra="invalidated").drop("invalidated"), expected)


def test_a_key_that_occurs_twice_is_refused_where_it_would_lose_samples(read):
    data = document([sample(1)])
    for second in (b'"samples": []}', b'"samples": null}'):
        with pytest.raises(InputError, match=r"a\.json: it has (two lists|samples twice)"):
            read(data[:-1] + b", " + second, name="a.json")


def test_words_for_numbers_and_single_surrogates(read):
    text = document([sample(1, scores={"s": {"value": 1, "answer": "@"}}, total_time=0)])
    data = text.replace(b'"@"', b'"a\\ud83d"').replace(b'"total_time": 0', b'"total_time": NaN')
    ((answer, time),) = read(data, "answer", "total_time", name="a.json")
    assert (answer, math.isnan(time)) == ("a?", True)


METADATA = [
    ([1, 2, None], pl.Int64, [1, 2, None]),
    ([1, 2.5], pl.Float64, [1.0, 2.5]),
    ([True, None], pl.Boolean, [True, None]),
    (["a", "b"], pl.String, ["a", "b"]),
    ([1, "1"], pl.String, ["1", '"1"']),
    ([2**70, 1], pl.String, [str(2**70), "1"]),
    ([[1], {"a": None}], pl.String, ["[1]", '{"a": null}']),
]


@pytest.mark.parametrize(("values", "dtype", "expected"), METADATA)
def test_metadata_have_a_type_if_all_values_agree(tmp_path, values, dtype, expected):
    for n, value in enumerate(values):
        (tmp_path / f"{n}.json").write_bytes(document([sample(1, metadata={"k": value})]))
    column = ef.read_inspect(tmp_path, metadata=["k"]).select("metadata_k").collect().to_series()
    assert (column.dtype, column.to_list()) == (dtype, expected)


def test_metadata_that_the_summary_cut_or_lacks_are_read_from_the_sample(read):
    values = {"long": "x" * 2_000, "removed": ["y" * 2_000], "short": "s"}
    cut = {
        "long": "x" * 1_021 + "...",
        "removed": "Key removed from summary (> 1k)",
        "short": "s",
    }
    data = archive(members([sample(1, metadata=values)], summaries=[sample(1, metadata=cut)]))
    names = [f"metadata_{name}" for name in values]
    ((long, removed, short),) = read(data, *names, metadata=[*values])
    assert (long, json.loads(removed), short) == (*values.values(),)


def test_metadata_that_nothing_has_any_more_are_null(read):
    cut = {"removed": "Key removed from summary (> 1k)", "kept": 1}
    files = members([sample(1)], summaries=[sample(1, metadata=cut)])
    names = ("metadata_removed", "metadata_kept")
    for there in (files, {k: v for k, v in files.items() if not k.startswith("samples/")}):
        assert read(archive(there), *names, metadata=["removed", "kept"]) == [(None, 1)]


def test_choices_give_the_share_of_the_answer_among_letters(read):
    def token(text, logprob, **more):
        return {"token": text, "logprob": logprob, **more}

    def answered(letter, content, **entries):
        output = {"choices": [{"logprobs": {"content": content}}]}
        scores = {"s": {"value": "C", "answer": letter}}
        return sample(scores=scores, output=output, **entries)

    tops = [token("B", -1.0), token(" A", -2.0), token("A", -1.5), token("Z", -0.1)]
    content = [token("B", -9.0), token(" B", -1.0, top_logprobs=tops), token(".", -0.5)]
    letters = {"choices": ["x", "y", "z"]}
    samples = [
        answered("B", content, number=1, **letters),
        answered("C", content, number=2, **letters),
        answered("B", content, number=3),
        answered("B", [], number=4),
    ]
    extra = ("confidence", "logprob", "logprob_tokens")
    found = read(document(samples), *extra, "n_choices", name="a.json", extra=extra)
    share = math.exp(-1) / (math.exp(-1) + math.exp(-1.5))
    assert found[0] == (pytest.approx(share, rel=1e-14), -10.5, 3, 3)
    assert found[1] == (None, -10.5, 3, 3)
    assert found[2] == (pytest.approx(math.exp(-3.5)), -10.5, 3, None)
    assert found[3] == (None, None, None, None)


# What a query opens.


def opened(monkeypatch):
    """The members that are read from now on."""
    names = []
    read = archives.Archive.chunks
    monkeypatch.setattr(
        archives.Archive, "chunks", lambda self, name: names.append(name) or read(self, name)
    )
    return names


def test_a_query_opens_what_its_columns_need(tmp_path, monkeypatch):
    for model in "ab":
        header = {**HEADER, "eval": {**HEADER["eval"], "model": model}}
        (tmp_path / f"{model}.eval").write_bytes(archive(members([sample(1), sample(2)], header)))
    items = ef.read_inspect(tmp_path, extra="confidence", metadata=["k"])
    names = opened(monkeypatch)
    assert items.select("score").collect().height == 4
    assert names == ["header.json", "summaries.json"] * 2
    names.clear()
    assert items.filter(model="b").select("confidence", "model").collect().height == 2
    full = ["samples/1_epoch_1.json", "samples/2_epoch_1.json"]
    assert names == [*["header.json"] * 3, "summaries.json", *full]
    names.clear()
    assert items.head(1).select("score").collect().height == 1
    assert names == ["header.json", "summaries.json"]


def test_of_retries_the_newest_log_counts(tmp_path):
    for name, created, task in (
        ("a", "2026-01-01T20:28:13-04:00", "t"),  # 00:28 of the next day in UTC
        ("b", "2026-01-02T00:00:00+00:00", "t"),
        ("c", "", None),
    ):
        told = {**HEADER["eval"], "created": created, "task_id": task}
        (tmp_path / f"{name}.json").write_bytes(document([sample(uuid="u")], eval=told))
    assert ef.read_inspect(tmp_path).collect().height == 3
    newest = ef.read_inspect(tmp_path, retries="last").select("log").collect().to_series()
    assert [path[-6:] for path in newest] == ["a.json", "c.json"]
    assert ef.log_report(tmp_path)["copies"].to_list() == [0, 1, 1]
    with pytest.raises(ParameterError, match="retries must be one of"):
        ef.read_inspect(tmp_path, retries="first")


def test_summaries_that_break_off_are_told_so(read):
    files = members([sample(1), sample(2)])
    files["summaries.json"] = json.dumps([sample(1), sample(2)]).encode()[:-20]
    with pytest.raises(InputError, match=r"a\.eval.*: the JSON ends too early"):
        read(archive(files))


def test_a_log_may_claim_any_number_of_samples(tmp_path):
    (tmp_path / "a.json").write_bytes(document([sample()], results={"total_samples": 10**400}))
    assert ef.log_report(tmp_path).select("samples", "missing").rows() == [(1, 2**63 - 1)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_are_counted_where_the_query_counts_them(tmp_path, engine):
    for name in ("a", "b"):
        told = {**HEADER["eval"], "model": name}
        (tmp_path / f"{name}.json").write_bytes(document([*map(sample, range(4))], eval=told))
    items, is_b = ef.read_inspect(tmp_path), pl.col("model") == "b"
    for query, expected in (
        (items.filter(is_b).head(2), ["0", "1"]),
        (items.head(5).filter(is_b), ["0"]),
        (items.head(3).filter(pl.col("sample_id") != "1"), ["0", "2"]),
        (items.head(6).filter(is_b).head(1), ["0"]),
        (items.slice(3, 2).filter(is_b), ["0"]),
    ):
        assert query.collect(engine=engine)["sample_id"].to_list() == expected


# What is broken or hostile.


def test_a_broken_log_in_a_folder_is_skipped_with_a_warning_and_listed(tmp_path):
    whole = archive(members([sample(1)]))
    for name, data in {"a.eval": whole, "b.eval": whole[:-30], "c.eval": b"", "d.txt": b""}.items():
        (tmp_path / name).write_bytes(data)
    with pytest.warns(RunWarning, match=r"^2 logs are skipped: .*c\.eval.*b\.eval"):
        assert ef.read_inspect(tmp_path).collect().height == 1
    report = ef.log_report(tmp_path)
    assert report.filter(pl.col("skipped").is_not_null()).height == 2
    with pytest.raises(InputError, match=r"c\.eval"):
        ef.read_inspect(tmp_path, strict=True)
    (tmp_path / "c.eval").unlink()
    with pytest.raises(InputError, match=r"b\.eval: the zip file has no complete directory"):
        ef.read_inspect(tmp_path, strict=True).collect()


def bomb():
    """A member that inflates to a thousand times its size and more."""
    return archive({**members([]), "summaries.json": b" " * (archives.DENSE * 2)})


DEEP = b'[{"id": 1, "metadata": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]"
BROKEN = {
    "bomb": (bomb, r"'summaries\.json': it would have 134,217,728 bytes"),
    "deep": (lambda: archive({**members([]), "summaries.json": DEEP}), "nested too deeply"),
    "no header": (lambda: archive({"_journal/x.json": {}}), r"neither header\.json nor a journal"),
    "no task": (lambda: archive(members([], {"eval": {}})), "missing required field `task`"),
    "not a list": (
        lambda: archive({**members([]), "summaries.json": {"id": 1}}),
        "must be an object",
    ),
    "no object": (lambda: archive({**members([]), "summaries.json": [1]}), "must be an object"),
    "id": (lambda: archive(members([sample([1])])), r"sample \[1\].*`\$\.id`"),
    "epoch": (lambda: archive(members([sample(epoch="x")])), r"sample 1\b.*`\$\.epoch`"),
    "scores": (lambda: archive(members([sample(scores=[1])])), r"sample 1\b.*`\$\.scores`"),
    "cut": (
        lambda: archive(members([sample(1)])).replace(b"PK\x01\x02", b"PK\x09\x09"),
        "directory",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_hostile_content_is_an_error_that_names_file_and_sample(read, name):
    made, told = BROKEN[name]
    with pytest.raises(InputError, match=rf"(?s)a\.eval.*{told}"):
        read(made(), "score", "metadata_k", metadata=["k"])


def test_an_encrypted_member_is_refused(read):
    data = archive(members([sample(1)]))
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(b"summaries.json"))
    flagged = data[: place + 8] + b"\1" + data[place + 9 :]
    with pytest.raises(InputError, match=r"'summaries\.json': it is encrypted"):
        read(flagged)


def test_names_in_an_archive_are_never_paths(read, tmp_path):
    files = {**members([sample(1)]), "../../evil.json": b"{}", "samples/../x_epoch_1.json": b"{"}
    files |= {f"samples/1_epoch_{'1' * 5_000}.json": b"{", "_journal/summaries/x.json": b"{"}
    with pytest.raises(EvalframeError, match=r"samples/\.\./x_epoch_1\.json"):
        read(archive(files))
    assert [path.name for path in tmp_path.iterdir()] == ["a.eval"]


def test_paths_that_are_no_logs(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        ef.read_inspect(tmp_path / "x.eval")
    with pytest.raises(InputError, match="no logs of inspect in"):
        ef.read_inspect(tmp_path)
    (tmp_path / "x.json").write_text('{"evals": {"task": 1}}')
    with pytest.raises(InputError, match=r"x\.json is no log of inspect"):
        ef.read_inspect(tmp_path / "x.json")
    with pytest.raises(EvalframeError, match="Did you mean 'confidence'"):
        ef.read_inspect(tmp_path, extra=["confidense"])
