#!/bin/sh
# SPDX-License-Identifier: MIT
# How fast a dump of workload.h's switches is read (read_dump.c), beside babeltrace2 on the CTF of the same switches:
# millions a second, on one core each, and `cairn` on all there are.
#
#     tests/bench/read.sh BUILD
set -eu
build=$1 switches=4000000
log=$build/bench/read.log ctf=$build/bench/read.ctf
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

"$build/bench/make-dump" $switches >"$log"

# rate NAME SECONDS
rate() { awk -v name="$1" -v s="$2" -v n=$switches 'BEGIN { printf "%s %.2f Mswitches/s\n", name, n / s / 1e6 }'; }

one=$(taskset -c "$core" "$build/bench/read-dump" "$log" $switches)
all=$("$build/bench/read-dump" "$log" $switches)
rate read.one_core "${one%% *}"
rate read.all_cores "${all%% *}"
echo "${all#*, }" | awk '{ printf "read.private_peak %d kB\n", $1 }'

if ! "$build/cairn" help export 2>&1 | grep -q '^ctf '; then
    echo 'bench: this cairn writes no CTF: nothing to give to babeltrace2' >&2
    exit 0
fi
if ! command -v babeltrace2 >/dev/null; then
    echo 'bench: no babeltrace2: nothing to compare with' >&2
    exit 0
fi
rm -rf "$ctf"
"$build/cairn" export --to ctf "$log" -o "$ctf"
least=
for _ in 1 2 3; do
    start=$(date +%s%N)
    taskset -c "$core" babeltrace2 -o dummy "$ctf"
    took=$(($(date +%s%N) - start))
    if [ -z "$least" ] || [ "$took" -lt "$least" ]; then
        least=$took
    fi
done
seconds=$(awk -v ns="$least" 'BEGIN { printf "%.4f", ns / 1e9 }')
rate read.babeltrace2 "$seconds"
awk -v cairn="${one%% *}" -v other="$seconds" 'BEGIN { printf "read.times_babeltrace2 %.1f ratio\n", other / cairn }'
rm -rf "$ctf"
