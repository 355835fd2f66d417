#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gradescope runs this once, as root, to make the machine of an autograder: it installs packages, and compiles nothing.
set -eu
cd "${AUTOGRADER:-/autograder}/source"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y --no-install-recommends ./cairn-labs_*.deb bubblewrap ca-certificates curl xz-utils
cairn-labs cairn
[ ! -e points.csv ] || install -D -m 644 points.csv cairn/tools/teacher/points.csv
[ ! -e keyring.gpg ] || export DEBIAN_KEYRING=$PWD/keyring.gpg
cairn/tools/qemu-ds/deps.sh --no-linux
