#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/loc.sh BUILD NUCLEUS [OBJECTS]: the lines of everything that the nucleus' kernel and its loader are compiled
# from, headers and assembler included, by folder; the same of OBJECTS, kernel and loader without any wing; then the
# files of the main job, as docs/explain/reading.md lists them.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 nucleus=$2 bare=${3-}
# What a compiler has read is in the .d file beside its object. Ours is what is neither made nor the system's.
sources() {
    echo "$1" | tr ' ' '\n' | sed 's/o$/d/' | xargs cat |
        tr ' ' '\n' | grep -E '\.(c|h|asm|inc|tsv)$' | grep -v "^/\|^$build/" | sort -u
}
echo '== nucleus: what its kernel and its loader are compiled from'
sources "$(cat "$nucleus/kernel.objects" "$nucleus/loader.objects")" | xargs wc -l |
    awk '$2 != "total" { sub("/[^/]*$", "", $2); lines[$2] += $1; all += $1; files++ }
    END { for (folder in lines) printf "%6d %s\n", lines[folder], folder | "sort -k 2"
          close("sort -k 2"); printf "%6d lines in %d files\n", all, files }'
[ -z "$bare" ] || sources "$bare" | xargs wc -l |
    awk '$2 == "total" { printf "%6d lines in %d files without any wing\n", $1, NR - 1 }'
echo '== the main job, in reading order'
# shellcheck disable=SC2046,SC2016 # our file names hold no spaces; the backquotes are the document's
wc -l $(sed -n '/^## The main job/,/^## Beside/s/^| `\([^`]*\)`.*/\1/p' docs/explain/reading.md) |
    awk '$2 == "total" { printf "%6d lines in %d files\n", $1, NR - 1; next } { printf "%6d %s\n", $1, $2 }'
