#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints one figure a line, `name value unit`, and writes them to BUILD/bench.json. With --gate: compares the figures
# that have a limit, which are sizes and counts of instructions and no times, prints PASS, FAIL or SKIP for each, and
# fails where one is beyond it; in continuous integration (CI is set) also where one cannot be counted because a tool
# is missing.
#
#     tests/bench/run.sh BUILD CC [--gate]
set -eu
build=$1 cc=$2 gate=${3:-}
bench=$build/bench/bench
work=$build/bench/workload.bin
lines=$build/bench/figures.txt
switches=4000000 # in it

# count FUNCTION CALLS COMMAND...: instructions a call, everything FUNCTION calls included
count() {
    function=$1 calls=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect="$function" \
        "$@" 2>"$build/bench/callgrind.log" >/dev/null || { cat "$build/bench/callgrind.log" >&2; return 1; }
    awk -v n="$calls" '/Collected *:/ { printf "%.2f", $NF / n; found = 1 } END { exit !found }' \
        "$build/bench/callgrind.log"
}
instructions() { count "$1" $switches "$bench" emit "$2" "$work"; }

figures() {
    "$bench" emit compact "$work"
    if [ -z "$gate" ]; then
        "$bench" emit full "$work"
        "$bench" emit items "$work"
        "$bench" time "$work"
        tests/bench/read.sh "$build"
        "$build/bench/pebs"
        tests/bench/start.py "$build"
        CAIRN_BUILD=$build ./run-qemu.sh --log "$build/bench/wire.log" --smp 4 workload=mix switches=20000 truth=1 \
            >/dev/null
        "$build/bench/wire" "$build/bench/wire.log"
        tests/bench/qemu_ds/run.sh "$build"
    fi
    command -v valgrind >/dev/null || return 0
    echo "ccswap.instructions_per_switch $(instructions trace_ccswap_switch compact) instructions"
    for kind in hook hook2; do
        echo "$kind.instructions_per_switch $(instructions trace_hub_switch $kind) instructions"
    done
    tests/bench/read_count.sh "$build"
    [ -n "$gate" ] && return 0
    echo "plain.instructions_per_switch $(instructions trace_full_switch full) instructions"
    echo "items.instructions_per_switch $(instructions trace_full_switch items) instructions"
    echo "hook3.instructions_per_switch $(instructions trace_hub_switch hook3) instructions"
    for kind in off sampled written; do
        for what in acquire release; do
            n=$(count bench_$what 100000 "$build/bench/bench-locks" $kind 100000)
            echo "spinlock.$kind.instructions_per_$what $n instructions"
        done
    done
}

figures >"$lines"
value() { awk -v n="$1" '$1 == n { print $2 }' "$lines"; }

if [ -z "$gate" ]; then
    cat "$lines"
    awk 'BEGIN { printf "{" } { printf "%s\n  \"%s\": %s", (NR > 1 ? "," : ""), $1, $2 } END { print "\n}" }' \
        "$lines" >"$build/bench.json"
    command -v valgrind >/dev/null || echo 'bench: no valgrind: no instruction counts' >&2
    exit 0
fi

# check NAME LIMIT
status=0
check() {
    v=$(value "$1")
    if awk -v v="$v" -v limit="$2" 'BEGIN { exit !(v != "" && v <= limit) }'; then
        echo "PASS: bench: $1 $v (limit $2)"
    else
        echo "FAIL: bench: $1 $v is over its limit of $2"
        status=1
    fi
}
check ccswap.bytes_per_switch 3.84
# unavailable NAME TOOL
unavailable() {
    if [ -n "${CI:-}" ]; then
        echo "FAIL: bench: $1: no $2: run 'make deps'"
        status=1
    else
        echo "SKIP: bench: $1: no $2: run 'make deps'"
    fi
}
version=$("$cc" -dumpfullversion 2>/dev/null || echo unknown)
if ! command -v valgrind >/dev/null; then
    unavailable instructions valgrind
    exit $status
fi
if ! "$cc" --version 2>/dev/null | head -n 1 | grep -qi gcc || [ "${version%%.*}" != 12 ]; then
    for name in ccswap hook hook2 read check dump; do
        echo "SKIP: bench: $name.instructions_per_switch: the limit is for gcc 12, this is $cc $version"
    done
else
    check ccswap.instructions_per_switch 35
    check hook.instructions_per_switch 42
    check hook2.instructions_per_switch 44
    check read.instructions_per_switch 260
    check check.instructions_per_switch 6400
    check dump.instructions_per_switch 800
fi
v=$(value read.babeltrace2_instructions_ratio)
if [ -z "$v" ]; then
    unavailable read.babeltrace2_instructions_ratio babeltrace2
elif awk -v v="$v" 'BEGIN { exit !(v >= 10) }'; then
    echo "PASS: bench: read.babeltrace2_instructions_ratio $v (at least 10)"
else
    echo "FAIL: bench: read.babeltrace2_instructions_ratio $v is below its limit of 10"
    status=1
fi
exit $status
