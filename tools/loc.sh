#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the files of the main job, as docs/explain/reading.md lists them, with their numbers of lines and the sum.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC2046,SC2016 # our file names hold no spaces; the backquotes are the document's
wc -l $(sed -n '/^## The main job/,/^## Beside/s/^| `\([^`]*\)`.*/\1/p' docs/explain/reading.md) |
    awk '$2 == "total" { printf "%6d lines in %d files\n", $1, NR - 1; next } { printf "%6d %s\n", $1, $2 }'
