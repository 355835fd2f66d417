#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/boot-volume.sh FOLDER BUILD WRITABLE [key=value ...]
# Makes a volume that boots the loader and the kernel of BUILD with these options: FOLDER/esp, which QEMU shows as a
# read-only disk, or if WRITABLE is 1 the disk image FOLDER/stick. If KERNEL is set and not empty, it is the kernel
# instead of that of BUILD; if SCRIPT is, that file is on the volume as monitor.txt; if EFI is, the volume boots that
# EFI program, and nothing else is on it. On an error it prints one line and exits with 1.
# shellcheck disable=SC2015 # A && B || trouble is meant
set -u

trouble() {
    echo "$1"
    exit 1
}

folder=$1 build=$2 writable=$3 kernel=${KERNEL:-$2/kernel.elf}
shift 3
if [ -n "${EFI:-}" ]; then
    mkdir -p "$folder/esp/EFI/BOOT" && cp "$EFI" "$folder/esp/EFI/BOOT/BOOTX64.EFI" ||
        trouble "cannot write the boot volume in $folder"
    exit 0
fi
for file in "$build/BOOTX64.EFI" "$kernel"; do
    [ -r "$file" ] || trouble "$file is not there: run 'make'"
done
if [ "$writable" = 1 ]; then
    command -v mcopy >/dev/null && PATH=$PATH:/usr/sbin:/sbin command -v sgdisk >/dev/null ||
        trouble "save=esp needs a disk image, and that mtools and sgdisk: run 'make deps'"
    said=$("$(dirname "$0")/image.sh" "$folder/stick" "$build/BOOTX64.EFI" "$kernel" "$@" 2>&1) ||
        trouble "tools/image.sh: ${said##*$'\n'}"
    [ -z "${SCRIPT:-}" ] || mcopy -i "$folder/stick@@1M" "$SCRIPT" ::/monitor.txt || trouble "cannot copy $SCRIPT"
    exit 0
fi
mkdir -p "$folder/esp/EFI/BOOT" && cp "$build/BOOTX64.EFI" "$folder/esp/EFI/BOOT/" &&
    { [ -z "${SCRIPT:-}" ] || cp "$SCRIPT" "$folder/esp/monitor.txt"; } &&
    cp "$kernel" "$folder/esp/kernel.elf" && printf '%s\n' "$@" >"$folder/esp/cairn.cfg" ||
    trouble "cannot write the boot volume in $folder"
