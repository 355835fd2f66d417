#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the playground into one page that needs nothing else: pack.py WASM HTML CSS JS... writes it to standard
output. The same files give the same bytes."""

import base64
import sys
from pathlib import Path

# The browser itself sees to it that nothing is fetched from anywhere; 'wasm-unsafe-eval' lets it compile the model.
POLICY = ("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline' 'wasm-unsafe-eval'")
FIRST = ("machine.js", "make.js")  # what the other scripts use while they are loaded
LAST = "start.js"


def place(path):
    return FIRST.index(path.name) if path.name in FIRST else len(FIRST) + (path.name == LAST)


def main(wasm, html, css, *scripts):
    out = ['<!DOCTYPE html>\n<!-- make playground -->\n<html lang="en"><head><meta charset="utf-8">'
           f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<style>\n',
           Path(css).read_text(encoding="utf-8"), "</style>\n", Path(html).read_text(encoding="utf-8"),
           '<script type="application/octet-stream" id="wasm">',
           base64.b64encode(Path(wasm).read_bytes()).decode(), "</script>\n"]
    for path in sorted(map(Path, scripts), key=lambda path: (place(path), path.name)):
        out.append(f"<script>\n{path.read_text(encoding='utf-8')}//# sourceURL={path.name}\n</script>\n")
    sys.stdout.write("".join(out) + "</body></html>\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
