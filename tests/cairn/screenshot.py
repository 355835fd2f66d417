# SPDX-License-Identifier: MIT
"""The picture of the README: a page of `cairn export --to html`, a record chosen in it, one of its fields lit up."""

import sys
from pathlib import Path

import browser

VIEW = "#from=1.0&to=2.3&record=36"  # of samples/plain.log: both buffers fill up, and are drained
FIELD = "document.querySelector('[data-name=EventingIP]').focus()"


def main(page, picture):
    if not browser.found():
        sys.exit("screenshot: no Chromium: run 'make deps'")
    with browser.Browser(1280, 800) as chromium:
        chromium.prefers("light")
        chromium.open(Path(page), VIEW)
        chromium.run(FIELD)
        chromium.settle()
        if chromium.complaints:
            sys.exit(f"screenshot: {chromium.complaints}")
        chromium.picture(Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
