# Drives a headless Chromium over its DevTools protocol.
# SPDX-License-Identifier: Apache-2.0
"""Speaks over a pair of pipes (--remote-debugging-pipe): messages are JSON, ended by a zero byte."""

import base64
import json
import os
import select
import subprocess
import time


class Browser:
    """One browser with one page. Every wait ends after `SECONDS`."""

    SECONDS = 60

    def __init__(self, folder, width, height):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def place_pipes():
            # Chromium reads descriptor 3 and writes 4; 10 and 11 do not conflict.
            os.dup2(to_read, 10)
            os.dup2(to_write, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        self._process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--user-data-dir=" + os.path.join(folder, "profile"),
             "--window-size=%d,%d" % (width, height), "--remote-debugging-pipe", "about:blank"],
            env=dict(os.environ, HOME=folder), preexec_fn=place_pipes, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._bytes = b""
        self._calls = 0
        self._session = None
        self.exceptions = []
        target = self._page()
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride",
                  width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _page(self):
        deadline = time.monotonic() + self.SECONDS
        while time.monotonic() < deadline:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
            time.sleep(0.05)
        raise TimeoutError("found no page in chromium; expected one")

    def close(self):
        os.close(self._to)  # which ends the browser
        os.close(self._from)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _receive(self):
        deadline = time.monotonic() + self.SECONDS
        while b"\0" not in self._bytes:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self._from, 1 << 16) if ready else b""
            if not chunk:
                raise TimeoutError("found no answer of chromium; expected one in %d s" % self.SECONDS)
            self._bytes += chunk
        message, self._bytes = self._bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._calls += 1
        request = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("method") == "Runtime.exceptionThrown":
                self.exceptions.append(message["params"]["exceptionDetails"])
            if message.get("id") != self._calls:
                continue
            if "error" in message:
                raise RuntimeError("%s: %s" % (method, message["error"]["message"]))
            return message["result"]

    def open(self, path, fragment=""):
        self.call("Page.navigate", url="about:blank")  # a new fragment alone would not load
        self.call("Page.navigate", url="file://%s%s" % (path, fragment))
        self.wait_for("document.body && document.body.dataset.ready === 'yes'")

    def value(self, expression):
        """The value of a JavaScript expression, through JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (expression, answer["exceptionDetails"]["text"]))
        return answer["result"].get("value")

    def wait_for(self, expression):
        deadline = time.monotonic() + self.SECONDS
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError("found never true: %s" % expression)
            time.sleep(0.02)

    def middle(self, selector):
        """The position in the window of the selector's first element."""
        place = self.value("""(() => {
            const found = document.querySelector(%s);
            if (!found) return null;
            const r = found.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2];
        })()""" % json.dumps(selector))
        if place is None:
            raise LookupError("found nothing for %s in the page; expected an element" % selector)
        return place

    def mouse(self, kind, at, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **more)

    def click(self, selector):
        at = self.middle(selector)
        self.mouse("mousePressed", at, button="left", clickCount=1)
        self.mouse("mouseReleased", at, button="left", clickCount=1)

    def drag(self, start, end):
        self.mouse("mousePressed", start, button="left", clickCount=1)
        self.mouse("mouseMoved", end, button="left", buttons=1)
        self.mouse("mouseReleased", end, button="left", clickCount=1)

    def wheel(self, at, by):
        self.mouse("mouseWheel", at, deltaX=0, deltaY=by)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press_enter(self):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter",
                      windowsVirtualKeyCode=13, text="\r" if kind == "keyDown" else "")

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
