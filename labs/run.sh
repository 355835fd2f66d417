#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: labs/run.sh LAB OUT BUILD soft|hw
# Runs the lab of folder LAB, which `make lab` has built in OUT, and prints its verdicts. Each line of LAB/boots is a
# boot: the processor to be (option ds.preset, or the plugin's preset; after a comma, more options of the plugin), then
# options of run-qemu.sh and of the kernel. OUT/kernel.elf is the kernel, and OUT keeps the logs. If it is not there,
# BUILD's own kernel boots, and OUT/check, a program, judges the logs; they stay in BUILD/lab/LAB/boots, and serve again
# until the kernel or the boot changes. What a lab prints between `== file NAME.svg` and `== end` goes to that file in
# OUT instead of the terminal. With LAB_SANDBOX=1 the programs on the host run in labs/sandbox.sh. The check draws its
# numbers from LAB_SEED (1): the kernel of boot n gets seed=LAB_SEED+n-1. With hw, labs/judge.py compares the verdicts
# with what the plugin has seen. Exit status: 0 passed, 1 not passed, 3 the machine did not start, or nothing can be
# judged, 4 the verdicts are false.
set -u

lab=$1 out=$2 build=$3 ds=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly LIMIT=${LAB_TIMEOUT:-120} # seconds a boot may take
logs=()
export LAB_SEED=${LAB_SEED:-1}
[[ $LAB_SEED =~ ^[0-9]{1,9}$ ]] || { echo "SEED=$LAB_SEED: must be a number of at most 9 digits"; exit 3; }

show() { # hints are long lines; each piece of what the student's code prints has its mark
    awk '{ mark = /^\| / ? "| " : ""
           while (length($0) > 79) {
               n = match(substr($0, 1, 79), /.* /) && RLENGTH > 2 ? RLENGTH : 79
               piece = substr($0, 1, n); $0 = mark substr($0, n + 1)
               sub(/ *$/, "", piece); print piece
           }
           sub(/ *$/, ""); print }'
}

# Takes the pictures of the lab out of its output, into files of OUT. Code in ring 0 can print these lines, too: so a
# name has no folder, and is not that of another file in OUT, such as the truth.
keep_files() {
    awk -v out="$out" '
        /^== file [A-Za-z0-9-]+\.svg$/ { file = out "/" $3; printf "" >file; print "picture: " file; next }
        /^== end$/ && file { close(file); file = ""; next }
        file { print >file; next }
        { print }'
}

# Where the student's code, or what it called, has faulted, by source file and line.
say_panic() { # log
    local address
    tr -d '\r' <"$1" | sed -n '/^PANIC/,/^CR2/p' | show
    tr -d '\r' <"$1" | sed -n '/^PANIC/,/^FAIL/s/^  \(0xf[0-9a-f]*\) .*/\1/p' | while read -r address; do
        addr2line -f -p -s -e "$out/kernel.elf.full" "$address" | sed 's/ (discriminator.*//; s/^/  in /'
    done
    echo "FAIL: fault: the kernel stopped: above, where, the innermost function first"
    echo "hint: Your code, or the check with what your code returned, used memory that is not there." | show
    echo "read: the lab's task.h says where each pointer leads"
}

# The same of a check on the host: a sanitizer has reported it (labs/host/sanitizers.c), or a signal.
say_fault() { # exit status
    {
        echo "FAIL: memory: your code used memory that is not its own, or did what C does not define (status $1)"
        echo "hint: The report above names the file, the line and what happened. Look at how much memory the code" \
            "may use, and at the type, the range and the address of each value."
        echo "read: the lab's task.h says where each pointer leads, and how far"
    } | show
}

say_endless() { # machine or check
    echo "FAIL: time: the $1 has not come to its end in $LIMIT s"
    echo "hint: A loop of your code does not end, or waits for what does not come."
}

# Without a panic and without an end: the processor has met a fault, and could not even enter its handler.
say_reset() {
    {
        echo "FAIL: reset: the machine has reset itself in the middle of the lab"
        echo "hint: Your code has overwritten memory of the kernel, such as page tables or a stack. Look at loops" \
            "that write: where do they end?"
        echo "read: the lab's task.h says where each pointer leads, and how far"
    } | show
}

boot() { # log, processor, options
    local log=$1 truth=${1%.log}.truth machine=(ds=soft "ds.preset=${2%%,*}") status
    [ "$ds" = soft ] || # in QEMU's options a comma is written twice
        machine=(--qemu-ds "preset=$2${kernel:+,truth=${truth//,/,,},instructions=off}" ds=hw)
    shift 2
    rm -f "$log"
    [ ! -t 1 ] || printf 'booting, at most %s s ...\r' "$LIMIT"
    KERNEL=$kernel CAIRN_BUILD=$build "$here/run-qemu.sh" --warm --log "$log" --timeout "$LIMIT" "${machine[@]}" "$@" \
        >"$out/run.txt" 2>&1
    status=$?
    [ ! -t 1 ] || printf '\033[K'
    if [ $status = 2 ] || [ $status = 3 ]; then
        cat "$out/run.txt"
        exit 3
    fi
    sed -n 's/^warm  *no snapshot:/note: no snapshot:/p' "$out/run.txt" | show # this boot took longer
    [ -z "$kernel" ] ||
        tr -d '\r' <"$log" | sed -n '/^PANIC/q; /^lab [0-9]/,/^SUMMARY/{/^SUMMARY/!p}' | keep_files | show
    if grep -aq '^PANIC' "$log"; then
        say_panic "$log"
    elif [ $status = 124 ]; then
        say_endless machine
    elif [ -n "$kernel" ] && [ $status != 0 ] && ! grep -aq '^SUMMARY' "$log"; then
        say_reset
    elif [ -z "$kernel" ] && [ $status != 0 ]; then
        sed -n '/^verdict/,$p' "$out/run.txt"
    fi
    return $status
}

# A kernel without the student's code boots once: the log serves until that kernel or the options are others.
boot_once() { # number, processor, options
    local log=$build/lab/${lab##*/}/boots/$ds-$1.log status=0
    mkdir -p "${log%/*}"
    logs+=("$log")
    [ "$log.of" -nt "$build/kernel.elf" ] && [ "$(<"$log.of")" = "$*" ] && return
    boot "$log.$$" "${@:2}" || status=$?
    rm -f "$log.of"
    mv "$log.$$" "$log" # whoever else runs this lab now has a log of its own until here
    [ $status != 0 ] || echo "$*" >"$log.of"
    return $status
}

kernel=''
[ ! -e "$out/kernel.elf" ] || kernel=$out/kernel.elf
number=0 status=0
while read -r processor options && [ $status = 0 ]; do
    [ $((number++)) = 0 ] || [ -z "$kernel" ] || echo
    # shellcheck disable=SC2086 # words of options
    if [ -n "$kernel" ]; then
        seed=$((10#$LAB_SEED + number - 1))
        boot "$out/boot-$number.log" "$processor" $options "seed=$seed" </dev/null || status=1
        if [ $status = 0 ] && [ "$ds" = hw ]; then
            "$here/labs/judge.py" "$lab" $seed "${processor%%,*}" "$kernel.full" "$out/boot-$number."{log,truth} ||
                status=$?
            [ $status = 0 ] || [ $status = 4 ] || exit 3
        fi
    else
        boot_once $number "$processor" $options </dev/null || status=1
    fi
done < <(grep -v '^#' "$lab/boots")
if [ $status = 0 ] && [ -z "$kernel" ]; then
    sandbox=()
    [ -z "${LAB_SANDBOX-}" ] || sandbox=("$here/labs/sandbox.sh" "$out/check" "${logs[@]}" --)
    timeout "$LIMIT" ${sandbox[@]+"${sandbox[@]}"} "$out/check" "${logs[@]}" 2>&1 | keep_files | show
    status=${PIPESTATUS[0]}
    case $status in
    0 | 1 | 3) ;;
    124) say_endless check ;;
    *) say_fault "$status" ;;
    esac
fi
[ "$status" = 0 ] || { echo "lab ${lab##*/}: not passed yet"; exit $((status == 4 ? 4 : 1)); }
[ ! -e "$lab/score.sh" ] || "$lab/score.sh" "$out" || exit 1
[ "$ds" = soft ] && what="the model" || what="the processor's Debug Store"
echo "lab ${lab##*/}: passed ($number boot$([ $number = 1 ] || echo s), $what)"
