"""In a real kernel: results show themselves, long work shows a bar, an interrupt harms nothing."""

import queue
import time
from contextlib import suppress

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

SECONDS = 60
"""For a cell, on a busy machine."""

BEGIN = """
import polars as pl, evalframe as ef
rows = range(11_000)
table = pl.LazyFrame(
    {
        "model": [row % 55 for row in rows],
        "person": [row // 55 for row in rows],
        "loss": [row * 7919 % 101 / 100 for row in rows],
        "confidence": [row * 104729 % 1009 / 1009 for row in rows],
    }
)
resample = ef.Bootstrap(cluster="person", n=20_000)
"""
DRAWS = "ef.evaluate(table, [ef.aurc(), ef.augrc()], by='model', resample=resample)"
SHARDS = """
slow = lambda rows: open({begun!r}, "w").close() or __import__("time").sleep(600)
ef.evaluate([table.map_batches(slow)] * 4, ef.aurc(), by="model", engine="processes:2")
"""


class Kernel:
    """A kernel, and what its cells show."""

    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3")

    def shown(self, code, interrupt_when=None):
        """The messages of a cell that is interrupted when they, so far, are as asked for."""
        cell, messages, now = self.client.execute(code), [], time.monotonic()
        again, end = now, now + SECONDS
        while time.monotonic() < end:
            if interrupt_when and time.monotonic() >= again and interrupt_when(messages):
                # On a busy machine a kernel loses one of some fifty interrupts: press again.
                again = time.monotonic() + 10
                self.manager.interrupt_kernel()
            with suppress(queue.Empty):
                message = self.client.get_iopub_msg(timeout=0.1)
                if message["parent_header"].get("msg_id") == cell:
                    messages.append(message["content"])
                    if message["content"].get("execution_state") == "idle":
                        return messages
        raise AssertionError(f"no end after {SECONDS} seconds: {messages}")

    def workers(self):
        """Processes that work for the kernel."""
        children = psutil.Process(self.manager.provisioner.pid).children()
        return [each for each in children if "resource_tracker" not in " ".join(each.cmdline())]


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    try:
        assert not errors(kernel.shown(BEGIN))
        yield kernel
    finally:
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel(now=True)


def errors(messages):
    return [each["ename"] for each in messages if "ename" in each]


def displayed(messages):
    """The data of the one result that a cell shows."""
    (data,) = [each["data"] for each in messages if "data" in each]
    return data


def stderr(messages):
    return "".join(each["text"] for each in messages if each.get("name") == "stderr")


def test_results_and_charts_show_themselves(kernel):
    data = displayed(kernel.shown("result = ef.evaluate(table, ef.aurc(), by='model'); result"))
    assert data["text/html"].count("<tr>") == 52
    assert "The first 50 rows" in data["text/plain"]
    assert "image/svg+xml" in displayed(kernel.shown("ef.plot.forest(result.head(3))"))


def test_an_interrupt_while_draws_are_made(kernel):
    messages = kernel.shown(DRAWS, interrupt_when=lambda so_far: "bootstrap: " in stderr(so_far))
    assert errors(messages) == ["KeyboardInterrupt"]
    assert not stderr(messages).split("\r")[-2].strip(), "the bar is gone"
    assert displayed(kernel.shown("result.collect().height")) == {"text/plain": "55"}


def test_an_interrupt_while_an_engine_works(kernel, tmp_path):
    begun = tmp_path / "begun"
    work = SHARDS.format(begun=str(begun))
    messages = kernel.shown(work, interrupt_when=lambda _: begun.exists())
    assert errors(messages) == ["KeyboardInterrupt"]
    assert kernel.workers() == []
    assert displayed(kernel.shown("table.collect().height")) == {"text/plain": "11000"}
