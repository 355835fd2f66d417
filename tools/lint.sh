#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the style rules that a machine can check, on the files of the repository. Prints PASS, FAIL or SKIP for each;
# the places of a FAIL follow it.
set -u
shopt -s lastpipe # verdict, at the end of a pipe, sets `failed`
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

failed=0

verdict() { # name; the places are on standard input
    local places
    places=$(cat)
    if [ -z "$places" ]; then
        echo "PASS: lint: $1"
    else
        echo "FAIL: lint: $1"
        printf '%s\n' "$places"
        failed=1
    fi
}

files() { # patterns; outside a git checkout: all files that match
    if [ -e .git ]; then
        git ls-files -- "$@"
    else
        tools/release/files.sh | grep -E "$(printf '%s\n' "$@" |
            sed 's|\.|\\.|g; s|\*|.*|g; s|^|(^\|/)|; s|$|$|' | paste -s -d '|')"
    fi
}

sources=$(files '*.c' '*.h' '*.asm' '*.inc' '*.ld' '*.py' '*.sh' '*.mk' '*.js' '*.css' '*.html' Makefile .ci/run)
documents=$(files '*.md')
code=$(files '*.c' '*.h')

# shellcheck disable=SC2046,SC2086 # our file names hold no spaces
{
    awk 'FNR <= 3 && /SPDX-License-Identifier: MIT/ { ok[FILENAME] = 1 } { seen[FILENAME] = 1 }
         END { for (f in seen) if (!(f in ok)) print f }' $sources | verdict 'licence line at the top'
    {
        awk 'length > 120 { print FILENAME ":" FNR }' $sources
        awk 'FNR == 1 { code = 0 } /^```/ { code = !code } # tables and what programs print are as wide as they are
             !code && !/^\|/ && length > 120 { print FILENAME ":" FNR }' $documents
    } | verdict 'no line over 120 columns'
    awk 'FNR <= 60 && /Longer than 500 lines: / { told[FILENAME] = 1 } { lines[FILENAME] = FNR }
         END { for (f in lines) if (lines[f] > 500 && !(f in told)) print f ": " lines[f] }' \
        $(files '*.c' '*.h' '*.asm' '*.inc' '*.py' '*.sh') | verdict 'no file over 500 lines without a reason'
    awk '/[ \t\r]$/ { print FILENAME ":" FNR }' $sources | verdict 'no blanks at the end of a line'
    grep -nP '\t' $code | verdict 'no tabs in C'
    awk '/^#include ".*\.c"/ { if (!(ok = ok || /\*\/$/)) print FILENAME ":" FNR; next } { ok = /\*\/$/ }' \
        /dev/null $(files 'tests/unit/*.c') | verdict 'a unit test that includes a .c says why'
    printf '%s\n' $code | tools/names.py | verdict 'a public function says which file or folder it is of'
    tools/rooms.py includes | verdict 'includes go down the rooms of tools/rooms'
    # Releases of clang-format differ in what they make of one .clang-format: it is written for that of Debian 12.
    format=$(command -v clang-format-14 clang-format | head -n 1)
    release=$([ -z "$format" ] || "$format" --version | sed 's/.*version \([0-9]*\).*/\1/')
    if [ "$release" = 14 ]; then
        { "$format" --dry-run $code 2>&1 || echo ": error: clang-format fails"; } |
            awk -F: '/: warning:/ { print $1 ":" $2 } /error:/' | verdict 'layout is .clang-format'
    else
        echo "SKIP: lint: layout: clang-format is ${release:-not there}, the rule needs 14"
    fi
    if command -v shellcheck >/dev/null; then
        shellcheck run-qemu.sh .ci/run $(files '*.sh') | verdict 'shellcheck'
    else
        echo 'SKIP: lint: shellcheck is not installed'
    fi
}
exit $failed
