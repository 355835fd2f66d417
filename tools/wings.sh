#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/wings.sh BUILD: what each wing (tools/wings) adds to the kernel, as a table in Markdown. It leaves out one wing
# at a time, with the wings that need it. It stops if a kernel does not boot, or if `cairn check` fails on its dump.
# Lines are those that the kernel and its loader are compiled from (tools/loc.sh), bytes those of kernel.elf.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
kernel=$build/without # a folder for all of them
names=$(awk -F ' *[|] *' 'NF >= 4 { print $1 }' tools/wings)
whole=$(tr '\n' ' ' <<<"$names")

measure() { # names of wings: sets lines, bytes
    make --no-print-directory -s nucleus B="$build" NUCLEUS="$kernel" WITH="$*" >/dev/null
    lines=$(tools/loc.sh "$build" "$kernel" | awk '/ lines in / { print $1; exit }')
    bytes=$(stat -L -c %s "$kernel/kernel.elf")
}

boots() { # and passes
    local options=(seconds=300 switches=2000)
    grep -q /kernel/soft/ "$kernel/kernel.objects" || options+=(ds=off) # QEMU's processor has no Debug Store
    CAIRN_BUILD=$kernel ./run-qemu.sh --log "$kernel/log" --smp 2 "${options[@]}" >"$kernel/output" 2>&1 ||
        { cat "$kernel/output" >&2; exit 1; }
    "$build/cairn" check "$kernel/log" >"$kernel/output" || { cat "$kernel/output" >&2; exit 1; }
}

# shellcheck disable=SC2086 # a list
measure $whole
all_lines=$lines all_bytes=$bytes
echo '| left out | lines less | bytes less | what it is |'
echo '| --- | --- | --- | --- |'
for name in $names; do
    # shellcheck disable=SC2046
    measure $(awk -F ' *[|] *' -v out="$name" \
        'NF >= 4 && $1 != out && !index(" " $5 " ", " " out " ") { print $1 }' tools/wings)
    boots
    echo "| $name | $((all_lines - lines)) | $((all_bytes - bytes)) |" \
        "$(awk -F ' *[|] *' -v name="$name" '$1 == name { print $4 }' tools/wings) |"
done
measure
boots
echo "| all of them (WITH=) | $((all_lines - lines)) of $all_lines | $((all_bytes - bytes)) of $all_bytes | |"
