#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gets what the plugin build/qemu-ds.so and its tests need: DIR/qemu11/qemu-system-x86_64, a QEMU 11.1, and
# DIR/linux/root, the kernel and the programs of the Linux guest. The QEMU is a link if $PATH has one of that version,
# or if --qemu names one. All else comes from Debian's packages, which are unpacked into DIR and do not change the
# system: no root, any x86-64 Linux. Names are in qemu.txt and linux.txt; versions and checksums come from the mirror's
# indices, which are signed. Does nothing if everything exists. For `make test-clients` and `make test-lkvs` there is a
# root with more programs, too: DIR/NAME/root, of a list NAME.txt.
# shellcheck disable=SC2015 # 'A && B || die': die does not return, and running it when B fails is meant
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly VERSION=11.1 SUITES=(trixie trixie-updates trixie-security trixie-backports)
to=$(cd "$here/../.." && pwd)/build lists=$here qemu='' linux=1 more=''
archive=${DEBIAN_ARCHIVE:-https://snapshot.debian.org/archive}
keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

# Whether Debian's signatures can be checked here. If so it is of no matter how indices come.
signed() { command -v gpgv >/dev/null && [ -r "$keyring" ]; }

scheme=https
signed && scheme=http
mirror=${DEBIAN_MIRROR:-$scheme://deb.debian.org/debian}
security=${DEBIAN_SECURITY_MIRROR:-$mirror-security}

usage() {
    cat <<'END'
usage: tools/qemu-ds/deps.sh [--to DIR] [--qemu PATH] [--no-linux] [--lists DIR]
                             [--more LIST]
  --to DIR     where it goes (build)
  --qemu PATH  take this QEMU
  --no-linux   no Linux guest: the labs need none
  --lists DIR  of qemu.txt and linux.txt (beside this script)
  --more LIST  also DIR/NAME/root: Linux' with the packages of this list, NAME.txt
In the environment: DEBIAN_MIRROR, DEBIAN_SECURITY_MIRROR and DEBIAN_ARCHIVE
name others than deb.debian.org/debian, the former's own with -security and
snapshot.debian.org/archive; DEBIAN_KEYRING the keys of the indices.
END
}

die() {
    echo "deps-ds: $1" >&2
    exit 1
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --to | --qemu | --lists | --more)
            [ $# -ge 2 ] || die "$1 needs a value (--help)"
            case $1 in --to) to=$2 ;; --qemu) qemu=$2 ;; --lists) lists=$2 ;; --more) more=$2 ;; esac
            shift
            ;;
        --no-linux) linux='' ;;
        --help | -h)
            usage
            exit 0
            ;;
        *) die "unknown option $1 (--help)" ;;
        esac
        shift
    done
    [ -r "$lists/qemu.txt" ] && [ -r "$lists/linux.txt" ] || die "--lists $lists: has no qemu.txt and linux.txt"
    [ -z "$more" ] || [ -n "$linux" ] || die "--more adds to the Linux guest: not with --no-linux"
    [ -z "$more" ] || [ -r "$more" ] || die "--more $more: cannot be read"
}

version() { "$1" --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\.[0-9]*\).*/\1/p'; }

need() { # commands, each with its package in Debian
    local missing=()
    for c in "$@"; do
        command -v "${c%:*}" >/dev/null || missing+=("${c#*:}")
    done
    [ ${#missing[@]} = 0 ] || die "install ${missing[*]}"
}

# ---- the indices

# Fetches URL $1 to file $2.
fetch() {
    local why
    why=$(curl -fsSL --connect-timeout 20 --retry 2 -o "$2" "${1//+/%2B}" 2>&1) ||
        die "$1: cannot be fetched: $(grep -m 1 '^curl: ' <<<"$why" || echo "${why:-no reason}")" # advice follows
}

has_sum() { echo "$1  $2" | sha256sum --quiet -c >/dev/null 2>&1; } # checksum, file

# Leaves what is signed of file $1 in file $2. It may be signed by more keys than a keyring has: one is enough.
open_signed() {
    signed || { cp "$1" "$2" && return; }
    case $(gpgv --keyring "$keyring" --status-fd 1 --output "$2" "$1" 2>/dev/null) in
    *'] BADSIG '*) die "${1##*/}: its signature is wrong: the mirror is not Debian's" ;;
    *'] GOODSIG '*) ;;
    *'] EXPKEYSIG '* | *'] REVKEYSIG '*) die "${1##*/}: is signed by a key that is no longer good: update $keyring" ;;
    *'] NO_PUBKEY '*) die "$keyring: is older than Debian 13; DEBIAN_KEYRING=none goes without" ;;
    *) die "${1##*/}: is not signed: the mirror is not Debian's" ;;
    esac
}

mirror_of() { case $1 in *-security) echo "$security" ;; *) echo "$mirror" ;; esac }

# The index of suite $1 at mirror $2, checked, as file $indices/$1.
fetch_index() {
    local sum name=main/binary-amd64/Packages.xz
    fetch "$2/dists/$1/InRelease" "$indices/$1.InRelease"
    open_signed "$indices/$1.InRelease" "$indices/$1.Release"
    sum=$(sed -n "/^SHA256:/,/^[^ ]/s,^ \([0-9a-f]*\) *[0-9]* $name\$,\1,p" "$indices/$1.Release")
    [ -n "$sum" ] || die "$2: the index of $1 names no $name"
    fetch "$2/dists/$1/$name" "$indices/$1.xz"
    has_sum "$sum" "$indices/$1.xz" || die "$2: $name of $1 is not what its Release file says: try again later"
    xz -dc "$indices/$1.xz" >"$indices/$1" || die "$2: $name of $1 cannot be unpacked"
}

# What suite $1 at mirror $2 has of list $3: "name version checksum URL" for each, `name` as it stands in the list.
matches() {
    # shellcheck disable=SC2016 # awk's own variables
    awk -v suite="$1" -v mirror="$2" '
        function found(name) {
            if (suite !~ /-backports$/ || from[name] == "backports")
                print name, version, sum, mirror "/" path
        }
        FNR == NR {
            if ($1 !~ /^(archive|suite|#.*)?$/) { from[$1] = $2; if ($1 ~ /\[/) patterns[$1] }
            next
        }
        $1 == "Package:" { package = $2 }
        $1 == "Version:" { version = $2 }
        $1 == "Filename:" { path = $2 }
        $1 == "SHA256:" { sum = $2 }
        $1 == "" {
            if (package in from)
                found(package)
            for (p in patterns)
                if (package ~ "^(" p ")$")
                    found(p)
            package = ""
        }' "$3" <(cat "$indices/$1" && echo)
}

# The newest version of each package of list $1, as $indices/packages. Fails with a reason in $indices/why. A line
# `suite NAME` of the list adds a suite.
resolve() {
    local suite name wanted got suites
    mapfile -t suites < <(printf '%s\n' "${SUITES[@]}" && sed -n 's/^suite //p' "$1")
    for suite in "${suites[@]}"; do
        [ -r "$indices/$suite" ] || fetch_index "$suite" "$(mirror_of "$suite")"
    done
    for suite in "${suites[@]}"; do
        matches "$suite" "$(mirror_of "$suite")" "$1"
    done | sort -k 1,1 -k 2,2V | awk '$1 != last && NR > 1 { print line } { last = $1; line = $0 } END { print line }' \
        >"$indices/packages"
    while read -r name _ wanted; do
        case $name in '' | \#* | archive | suite) continue ;; esac
        got=$(awk -v name="$name" '$1 == name { print $2 }' "$indices/packages")
        # shellcheck disable=SC2254 # a pattern
        case $got in
        '') echo "$name is not there" >"$indices/why" && return 1 ;;
        ${wanted:-*}) ;;
        *) echo "$name is $got, not $wanted" >"$indices/why" && return 1 ;;
        esac
    done <"$1"
}

# The same with the archive's indices where the mirror's have gone on.
resolve_somewhere() {
    resolve "$1" && return
    local day
    day=$(sed -n 's/^archive //p' "$1")
    echo "deps-ds: $mirror: $(cat "$indices/why"): all from $archive of $day" >&2
    rm -f "$indices"/*
    mirror=$archive/debian/$day security=$archive/debian-security/$day
    resolve "$1" || die "$mirror: $(cat "$indices/why")"
}

# ---- the packages

# Unpacks package file $1 below root/. A .deb is an ar archive with a compressed tar in it. Of a kernel's modules only
# those of arch/x86/kernel are wanted: msr.
unpack() {
    ar p "$1" data.tar.xz | xz -dc | tar -x -C "$new/root" --exclude='./usr/share/doc' --exclude='./usr/share/locale' \
        --no-wildcards-match-slash --exclude='./usr/lib/modules/*/kernel/[!a]*' \
        --exclude='./usr/lib/modules/*/kernel/arch/x86/[!k]*' --exclude='./usr/lib/modules/*/kernel/arch/x86/kvm'
    case "${PIPESTATUS[*]}" in *[1-9]*) return 1 ;; esac
}

# Unpacks list $2 for folder $1, as $new, over a copy of folder $3 if there is one. Everything goes there first: what is
# interrupted is begun anew.
unpack_all() {
    local name sum url file
    need curl:curl ar:binutils tar:tar xz:xz-utils sha256sum:coreutils awk:mawk
    [ -d "$indices" ] || signed ||
        echo "deps-ds: no gpgv (install gpgv), or no $keyring (install debian-archive-keyring): \
signatures are not checked, $mirror is trusted" >&2
    new=$1.new file=$new/package.deb
    rm -rf "$new" && mkdir -p "$new" "$indices" || die "$new: cannot be written"
    if [ $# = 3 ]; then cp -al "$3/root" "$new"; else mkdir "$new/root"; fi || die "$new: cannot be written"
    resolve_somewhere "$2"
    echo "$(wc -l <"$indices/packages") packages of Debian's, from $mirror into $1"
    while read -r name _ sum url; do
        fetch "$url" "$file"
        has_sum "$sum" "$file" || die "${url##*/}: its SHA-256 is not what the index says"
        unpack "$file" || die "${url##*/}: cannot be unpacked"
    done <"$indices/packages"
    rm -f "$file"
    cp "$2" "$new/list"
}

finish() { rm -rf "$1" && mv "$new" "$1" || die "$1: cannot be written"; }

# ---- QEMU

# Links the QEMU at $1, a full path.
take() { mkdir -p "$to/qemu11" && ln -sf "$1" "$to/qemu11/qemu-system-x86_64" || die "$to/qemu11: cannot be written"; }

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

bring_qemu() {
    local there=$to/qemu11/qemu-system-x86_64 path
    if [ -n "$qemu" ]; then
        path=$(command -v "$qemu") || die "--qemu: there is no such program"
        [ "$(version "$path")" = $VERSION ] ||
            die "--qemu $path: version $(version "$path"), but the plugin needs $VERSION"
        take "$(readlink -f "$path")"
        return
    fi
    if [ "$(version "$there")" = $VERSION ]; then
        { [ -L "$there" ] || cmp -s "$lists/qemu.txt" "$to/qemu11/list"; } && return
    fi
    if path=$(command -v qemu-system-x86_64) && [ "$(version "$path")" = $VERSION ]; then
        take "$(readlink -f "$path")"
        return
    fi
    [ "$(uname -sm)" = 'Linux x86_64' ] ||
        die "Debian's packages run on x86-64 Linux: here give a QEMU $VERSION by --qemu PATH"
    unpack_all "$to/qemu11" "$lists/qemu.txt"
    write_wrapper
    [ "$(version "$new/qemu-system-x86_64")" = $VERSION ] ||
        die "what is unpacked in $new does not run: $("$new/qemu-system-x86_64" --version 2>&1 | tail -n 1)"
    finish "$to/qemu11"
}

# ---- Linux

# Newer packages have the kernel among its modules, and copy it to boot/ when they are installed.
install_kernels() {
    local kernel version
    for kernel in "$new"/root/usr/lib/modules/*/vmlinuz; do
        [ -e "$kernel" ] || continue
        version=${kernel%/vmlinuz}
        mkdir -p "$new/root/boot" && mv "$kernel" "$new/root/boot/vmlinuz-${version##*/}" ||
            die "$new: cannot be written"
    done
    rm -f "$new"/root/usr/lib/modules/*/modules.*
}

bring_linux() {
    [ -n "$linux" ] || return 0
    cmp -s "$lists/linux.txt" "$to/linux/list" && return
    unpack_all "$to/linux" "$lists/linux.txt"
    install_kernels
    finish "$to/linux"
}

bring_more() {
    [ -n "$more" ] || return
    local there=${more##*/}
    there=$to/${there%.txt}
    cat "$to/linux/list" "$more" | cmp -s - "$there/list" && return
    unpack_all "$there" "$more" "$to/linux"
    cat "$to/linux/list" "$more" >"$new/list"
    finish "$there"
}

main() {
    parse "$@"
    indices=$to/indices.new
    rm -rf "$indices"
    bring_qemu
    bring_linux
    bring_more
    rm -rf "$indices"
}

main "$@"
