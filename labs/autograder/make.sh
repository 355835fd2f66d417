#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: labs/autograder/make.sh FILE.zip N ...
# Makes an autograder for Gradescope that grades the labs N ...: this tree, setup.sh and run_autograder.
set -eu
[ $# -ge 2 ] || { echo "usage: labs/autograder/make.sh FILE.zip N ..." >&2; exit 2; }
zip=$(realpath -m "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/cairn"
if [ -e .git ]; then git ls-files; else tools/release/files.sh; fi | tar -c -T - | tar -x -C "$tmp/cairn"
cp labs/autograder/setup.sh labs/autograder/run_autograder "$tmp"
echo "$*" >"$tmp/labs"
rm -f "$zip"
(cd "$tmp" && python3 -m zipfile -c "$zip" ./*)
