# SPDX-License-Identifier: MIT
"""A headless Chromium for the tests of pages, driven over its DevTools protocol through a pipe."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Home": 36,
        "Tab": 9, "PageUp": 33, "PageDown": 34}


def found():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One browser with one page. What the page complains of, and whatever it asks the network for, is kept."""

    def __init__(self, width=1280, height=800, timeout=120):
        self.timeout = timeout
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.of, to_write = os.pipe()
        options = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--disable-background-networking", "--disable-dev-shm-usage", "--force-color-profile=srgb",
                   "--no-sandbox",  # root and containers have none; the pages are our own
                   f"--user-data-dir={self.profile.name}", "about:blank"]
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_read, to_write)]

        def connect():  # the protocol is on descriptors 3 and 4; all others close by themselves
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([found(), *options], preexec_fn=connect, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (*high, to_read, to_write):
            os.close(fd)
        self.rest, self.number, self.session = b"", 0, None
        self.events, self.complaints, self.requests = [], [], []
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in pages if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        self.profile.cleanup()

    # ---- the protocol ----

    def read(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.of], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.of, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser says nothing")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    # ---- the page ----

    def run(self, script):
        """What the expression is; a promise's result."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description"))
        return done["result"].get("value")

    def wait(self, condition, timeout=None):
        deadline = time.monotonic() + (timeout or self.timeout)
        while not self.run(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never: {condition}\n{self.complaints}")
            time.sleep(0.02)

    def open(self, path, hash_part=""):
        self.call("Page.navigate", url="about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.resolve().as_uri() + hash_part)
        self.wait("document.documentElement?.dataset.ready === 'yes'")
        self.settle()

    def settle(self):
        """Until the frame that is asked for has been drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefers(self, scheme, motion="no-preference"):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def tap(self, x, y):
        """By a finger."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def wheel(self, x, y, dy, dx=0):
        self.mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy)
        self.settle()

    def key(self, *keys):
        """One after another: "a", "ArrowUp", "Shift+ArrowUp"."""
        for name in keys:
            shift, key = "+" in name[1:], name.removeprefix("Shift+")
            about = {"key": key, "modifiers": 8 * shift}
            if key in KEYS:
                about |= {"windowsVirtualKeyCode": KEYS[key], "code": key}
            if len(key) == 1:
                about["text"] = key
            self.call("Input.dispatchKeyEvent", type="keyDown" if len(key) == 1 else "rawKeyDown", **about)
            self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in about.items() if k != "text"})
        self.settle()

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
