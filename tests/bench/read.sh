#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How fast a dump of workload.h's switches is read (read_dump.c), beside babeltrace2 on the CTF of the same switches
# and a plain decoder of the same batches in memory (plain.h): millions a second of the processor's time, on one core
# each, and of `cairn` on all there are by the clock. And how long `cairn export` to a database and to perf.data takes,
# by the clock.
#
#     tests/bench/read.sh BUILD
set -eu
build=$1 switches=4000000
log=$build/bench/read.log
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

"$build/bench/make-dump" $switches >"$log"
one=$(taskset -c "$core" "$build/bench/read-dump" "$log" $switches)
all=$("$build/bench/read-dump" "$log" $switches)
plain=$(taskset -c "$core" "$build/bench/read-dump" --plain "$log" $switches)
echo "$one $all $plain" | awk -v n=$switches '{
    printf "read.one_core %.2f Mswitches/s\n", n / $2 / 1e6
    printf "read.all_cores %.2f Mswitches/s\n", n / $4 / 1e6
    printf "read.private_peak %d kB\n", $6
    printf "read.plain %.2f Mswitches/s\n", n / $7 / 1e6
    printf "read.times_plain %.2f ratio\n", $7 / $2 }'
TIMEFORMAT=%R
for form in sqlite perf.data; do
    out=$build/bench/read.$form
    seconds=$({ time "$build/cairn" export --to $form "$log" -o "$out"; } 2>&1)
    echo "$form.seconds $seconds seconds"
    echo "$form.bytes $(wc -c <"$out") bytes"
    rm "$out"
done
if ! command -v babeltrace2 >/dev/null; then
    echo 'bench: no babeltrace2: nothing to compare with' >&2
    exit 0
fi
tests/bench/ctf.sh "$build" "$log" | awk -v cairn="$one" '{ print }
    $1 == "ctf.babeltrace2_seconds" { split(cairn, s, " "); printf "read.times_babeltrace2 %.1f ratio\n", $2 / s[2] }'
