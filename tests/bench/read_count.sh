#!/bin/sh
# SPDX-License-Identifier: MIT
# Instructions a switch that reading a dump takes on one core, how many times as many babeltrace2 needs for the CTF of
# the same switches, those of `cairn dump`, and those of `cairn check` on a log with truth and PEBS records, as
# callgrind counts them: other load on the machine changes nothing. What programs do once, whatever the length, is left
# out: counted is how much more a longer dump takes.
#
#     tests/bench/read_count.sh BUILD
set -eu
build=$1 short=20000 long=60000
clean() {
    for n in "$short" "$long"; do
        rm -rf "$build/bench/$n.log" "$build/bench/$n.ctf" "$build/bench/$n.check.log"
    done
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
clean
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

count() { # COMMAND...
    taskset -c "$core" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>"$build/bench/callgrind.log" \
        >/dev/null || { cat "$build/bench/callgrind.log" >&2; return 1; }
    awk '/Collected *:/ { print $NF; found = 1 } END { exit !found }' "$build/bench/callgrind.log"
}

for n in "$short" "$long"; do
    "$build/bench/make-dump" "$n" >"$build/bench/$n.log"
    "$build/make_golden" large "$n" >"$build/bench/$n.check.log"
done
of_short=$(count "$build/bench/read-dump" "$build/bench/$short.log" $short 1)
of_long=$(count "$build/bench/read-dump" "$build/bench/$long.log" $long 1)
ours=$(((of_long - of_short) / ((long - short) / 100)))
echo "$ours" | awk '{ printf "read.instructions_per_switch %.2f instructions\n", $1 / 100 }'
of_short=$(count "$build/cairn" check "$build/bench/$short.check.log")
of_long=$(count "$build/cairn" check "$build/bench/$long.check.log")
echo "check.instructions_per_switch $(((of_long - of_short) / (long - short))) instructions"
of_short=$(count "$build/cairn" dump "$build/bench/$short.log")
of_long=$(count "$build/cairn" dump "$build/bench/$long.log")
echo "dump.instructions_per_switch $(((of_long - of_short) / (long - short))) instructions"
if command -v babeltrace2 >/dev/null; then
    for n in "$short" "$long"; do
        "$build/cairn" export --to ctf "$build/bench/$n.log" -o "$build/bench/$n.ctf"
    done
    of_short=$(count babeltrace2 -o dummy "$build/bench/$short.ctf")
    of_long=$(count babeltrace2 -o dummy "$build/bench/$long.ctf")
    echo "$((of_long - of_short)) $ours" | awk -v n=$(((long - short) / 100)) '{
        printf "read.babeltrace2_instructions_ratio %.1f ratio\n", $1 / n / $2 }'
fi
