"""What goes wrong on workers, as functions that they import."""

import os
import signal
import time
from pathlib import Path


def die(item):
    """End the process as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(mark, item):
    """Likewise, but only the first of all workers that gets here."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return item
    return die(item)


def linger(seconds, item):
    """Take long."""
    time.sleep(seconds)
    return item


def keep_writing(folder, item):
    """Write file after file."""
    for number in range(10_000):
        Path(folder, f"{item}-{number}").touch()
        time.sleep(0.01)
