#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the established reader takes for the CTF export of a log, on one core, as figures (`name value unit`):
#
#     tests/bench/ctf.sh BUILD LOG
#
# The time is babeltrace2's own on the processor, user and system, the least of three; its start is part of it, and too
# small to matter where there are millions of events.
set -euo pipefail
build=$1 log=$2
folder=$build/bench/ctf
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/') # one that it may use
mkdir -p "$build/bench"
"$build/cairn" export --to ctf "$log" -o "$folder"
events=$(babeltrace2 "$folder" -c sink.utils.counter -p 'step=+0,hide-zero=yes' |
    awk '$2 == "Event" { n = $1 } END { print n }')
TIMEFORMAT='%U %S'
least=$(for _ in 1 2 3; do
    { time taskset -c "$core" babeltrace2 -o dummy "$folder"; } 2>&1
done | awk '{ t = $1 + $2; if (!least || t < least) least = t } END { print least }')
echo "ctf.bytes $(cat "$folder"/cpu_* | wc -c) bytes"
echo "ctf.events $events events"
echo "ctf.babeltrace2_seconds $least s"
awk -v n="$events" -v t="$least" 'BEGIN { printf "ctf.babeltrace2_speed %.2f M events/s\n", n / t / 1e6 }'
rm -r "$folder"
