#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: score.sh OUT
# Counts the instructions of your encoder and of Cairn's, as tests/bench/run.sh does, and prints a line. Both get the
# same switches, so the two numbers can be compared.
set -eu
out=$1
switches=200000
sandbox=${LAB_SANDBOX:+"$(dirname "$0")/../sandbox.sh $out/score --"} # as in labs/run.sh

# count yours|cairn FUNCTION: instructions a switch, everything that FUNCTION calls included
count() {
    # shellcheck disable=SC2086 # words
    $sandbox valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect="$2" \
        "$out/score" "$1" $switches >"$out/score.txt" 2>&1 || { cat "$out/score.txt" >&2; exit 1; }
    awk -v n=$switches '/Collected *:/ { printf "%.1f", $NF / n }' "$out/score.txt"
}

if ! command -v valgrind >/dev/null; then
    echo "scoreboard: not measured: there is no valgrind: run 'make deps'"
    exit 0
fi
yours=$(count yours encoder_switch)
cairn=$(count cairn trace_ccswap_switch)
echo "scoreboard: $yours instructions a switch; Cairn's encoder: $cairn"
