#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the files of an unpacked source tarball: without what builds, tests and the documents' commands leave, which is
# what git would not take in a clone.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tar --create --no-wildcards-match-slash --exclude=.git --exclude-from=<(sed '/^#/d; s|^/|./|; s|/$||' .gitignore) . |
    tar --list | sed -n 's|^\./||; /[^/]$/p'
