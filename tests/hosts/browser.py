# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, spoken to over its debugging pipe: what it holds, clicks, keys and pictures of it."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe")


def require():
    if not PROGRAM:
        print("skipped: there is no Chromium; scripts/build.sh --hosts installs it")
        sys.exit(77)


class Page:
    """A file in a window of its own. `errors` collects what the page complained of."""

    def __init__(self, path, width=1280, height=900):
        self._profile = tempfile.TemporaryDirectory(prefix="meniscus-browser-", ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def descriptors():  # the browser reads from 3 and writes to 4
            high = (os.dup(to_read), os.dup(to_write))
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen([PROGRAM, *FLAGS, f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}",
                                          "about:blank"], preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._answers, self.errors = b"", 0, {}, []
        self._session = None
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.body && document.body.dataset.ready === 'yes'")

    def _listen(self, seconds):
        if b"\0" not in self._buffer:
            if not select.select([self._read], [], [], seconds)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise ConnectionError("the browser has ended")
            self._buffer += data
            return
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if "id" in message:
            self._answers[message["id"]] = message
        elif message["method"] == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif message["method"] == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])
        elif message["method"] == "Network.requestWillBeSent" and not message["params"]["request"]["url"].startswith(("file:", "data:")):
            self.errors.append(f"it asked the network for {message['params']['request']['url']}")

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while self._number not in self._answers:
            self._listen(end - time.monotonic())
        answer = self._answers.pop(self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def value(self, expression):
        """Of a line of JavaScript, as JSON has it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} does not come true; errors: {self.errors}")
            time.sleep(0.05)

    def place(self, selector):
        """The middle of an element, scrolled into view."""
        return self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
                          "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2, b.width, b.height]; })()")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        x, y, _, _ = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def drag(self, selector, by):
        x, y, _, _ = self.place(selector)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for k in range(1, 5):
            self.mouse("mouseMoved", x + by[0] * k / 4, y + by[1] * k / 4, button="left", buttons=1)
        self.mouse("mouseReleased", x + by[0], y + by[1], button="left", clickCount=1)

    def key(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key)

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pages_on_paper(self):
        """How many sheets it prints on."""
        data = base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
        return data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type/Page/")

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
        except (OSError, RuntimeError, TimeoutError):
            pass
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()
