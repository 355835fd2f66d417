#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/image.sh IMAGE BOOTX64.EFI kernel.elf [key=value ...]
# Writes a GPT disk image with one EFI system partition that boots Cairn, without root: sgdisk and mtools. Put it on a
# USB stick with 'dd if=build/cairn.img of=/dev/sdX bs=1M conv=fsync'; its \cairn.cfg can be edited on any machine.
set -eu

[ $# -ge 3 ] || {
    echo "usage: tools/image.sh IMAGE BOOTX64.EFI kernel.elf [key=value ...]" >&2
    exit 2
}
image=$1 loader=$2 kernel=$3
shift 3

readonly MIB=64         # FAT32, which all firmware reads, needs at least 65525 clusters
readonly FIRST=2048     # the partition's first sector: 1 MiB
readonly CLUSTER=1      # sectors
readonly BACKUP=2048    # sectors left at the end, more than the second GPT takes

PATH=$PATH:/usr/sbin:/sbin # sgdisk is there, and not in every user's path
new=$image.new
trap 'rm -f "$new"' EXIT
rm -f "$new"
truncate -s "${MIB}M" "$new"
last=$((MIB * 2048 - BACKUP - 1))
sgdisk --clear --new "1:$FIRST:$last" --typecode 1:ef00 --change-name 1:Cairn "$new" >/dev/null
at=$new@@$((FIRST * 512))
mformat -i "$at" -F -c "$CLUSTER" -T "$((last - FIRST + 1))" -v CAIRN ::
mmd -i "$at" ::/EFI ::/EFI/BOOT
mcopy -i "$at" "$loader" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$at" "$kernel" ::/kernel.elf
{
    printf '# Cairn: one option a line, see docs/options.md\r\n'
    [ $# = 0 ] || printf '%s\r\n' "$@"
} | mcopy -i "$at" - ::/cairn.cfg
mv "$new" "$image"
echo "$image: $MIB MiB, boots with: $*"
