#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the files of the source: in a clone what git has, in an unpacked source tarball all but what builds, tests and
# the documents' commands leave, which is what git would not take.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ -e .git ]; then
    git ls-files
    exit
fi
tar --create --no-wildcards-match-slash --exclude=.git --exclude-from=<(sed '/^#/d; s|^/|./|; s|/$||' .gitignore) . |
    tar --list | sed -n 's|^\./||; /[^/]$/p'
