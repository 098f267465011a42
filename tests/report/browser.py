"""A headless browser, driven by Chromium's own protocol."""

import base64
import json
import re
import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--no-default-browser-check", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--remote-debugging-port=0", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
_PATIENCE = 30
"""Seconds until something that does not happen is an error."""


class Browser:
    """One tab: what it was told, and what it reported since it was last asked."""

    def __init__(self, socket):
        self._socket, self._number, self._events, self._session = socket, 0, [], {}
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        session = self.tell("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": session["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.tell(f"{domain}.enable")

    def tell(self, method, **params):
        """The answer to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._session}
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=_PATIENCE))
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._events.append(answer)

    def run(self, script, **options):
        """The value of an expression in the page."""
        told = {"returnByValue": True, "awaitPromise": True, **options}
        answer = self.tell("Runtime.evaluate", expression=script, **told)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script):
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + _PATIENCE
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}\n{self.complaints()}"
            time.sleep(0.02)
        return value

    def open(self, path, *, scripts=True):
        """Show a file: until its charts are drawn, or loaded without scripts."""
        self._events.clear()
        self.tell("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.tell("Page.navigate", url=path.as_uri())
        shown = "document.documentElement?.dataset.drawn" if scripts else "document.body?.innerText"
        return self.until(f"document.readyState == 'complete' && {shown}")

    def look(self, width, *, scheme="light", media="screen"):
        """The page at a width of the window, in light or dark, or on paper."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 640}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.tell("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path):
        """Write what the whole page looks like."""
        size = self.tell("Page.getLayoutMetrics")["cssContentSize"]
        clip = {**size, "height": min(size["height"], 16_000), "scale": 1}
        shot = self.tell("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        return [event["params"]["request"]["url"] for event in self._events_of("requestWillBeSent")]

    def complaints(self):
        """Errors and warnings since the page was opened."""
        called = self._events_of("consoleAPICalled")
        return [
            *self._events_of("exceptionThrown"),
            *self._events_of("entryAdded"),
            *(event for event in called if event["params"]["type"] in {"error", "warning"}),
        ]

    def _events_of(self, kind):
        return [e for e in self._events if e.get("method", "").endswith(f".{kind}")]


@contextmanager
def browser(folder):
    """A browser without a network whose profile is in a folder; a skip where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("no browser: apt-get install -y chromium")
    from websockets.sync.client import connect

    arguments = [found, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if address := re.search(r"DevTools listening on (ws://\S+)", line):
                    break
            with connect(address[1], max_size=None, compression=None) as socket:
                tab = Browser(socket)
                yield tab
                tab._session = {}
                tab.tell("Browser.close")
            process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
