# Drives a headless Chromium by selenium.
# SPDX-License-Identifier: Apache-2.0
"""Debian's packages chromium, chromium-driver and python3-selenium; nothing else is looked for or downloaded."""

import os
import shutil

NEEDED = {"chromium": "/usr/bin/chromium", "chromium-driver": "/usr/bin/chromedriver"}


def missing():
    """The Debian packages that are not installed."""
    packages = [package for package, program in NEEDED.items() if not shutil.which(program)]
    try:
        import selenium  # pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        packages.append("python3-selenium")
    return packages


class Browser:
    """One browser with one page. Every wait ends after `SECONDS`."""

    SECONDS = 60

    def __init__(self, folder, width, height):
        # pylint: disable=import-outside-toplevel
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        options.binary_location = NEEDED["chromium"]
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=%d,%d" % (width, height)):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(
            NEEDED["chromium-driver"], env=dict(os.environ, HOME=folder)))
        self.driver.set_script_timeout(self.SECONDS)
        self.driver.set_page_load_timeout(self.SECONDS)
        self.resize(width, height)

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def prefer(self, scheme):
        """`light` or `dark`, as the system would."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def close(self):
        self.driver.quit()

    def open(self, path, fragment=""):
        self.driver.get("about:blank")  # a new fragment alone would not load
        self.driver.get("file://%s%s" % (path, fragment))
        self.wait_for("document.body && document.body.dataset.ready === 'yes'")

    def errors(self):
        """What the console complains of since the last call."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def value(self, expression):
        """The value of a JavaScript expression, through JSON."""
        return self.driver.execute_script("return (%s);" % expression)

    def wait_for(self, expression):
        from selenium.webdriver.support.ui import WebDriverWait  # pylint: disable=import-outside-toplevel
        WebDriverWait(self.driver, self.SECONDS, poll_frequency=0.02).until(
            lambda _: self.value(expression), "found never true: %s" % expression)

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    def middle(self, selector):
        """The position in the window of the selector's first element, scrolled into view."""
        place = self.driver.execute_script("""
            const found = document.querySelector(arguments[0]);
            if (!found) return null;
            found.scrollIntoView({block: 'nearest'});
            const r = found.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2];""", selector)
        if place is None:
            raise LookupError("found nothing for %s in the page; expected an element" % selector)
        return place

    def _act(self, steps):
        # pylint: disable=import-outside-toplevel
        from selenium.webdriver.common.actions.action_builder import ActionBuilder
        builder = ActionBuilder(self.driver, duration=0)
        steps(builder.pointer_action)
        builder.perform()
        self.settle()

    def move(self, at):
        self._act(lambda mouse: mouse.move_to_location(round(at[0]), round(at[1])))

    def click_at(self, at):
        self._act(lambda mouse: mouse.move_to_location(round(at[0]), round(at[1])).pointer_down().pointer_up())

    def click(self, selector):
        self.click_at(self.middle(selector))

    def drag(self, start, end):
        self._act(lambda mouse: mouse.move_to_location(round(start[0]), round(start[1])).pointer_down()
                  .move_to_location(round(end[0]), round(end[1])).pointer_up())

    def wheel(self, at, by):
        # pylint: disable=import-outside-toplevel
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
        origin = ScrollOrigin.from_viewport(round(at[0]), round(at[1]))
        ActionChains(self.driver, duration=0).scroll_from_origin(origin, 0, by).perform()
        self.settle()

    def keys(self, *keys):
        """Presses keys, one after another: characters, names of selenium's Keys, or tuples with the held key first."""
        # pylint: disable=import-outside-toplevel
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        def code(key):
            return getattr(Keys, key) if len(key) > 1 and key.isupper() else key

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            if isinstance(key, tuple):
                chain.key_down(code(key[0])).send_keys(code(key[1])).key_up(code(key[0]))
            else:
                chain.send_keys(code(key))
        chain.perform()
        self.settle()

    def screenshot(self, path):
        self.settle()
        self.driver.save_screenshot(path)
