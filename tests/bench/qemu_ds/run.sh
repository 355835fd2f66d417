#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the plugin costs, as `name value unit` lines: times over those of the same QEMU without it. Modes take turns, and
# of all turns the least time counts: of a loop that of a run of about a millisecond, of a Linux boot (where deps-ds has
# brought a kernel) and of loops that one or four vCPUs share the processor time of QEMU.
#
#     tests/bench/qemu_ds/run.sh BUILD [TURNS]
set -eu
build=$1 turns=${2:-5}
qemu=$build/qemu11/qemu-system-x86_64
plugin=(-plugin "$build/qemu-ds.so,preset=icelake")
times=$build/bench/qemu_ds.txt # KIND MODE TIME..., a line for each turn
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

die() {
    echo "bench: qemu-ds: $1" >&2
    exit 1
}

# machine MODE ARGUMENT...; isa-debug-exit of a guest that is content: 33
machine() {
    local mode=$1 status=0
    shift
    case $mode in
        plain) ;;
        memory) set -- "${plugin[0]}" "${plugin[1]},memory=model" "$@" ;;
        *) set -- "${plugin[@]}" "$@" ;;
    esac
    timeout 300 "$qemu" -accel tcg -cpu max -m 512 -nodefaults -no-user-config -display none -no-reboot \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -chardev "file,id=console,path=$tmp/console" "$@" \
        </dev/null 2>"$tmp/errors" || status=$?
    [ $status = 33 ] ||
        die "$mode: status $status: $(cat "$tmp/errors"; tail -n 3 "$tmp/console")"
}

loops() { # mode
    local word=$1
    case $word in idle | memory) word=plain ;; esac # the guest's
    machine "$1" -device isa-debugcon,chardev=console,iobase=0xe9 -kernel "$build/bench/guest.bin" -append "$word"
    sed "s/ / $1 /" "$tmp/console" >>"$times"
}

# processor_time KIND MODE COMMAND...: a line of what that takes
processor_time() {
    local kind=$1 mode=$2 TIMEFORMAT='%U %S'
    shift 2
    { time "$@" 2>&3; } 3>&2 2>"$tmp/time"
    echo "$kind $mode $(awk '{ print $1 + $2 }' "$tmp/time")" >>"$times"
}

shared() { # mode, vCPUs
    processor_time "vcpus$2" "$1" machine "$1" -smp "$2" -device isa-debugcon,chardev=console,iobase=0xe9 \
        -kernel "$build/bench/guest.bin" -append "$1$2"
}

# A "newc" archive (Linux' Documentation/driver-api/early-userspace/buffer-format.rst): file $2 as /$1.
entry() {
    local size=0
    [ -z "$2" ] || size=$(wc -c <"$2")
    printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\0' \
        1 $((0100755)) 0 0 1 0 "$size" 0 0 0 0 $((${#1} + 1)) 0 "$1"
    head -c $(((4 - (110 + ${#1} + 1) % 4) % 4)) /dev/zero
    [ -z "$2" ] || cat "$2"
    head -c $(((4 - size % 4) % 4)) /dev/zero
}

# Linux' watchdog counts cycles from early in the boot on, where it finds a counter.
linux() { # mode
    local watchdog=0
    [ "$1" != counting ] || watchdog=1
    processor_time linux "$1" machine "$1" -serial chardev:console -kernel "$kernel" -initrd "$tmp/initramfs" \
        -append "console=ttyS0 quiet panic=-1 no_timer_check nmi_watchdog=$watchdog"
}

if [ ! -x "$qemu" ]; then
    echo "bench: qemu-ds: no QEMU 11 (make deps-ds): its figures are left out" >&2
    exit 0
fi
: >"$times"
kernel=$(find "$build/linux/root/boot" -name 'vmlinuz-6.*' 2>/dev/null | head -n 1)
[ -n "$kernel" ] || echo 'bench: qemu-ds: no Linux (make deps-ds): its boot is left out' >&2
{
    entry init "$build/bench/init"
    entry 'TRAILER!!!' ''
} >"$tmp/initramfs"
for ((turn = 0; turn < turns; turn++)); do
    for mode in {plain,idle,counting,pebs,bts,lbr,loads,memory}{,}; do # twice: some starts of QEMU are a fifth slower
        loops "$mode"
    done
    [ $((turn % 2)) = 1 ] || for mode in plain counting pebs; do
        shared $mode 1
        shared $mode 4
    done
    [ -z "$kernel" ] || [ $((turn % 2)) = 1 ] || for mode in plain idle counting memory; do
        linux $mode
    done
done

# A loop's line: KIND MODE PICOSECONDS INSTRUCTIONS RECORDS, an iteration's, the last two times 1000.
awk '
    !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
    $4 { instructions[$1] = $4 / 1000 }
    $5 { records[$1, $2] = $5 / 1000 }
    END {
        kinds = split("blocks calls linux vcpus1 vcpus4", kind)
        modes = split("idle counting pebs loads memory", mode)
        for (k = 1; k <= kinds; k++) {
            if (!((kind[k], "plain") in least))
                continue
            if (kind[k] in instructions)
                printf "qemu_ds.%s.plain %.3f ns_per_instruction\n", kind[k],
                    least[kind[k], "plain"] / instructions[kind[k]] / 1000
            else
                printf "qemu_ds.%s.plain %.2f seconds\n", kind[k], least[kind[k], "plain"]
            for (m = 1; m <= modes; m++)
                if ((kind[k], mode[m]) in least)
                    printf "qemu_ds.%s.%s %.2f times_plain\n", kind[k], mode[m],
                        least[kind[k], mode[m]] / least[kind[k], "plain"]
            if ((kind[k], "bts") in records)
                printf "qemu_ds.%s.bts %.3f microseconds_per_record\n", kind[k],
                    least[kind[k], "bts"] / records[kind[k], "bts"] / 1000000
            if ((kind[k], "lbr") in records)
                printf "qemu_ds.%s.lbr %.4f microseconds_per_branch\n", kind[k],
                    least[kind[k], "lbr"] / records[kind[k], "lbr"] / 1000000
        }
    }' "$times"
