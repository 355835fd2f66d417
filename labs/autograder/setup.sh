#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gradescope runs this once, as root, to make the machine of an autograder: installs packages, and builds.
set -eu
cd "${AUTOGRADER:-/autograder}/source/cairn"
apt-get update -q
apt-get install -y --no-install-recommends make
make deps
make deps-ds
make all labs
