#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/stick.sh FOLDER IMAGE COMMAND [WORD ...]
# Makes the disk image IMAGE of a USB stick (FAT32, without partitions) with the files of FOLDER, runs COMMAND, and
# copies the files that are new on the stick, or have changed there, to FOLDER. Exits with the command's status.
# shellcheck disable=SC2015 # A && B || trouble is meant
set -u

[ $# -ge 3 ] || {
    echo "usage: tools/stick.sh FOLDER IMAGE COMMAND [WORD ...]" >&2
    exit 2
}
folder=$1 image=$2
shift 2
trouble() {
    echo "tools/stick.sh: $1" >&2
    exit 3
}

readonly LEAST=64 # MiB: FAT32 needs at least 65525 clusters; twice the files' size leaves room for more
command -v mcopy >/dev/null || trouble "there is no mcopy: run 'make deps'"
used=$(du -sm "$folder" | cut -f 1) || trouble "$folder cannot be read"
truncate -s "$((LEAST + 2 * used))M" "$image" && mformat -i "$image" -F -c 1 -v STICK :: ||
    trouble "$image cannot be made"
(cd "$folder" && [ -z "$(ls)" ] || mcopy -s -m -i "$image" ./* ::) || trouble "$folder cannot be copied to the stick"

"$@"
status=$?
found=$(mktemp -d) || trouble "no temporary directory"
trap 'rm -rf "$found"' EXIT
mcopy -s -n -m -i "$image" :: "$found" || trouble "the stick cannot be read"
while read -r file; do
    cmp -s "$found/$file" "$folder/$file" && continue
    mkdir -p "$(dirname "$folder/$file")" && cp "$found/$file" "$folder/$file" || trouble "cannot write $folder/$file"
    echo "stick    ${file#./} is new in $folder" >&2
done < <(cd "$found" && find . -type f | LC_ALL=C sort)
exit $status
