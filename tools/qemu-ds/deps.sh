#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A QEMU that takes the plugin build/qemu-ds.so: version 11.1, as DIR/qemu-system-x86_64. Where there is one in $PATH,
# or --qemu names one, that is a link to it. Else Debian's packages (packages.txt) are unpacked beside the system, which
# they do not touch: no root, any x86-64 Linux. Does nothing where all is there.
# shellcheck disable=SC2015 # 'A && B || die': die does not return, and running it when B fails is meant
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly VERSION=11.1
to=$(cd "$here/../.." && pwd)/build/qemu11 list=$here/packages.txt qemu=''
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

usage() {
    cat <<'END'
usage: tools/qemu-ds/deps.sh [--to DIR] [--qemu PATH] [--packages FILE]
  --to DIR         where it goes (build/qemu11)
  --qemu PATH      take this QEMU
  --packages FILE  what to unpack (packages.txt beside this script)
DEBIAN_MIRROR in the environment names another mirror than deb.debian.org.
END
}

die() {
    echo "deps-ds: $1" >&2
    exit 1
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --to | --qemu | --packages)
            [ $# -ge 2 ] || die "$1 needs a value (--help)"
            case $1 in --to) to=$2 ;; --qemu) qemu=$2 ;; --packages) list=$2 ;; esac
            shift
            ;;
        --help | -h)
            usage
            exit 0
            ;;
        *) die "unknown option $1 (--help)" ;;
        esac
        shift
    done
    [ -r "$list" ] || die "--packages $list: cannot be read"
}

version() { "$1" --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\.[0-9]*\).*/\1/p'; }

# Links the QEMU at $1, a full path, and is done.
take() {
    mkdir -p "$to" && ln -sf "$1" "$to/qemu-system-x86_64" || die "$to: cannot be written"
    exit 0
}

need() { # commands
    local missing=()
    for c in "$@"; do
        command -v "$c" >/dev/null || missing+=("$c")
    done
    [ ${#missing[@]} = 0 ] || die "install ${missing[*]}, or give a QEMU $VERSION by --qemu PATH"
}

# Fetches package $1 to file $2, from the mirror or, where that has gone on, from the archive of all it ever had.
fetch() {
    local base file=${1//+/%2B}
    for base in "$mirror" "$archive"; do
        if curl -fsSL --connect-timeout 20 --retry 2 -o "$2" "$base/$file" 2>"$new/error"; then
            return 0
        fi
        echo "${base#*//}: $(tail -n 1 "$new/error")" >>"$new/errors"
    done
    die "${1##*/}: cannot be fetched: $(paste -s -d ';' "$new/errors" | sed 's/;/; /g')"
}

# Unpacks package file $1 below root/. A .deb is an ar archive with a compressed tar in it.
unpack() {
    local member
    member=$(ar t "$1" | grep '^data\.tar') || return 1
    case $member in
    *.xz) ar p "$1" "$member" | xz -dc ;;
    *.zst) ar p "$1" "$member" | zstd -dcq ;;
    *) return 1 ;;
    esac | tar -x -C "$new/root" --exclude='./usr/share/doc' --exclude='./usr/share/locale'
    case "${PIPESTATUS[*]}" in *[1-9]*) return 1 ;; esac
}

# Everything goes into a folder of its own first: what is interrupted is begun anew.
unpack_all() {
    local sum path file total count=0
    need curl ar tar xz zstd sha256sum
    new=$to.new archive=$(sed -n 's/^archive //p' "$list")
    rm -rf "$new" && mkdir -p "$new/root" || die "$new: cannot be written"
    total=$(grep -c '^[0-9a-f]\{64\} ' "$list")
    echo "QEMU $VERSION: $total packages of Debian's, from $mirror into $to"
    while read -r sum path; do
        [ ${#sum} = 64 ] || continue # the comment, and the line of the archive
        file=$new/package.deb
        fetch "$path" "$file"
        echo "$sum  $file" | sha256sum --quiet -c >/dev/null 2>&1 ||
            die "${path##*/}: not the file packages.txt means: its SHA-256 differs"
        unpack "$file" || die "${path##*/}: cannot be unpacked"
        count=$((count + 1))
    done <"$list"
    [ $count = "$total" ] && [ $count != 0 ] || die "$list: lists no packages"
    rm -f "$new/package.deb" "$new/error" "$new/errors"
}

# The unpacked QEMU with its own loader, libraries and firmware; found from where the script is, so that the folder can
# be moved.
write_wrapper() {
    cat >"$new/qemu-system-x86_64" <<'END'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/root
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
    --argv0 "$0" "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
END
    chmod +x "$new/qemu-system-x86_64"
}

main() {
    parse "$@"
    if [ -n "$qemu" ]; then
        qemu=$(command -v "$qemu") || die "--qemu: there is no such program"
        [ "$(version "$qemu")" = $VERSION ] ||
            die "--qemu $qemu: version $(version "$qemu"), but the plugin needs $VERSION"
        take "$(readlink -f "$qemu")"
    fi
    if [ "$(version "$to/qemu-system-x86_64")" = $VERSION ]; then
        { [ -L "$to/qemu-system-x86_64" ] || cmp -s "$list" "$to/packages.txt"; } && exit 0
    fi
    qemu=$(command -v qemu-system-x86_64) && [ "$(version "$qemu")" = $VERSION ] && take "$(readlink -f "$qemu")"
    [ "$(uname -sm)" = 'Linux x86_64' ] ||
        die "Debian's packages run on x86-64 Linux: here give a QEMU $VERSION by --qemu PATH"
    unpack_all
    write_wrapper
    [ "$(version "$new/qemu-system-x86_64")" = $VERSION ] ||
        die "what is unpacked in $new does not run: $("$new/qemu-system-x86_64" --version 2>&1 | tail -n 1)"
    cp "$list" "$new/packages.txt"
    rm -rf "$to" && mv "$new" "$to" || die "$to: cannot be written"
}

main "$@"
