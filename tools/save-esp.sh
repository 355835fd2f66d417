#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/save-esp.sh STICK FILE COMMAND [WORD ...]
# Runs a machine that saves its log on its volume (save=esp), the disk image STICK as tools/image.sh makes it. Then it
# copies the log that is new there to FILE. Exits with the command's status.
set -u

[ $# -ge 3 ] || {
    echo "usage: tools/save-esp.sh STICK FILE COMMAND [WORD ...]" >&2
    exit 2
}
stick=$1@@1M file=$2
shift 2

logs() { # by name
    mdir -b -i "$stick" ::/ 2>/dev/null | LC_ALL=C sed -n 's,^::/\(cairn-[0-9]*\.log\)$,\1,p' | LC_ALL=C sort
}

before=$(logs)
trap : TERM # the machine is asked to end, and what it has saved by then counts
"$@"
status=$?
new=$(LC_ALL=C comm -13 <(echo "$before") <(logs) | tail -n 1)
if [ -n "$new" ] && mcopy -n -i "$stick" "::/$new" "$file" 2>/dev/null; then
    echo "esp: the saved log is \\$new of the machine's volume" >&2
fi
exit $status
