#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/image.sh IMAGE BOOTX64.EFI kernel.elf [key=value ...]
# Writes a GPT disk image with one EFI system partition that boots Cairn. It uses sgdisk and mtools, and needs no root.
# Put the image on a USB stick with 'dd if=build/cairn.img of=/dev/sdX bs=1M conv=fsync'; you can edit its \cairn.cfg on
# any machine. With save=esp it also has room for two logs of save.mib=. If REPORT is set and not empty, that EFI
# program is on it as \EFI\cairn\report.efi, for the firmware's "boot from file".
set -eu

[ $# -ge 3 ] || {
    echo "usage: tools/image.sh IMAGE BOOTX64.EFI kernel.elf [key=value ...]" >&2
    exit 2
}
image=$1 loader=$2 kernel=$3
shift 3

readonly LEAST=64            # MiB: FAT32, which all firmware reads, needs at least 65525 clusters
readonly LOG=64 LOG_MAX=512 # save.mib: its default, and the most it may be
readonly FIRST=2048          # the partition's first sector: 1 MiB
readonly BACKUP=2048         # sectors left at the end, more than the second GPT takes

# The last one counts, as in the kernel; what is no number there is refused by the kernel, and not by us.
mib=$LEAST save=off log=$LOG
for word; do
    case $word in
    save=*) save=${word#*=} ;;
    save.mib=*) log=${word#*=} ;;
    esac
done
case $log in ????????* | *[!0-9]* | '') log=$LOG ;; *) log=$((10#$log)) ;; esac
[ "$log" -ge 1 ] && [ "$log" -le $LOG_MAX ] || log=$LOG
[ "$save" != esp ] || mib=$((LEAST + 2 * log))
cluster=1 # sectors; larger ones where there are enough of them: less for slow firmware to look through
while [ $((cluster * 2 * LEAST)) -le $mib ]; do
    cluster=$((cluster * 2))
done

# The same files and options make the same image, byte by byte: its identifiers are a digest of them, and it has no date
# of its own.
export TZ=UTC SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800} # 1980-01-01: FAT knows nothing older
digest=$({ cat "$loader" "$kernel" ${REPORT:+"$REPORT"} && printf '%s\n' "$@"; } | sha256sum)
guid() { echo "${digest:$1:8}-${digest:$1+8:4}-4${digest:$1+12:3}-8${digest:$1+15:3}-${digest:$1+18:12}"; }

PATH=$PATH:/usr/sbin:/sbin # sgdisk is there, and not in every user's path
new=$image.new
trap 'rm -f "$new"' EXIT
rm -f "$new"
truncate -s "${mib}M" "$new"
last=$((mib * 2048 - BACKUP - 1))
sgdisk --clear --disk-guid "$(guid 0)" --new "1:$FIRST:$last" --typecode 1:ef00 --change-name 1:Cairn \
    --partition-guid "1:$(guid 32)" "$new" >/dev/null
at=$new@@$((FIRST * 512))
mformat -i "$at" -F -c "$cluster" -T "$((last - FIRST + 1))" -N "${digest:60:4}${digest:56:4}" -v CAIRN ::
mmd -i "$at" ::/EFI ::/EFI/BOOT
mcopy -i "$at" "$loader" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$at" "$kernel" ::/kernel.elf
[ -z "${REPORT:-}" ] || { mmd -i "$at" ::/EFI/cairn && mcopy -i "$at" "$REPORT" ::/EFI/cairn/report.efi; }
{
    printf '# Cairn: one option a line, see docs/reference/options.md\r\n'
    [ $# = 0 ] || printf '%s\r\n' "$@"
} | mcopy -i "$at" - ::/cairn.cfg
mv "$new" "$image"

# PE format, "Optional Header Data Directories": the size of the Certificate Table, of a PE32+ image; sbverify, where it
# is installed, has the signer's name.
number() { od -A n -t u4 -j "$1" -N 4 "$loader" | tr -d ' '; }
signed=$(($(number $(($(number 60) + 24 + 148)))))
if [ "$signed" = 0 ]; then
    signed="not signed"
else
    signer=$(sbverify --list "$loader" 2>/dev/null | sed -n 's/^ *- subject: *//p' | head -n 1) || signer=
    signed="signed${signer:+ by $signer}"
fi
echo "$image: $mib MiB, $signed, boots with: $*"
