#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the playground into one page that needs nothing else: pack.py WASM HTML CSS... JS... writes it to standard
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


def text(path):
    return path.read_text(encoding="utf-8")


def main(wasm, html, *parts):
    parts = sorted(map(Path, parts), key=lambda path: (place(path), path.name))
    out = ['<!DOCTYPE html>\n<!-- make playground -->\n<html lang="en"><head><meta charset="utf-8">'
           f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<style>\n',
           *(text(path) for path in parts if path.suffix == ".css"), "</style>\n", text(Path(html)),
           '<script type="application/octet-stream" id="wasm">',
           base64.b64encode(Path(wasm).read_bytes()).decode(), "</script>\n",
           *(f"<script>\n{text(path)}//# sourceURL={path.name}\n</script>\n" for path in parts
             if path.suffix == ".js")]
    sys.stdout.write("".join(out) + "</body></html>\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
