#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes Debian packages of what is built, for the Debian or Ubuntu that this runs on: BUILD/cairn_VERSION_ARCH.deb and
# BUILD/qemu-ds_VERSION_ARCH.deb. Everything in them has the time of the commit, so that two clones make the same.
#
#     tools/deb.sh BUILD VERSION
set -eu
build=$1 version=$2
die() { echo "deb: $1" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || die "no $tool: install dpkg-dev (Debian packages are made on Debian or Ubuntu)"
done
arch=$(dpkg --print-architecture)
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    commit=$(tools/release/commit.sh)
    SOURCE_DATE_EPOCH=${commit#* }
fi
export SOURCE_DATE_EPOCH

# package NAME GOAL DEPENDS RECOMMENDS DESCRIPTION < the description's other lines
package() {
    local name=$1 goal=$2 depends=$3 root=$build/deb/$1 to=$build/${1}_${version}_$arch.deb files
    rm -rf "$root" && mkdir -p "$root/DEBIAN"
    MAKEFLAGS='' make --no-print-directory -o tools -o qemu-ds "$goal" B="$build" DESTDIR="$root" PREFIX=/usr >/dev/null
    install -D -m 644 LICENSE "$root/usr/share/doc/$name/copyright"
    find "$root/usr/share/man" -type f -exec gzip -9n {} + 2>/dev/null || true
    find "$root/usr/share/man" -type l -exec sh -c \
        'for l; do ln -s "$(readlink "$l").gz" "$l.gz" && rm "$l"; done' _ {} + 2>/dev/null || true
    mapfile -t files < <(find "$root/usr" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec sh -c \
        'for f; do head -c 4 "$f" | grep -q ELF && echo "$f"; done' _ {} +)
    strip --strip-unneeded "${files[@]}"
    mkdir -p "$build/deb/debian" && : >"$build/deb/debian/control" # dpkg-shlibdeps wants one
    depends=$depends$(cd "$build/deb" && dpkg-shlibdeps -O "${files[@]/#$build\/deb\//}" 2>/dev/null |
        sed -n 's/^shlibs:Depends=//p')
    {
        printf '%s\n' "Package: $name" "Version: $version" "Architecture: $arch" \
            "Maintainer: The Cairn project <cairn@localhost>" "Section: devel" "Priority: optional" \
            "Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)" "Depends: $depends" \
            ${4:+"Recommends: $4"} "Description: $5"
        sed 's/^/ /'
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    chmod -R u=rwX,go=rX "$root"
    dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$root" "$to" >/dev/null
    echo "$to"
}

package cairn install '' '' 'decoder for traces of the Cairn kernel' <<'END'
cairn decodes, checks and converts the traces that the Cairn kernel sends over
a serial line: context switches in ETW's compact form (PERFINFO_CCSWAP), and
records of Intel's Debug Store (PEBS and BTS). It also reads ETL files of
Windows.
END
package qemu-ds install-qemu-ds 'qemu-system-x86 (>= 1:11.1), python3, ' 'busybox-static, linux-perf' \
    'plugin that gives QEMU a Debug Store (PEBS, BTS, LBR)' <<'END'
With this plugin QEMU's own emulation (TCG) has the performance monitoring unit
of an Intel processor: counters, PEBS, BTS, LBR and their interrupts. Guests
use them as on the processor. What they count is exact; times are not measured.
qemu-ds-run runs QEMU with it. qemu-ds-guest boots a Linux there, made of this
machine's kernel and programs.
END
