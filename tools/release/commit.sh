#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints of which commit this source is, and when that was made: "ID SECONDS". In a source tarball, git archive has
# written it into commit.txt; in a clone, git knows it. In a clone, --clean fails where the source is not the commit's.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
die() { echo "release: $1" >&2; exit 1; }

read -r commit <"$here/commit.txt"
if [[ $commit != '$'* ]]; then # first: the tarball may be unpacked in a clone of something else
    echo "$commit"
    exit
fi
commit=$(git -C "$here" log -1 --format='%H %ct' 2>/dev/null) ||
    die "this is neither a clone nor a source tarball: which commit is it of?"
if [ "${1:-}" = --clean ]; then
    changed=$(cd "$here/../.." && git status --porcelain | sed -n '1s/^...//p')
    [ -z "$changed" ] || die "$changed is not committed (git status)"
fi
echo "$commit"
