#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: labs/autograder/make.sh PACKAGE FILE.zip N ...
# Makes an autograder for Gradescope that grades the labs N ...: setup.sh, run_autograder, the points of the teacher's
# kit if they are here, and PACKAGE, a cairn-labs that was made on Debian 12, as that of a release: the images of
# Gradescope are of Ubuntu 22.04 and later. Debian's keys are for QEMU 11.1: Ubuntu's package of them may be too old.
set -eu
die() { echo "make.sh: $1" >&2; exit 2; }
[ $# -ge 3 ] || die "usage: labs/autograder/make.sh PACKAGE FILE.zip N ..."
package=$1 zip=$(realpath -m "$2") here=$(dirname "${BASH_SOURCE[0]}")
shift 2
[[ ${package##*/} = cairn-labs_*.deb && -r $package ]] ||
    die "$package: is no package cairn-labs_VERSION_ARCH.deb: take that of a release, or 'make deb-labs' makes it"
for number in "$@"; do
    [[ $number =~ ^[1-9][0-9]?$ ]] || die "there is no lab $number"
    compgen -G "$here/../$(printf %02d "$number")-*/lab.c" >/dev/null || die "there is no lab $number"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$here"/{setup.sh,run_autograder} "$package" "$tmp"
keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
[ ! -r "$keyring" ] || cp "$keyring" "$tmp/keyring.gpg"
[ ! -r "$here/../../tools/teacher/points.csv" ] || cp "$here/../../tools/teacher/points.csv" "$tmp"
echo "$*" >"$tmp/labs"
rm -f "$zip"
(cd "$tmp" && python3 -m zipfile -c "$zip" ./*)
