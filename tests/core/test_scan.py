"""Delta tables and object stores, wherever a path can be."""

import subprocess
import sys
import urllib.request

import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import InputError
from evalframe.core.remote import RemotePath
from evalframe.core.scan import find, open_files, scan
from evalframe.jobs.cli import cli

ITEMS = pl.DataFrame({"who": ["a", "a", "b"], "score": [0.0, 1.0, 0.5]})
RECORDS = pl.DataFrame(
    {
        "item": range(20),
        "prediction": [0, 1] * 10,
        "label": [0, 1, 1, 0] * 5,
        "confidence": [k / 20 for k in range(20)],
    }
)
STORE = """
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
input()
"""


@pytest.fixture(scope="module")
def bucket():
    """A bucket of a local server that speaks S3."""
    server = subprocess.Popen(
        [sys.executable, "-c", STORE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        names = {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
        names |= {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
        names |= {"AWS_EC2_METADATA_DISABLED": "true"}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in names.items():
                patch.setenv(name, value)
            request = urllib.request.Request(f"{url}/bucket", method="PUT")
            urllib.request.urlopen(request).close()
            yield "s3://bucket"
    finally:
        server.communicate("\n", timeout=30)


def test_two_versions_of_a_delta_table(tmp_path):
    table = str(tmp_path / "items")
    ITEMS.write_delta(table)
    ITEMS.write_delta(table, mode="append")
    assert scan(table).collect().height == 6
    assert_frame_equal(scan(f"{table}@v0").collect(), ITEMS)
    [_, [file]] = open_files(find([table]))
    ITEMS.write_delta(table, mode="append")
    assert file.describe() == {"name": table, "version": 1, "rows": 6}, "as found, not as it is now"
    assert ef.evaluate(f"{table}@v1", ef.mean("score"))["n"].item() == 6
    with pytest.raises(InputError, match=r"items@v9 cannot be read as a Delta table"):
        scan(f"{table}@v9")


def test_an_object_store(bucket):
    for k, who in enumerate("ab"):
        shard = ITEMS.filter(who=who).drop("who")
        shard.write_parquet(f"{bucket}/hive/who={who}/part{k}.parquet")
    ITEMS.write_parquet(f"{bucket}/flat/1.parquet")
    ITEMS.write_ndjson(f"{bucket}/flat/items.jsonl")
    for name in ("hive", "flat/1.parquet", "flat/*.parquet", "**/1.parquet", "flat/items.jsonl"):
        table = scan(f"{bucket}/{name}").collect().select("who", "score")
        assert_frame_equal(table, ITEMS, check_row_order=False)
    result = ef.evaluate(f"{bucket}/hive", ef.mean("score"), by="who")
    assert_frame_equal(result, ef.evaluate(ITEMS, ef.mean("score"), by="who"))
    [file] = find([f"{bucket}/flat/1.parquet"])
    assert file.describe(digest=True).keys() == {"name", "bytes", "rows", "sha256"}
    with pytest.raises(InputError, match=r"no file or folder 's3://bucket/nothing'"):
        scan(f"{bucket}/nothing")
    with pytest.raises(InputError, match=r"no file matches 's3://bucket/\*.csv'"):
        scan(f"{bucket}/*.csv")


def test_a_delta_table_in_an_object_store(bucket):
    for _ in range(2):
        ITEMS.write_delta(f"{bucket}/delta", mode="append")
    assert scan(f"{bucket}/delta").collect().height == 6
    assert_frame_equal(scan(f"{bucket}/delta@v0").collect(), ITEMS)


def test_jobs_read_and_write_an_object_store(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RECORDS.write_parquet(f"{bucket}/items/0.parquet")
    RECORDS.write_parquet("items.parquet")
    run = CliRunner().invoke
    for source, target in (
        (f"{bucket}/items", f"{bucket}/out.parquet"),
        ("items.parquet", "out.parquet"),
    ):
        result = run(cli, ["selective", source, "--loss", "zero_one", "-o", target])
        assert result.exit_code == 0, result.output
    assert_frame_equal(scan(f"{bucket}/out.parquet").collect(), scan("out.parquet").collect())
    for target in ("out/", "report.md", "report.csv"):
        result = run(
            cli, ["selective", "items.parquet", "--loss", "zero_one", "-o", f"{bucket}/{target}"]
        )
        assert result.exit_code == 0, result.output
    assert {*map(str, RemotePath(bucket).files_below())} >= {
        "report.md",
        "report.csv",
        "out/metrics.parquet",
    }
    for target in ("items/9.parquet", "items/0.parquet"):
        result = run(
            cli, ["selective", f"{bucket}/items", "--loss", "zero_one", "-o", f"{bucket}/{target}"]
        )
        assert result.exit_code == 1
        assert "next time, by 's3://bucket/items'" in result.output
    result = run(
        cli, ["selective", "items.parquet", "--loss", "zero_one", "-o", "s3://nowhere/out.parquet"]
    )
    assert result.exit_code == 1
    assert "cannot write out.parquet: no bucket 's3://nowhere'" in result.output


def test_a_job_file_writes_into_the_folder_it_is_given(bucket, tmp_path):
    RECORDS.write_parquet(tmp_path / "items.parquet")
    job = 'family = "selective"\nloss.name = "zero_one"\nitems = ["items.parquet"]\noutput = "{}"\n'
    (tmp_path / "job.toml").write_text(job.format("out.csv"))
    (tmp_path / "other.toml").write_text(job.format(f"{bucket}/elsewhere.csv"))
    run = CliRunner().invoke
    result = run(cli, ["run", str(tmp_path / "job.toml"), "-o", f"{bucket}/run"])
    assert result.exit_code == 0, result.output
    assert RemotePath(bucket, "run/out.csv").is_file()
    result = run(cli, ["run", str(tmp_path / "other.toml")])
    assert result.exit_code == 1
    assert "outside of" in result.output


def test_logs_in_an_object_store(bucket, tmp_path):
    log, samples = tmp_path / "quiz.eval", tmp_path / "samples_sums_2026.jsonl"
    log.write_bytes(ef.logs.sample_log(samples=5))
    samples.write_text('{"doc_id": 7, "metrics": ["acc"], "acc": 1}\n')
    for path in (log, samples):
        RemotePath(bucket, "logs", path.name).write(path)
    there = ef.read_logs(f"{bucket}/logs", extra=["confidence"]).collect()
    assert set(there["log"]) == {f"{bucket}/logs/{path.name}" for path in (log, samples)}
    assert_frame_equal(
        there.drop("log"), ef.read_logs([log, samples], extra=["confidence"]).collect().drop("log")
    )
    assert ef.read_logs(f"{bucket}/logs/*.eval").collect().height == 20
    assert ef.log_report(f"{bucket}/logs")["samples"].to_list() == [10, 1]


def test_a_glob_leaves_out_no_part(tmp_path):
    ITEMS.write_parquet(tmp_path / "0.parquet")
    (tmp_path / "1.parquet").symlink_to(tmp_path / "absent")
    with pytest.raises(InputError, match=r"1\.parquet cannot be read \(No such file"):
        scan(f"{tmp_path}/*.parquet")
    (tmp_path / "1.parquet").unlink()
    (tmp_path / "1.parquet").mkdir()
    with pytest.raises(
        InputError, match=r"1\.parquet', which .* is a folder; name '.*1.parquet/\*'"
    ):
        scan(f"{tmp_path}/*.parquet")
    with pytest.raises(InputError, match=r"1\.parquet is a folder without a \.parquet file"):
        scan(tmp_path)
    ITEMS.write_parquet(tmp_path / "1.parquet" / "part.parquet")
    assert len(find([f"{tmp_path}/**/*.parquet"])) == 2
