#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes Debian packages of what is built, for the Debian or Ubuntu that this runs on: BUILD/NAME_VERSION_ARCH.deb of
# cairn, libcairn-pebs1, libcairn-pebs-dev, qemu-ds and, if it is built, cairn-grab; with `labs` of cairn-labs alone.
# Everything in them has the time of the commit, so that two clones make the same.
# XZ_LEVEL=0 compresses fast, for tests.
#
#     tools/deb.sh BUILD VERSION [labs]
set -eu
build=$1 version=$2
die() { echo "deb: $1" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || die "no $tool: install dpkg-dev (Debian packages are made on Debian or Ubuntu)"
done
arch=$(dpkg --print-architecture)
libdir=/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    commit=$(tools/release/commit.sh)
    SOURCE_DATE_EPOCH=${commit#* }
fi
export SOURCE_DATE_EPOCH

# package NAME GOAL DEPENDS RECOMMENDS DESCRIPTION < the description's other lines
package() {
    local name=$1 goal=$2 depends=$3 root=$build/deb/$1 to=$build/${1}_${version}_$arch.deb files
    rm -rf "$root" && mkdir -p "$root/DEBIAN"
    MAKEFLAGS='' make --no-print-directory -o all -o labs -o tools -o pebs -o qemu-ds -o grab "$goal" B="$build" \
        DESTDIR="$root" PREFIX=/usr LIBDIR="$libdir" >/dev/null
    install -D -m 644 LICENSE "$root/usr/share/doc/$name/copyright"
    find "$root/usr/share/man" -type f -exec gzip -9n {} + 2>/dev/null || true
    find "$root/usr/share/man" -type l -exec sh -c \
        'for l; do ln -s "$(readlink "$l").gz" "$l.gz" && rm "$l"; done' _ {} + 2>/dev/null || true
    mapfile -t files < <(find "$root/usr" -type f \( -path '*/bin/*' -o -path '*/build/cairn*' -o -name '*.so*' \) \
        -exec sh -c 'for f; do head -c 4 "$f" | grep -q ELF && echo "$f"; done' _ {} +)
    find "$root/usr" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +
    mkdir -p "$build/deb/debian" && : >"$build/deb/debian/control" # dpkg-shlibdeps wants one
    if [ ${#files[@]} != 0 ]; then
        strip --strip-unneeded "${files[@]}"
        depends=$depends$(cd "$build/deb" && dpkg-shlibdeps -O "${files[@]/#$build\/deb\//}" 2>/dev/null |
            sed -n 's/^shlibs:Depends=//p')
    fi
    if [ -e "$root$libdir/libcairn-pebs.so.1" ]; then
        echo 'libcairn-pebs 1 libcairn-pebs1' >"$root/DEBIAN/shlibs"
        echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
    fi
    {
        printf '%s\n' "Package: $name" "Version: $version" "Architecture: $arch" \
            "Maintainer: The Cairn project <cairn@localhost>" "Section: devel" "Priority: optional" \
            "Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)" ${depends:+"Depends: $depends"} \
            ${4:+"Recommends: $4"} "Description: $5"
        sed 's/^/ /'
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    chmod -R u=rwX,go=rX "$root"
    dpkg-deb --root-owner-group --uniform-compression -Zxz "-z${XZ_LEVEL:-6}" --build "$root" "$to" >/dev/null
    echo "$to"
}

if [ "${3:-}" = labs ]; then
    package cairn-labs install-labs "make, gcc, libc6-dev, python3, gnu-efi, qemu-system-x86, ovmf, " \
        'bubblewrap, curl, ca-certificates, xz-utils' 'course on PEBS: labs that run in QEMU' <<'END'
Each lab is a page to read, a file for your code, and a check that boots a
kernel in QEMU. "cairn-labs FOLDER" copies the course into a folder of yours,
where "make lab N=1" compiles your code alone: all else is compiled already.
END
    exit
fi
package cairn install-cairn '' '' 'decoder for traces of the Cairn kernel' <<'END'
cairn decodes, checks and converts the traces that the Cairn kernel sends over
a serial line: context switches in ETW's compact form (PERFINFO_CCSWAP), and
records of Intel's Debug Store (PEBS and BTS). It also reads ETL files of
Windows.
END
package libcairn-pebs1 install-pebs '' '' 'records of the Debug Store, field by field: shared library' <<'END'
libcairn-pebs decodes what a processor of Intel's writes into its Debug Store:
PEBS records of formats 0 to 6, those of architectural PEBS, BTS records, and
the DS area.
END
package libcairn-pebs-dev install-pebs-dev "libcairn-pebs1 (= $version)" '' \
    "records of the Debug Store, field by field: for development" <<'END'
The header and the archive of libcairn-pebs. A kernel can link the archive, too:
it needs no C library.
END
package qemu-ds install-qemu-ds 'qemu-system-x86 (>= 1:11.0), python3, ' 'busybox-static, linux-perf' \
    'plugin that gives QEMU a Debug Store (PEBS, BTS, LBR)' <<'END'
With this plugin QEMU's own emulation (TCG) has the performance monitoring unit
of an Intel processor: counters, PEBS, BTS, LBR and their interrupts. Guests
use them as on the processor. What they count is exact; times are not measured.
qemu-ds-run runs QEMU with it. qemu-ds-guest boots a Linux there, made of this
machine's kernel and programs. qemu-ds-perf runs perf there on a program of this
machine.
END
if [ ! -x "$build/cairn-grab" ]; then
    echo "deb: no package of cairn-grab: it needs clang and libbpf-dev ('make deps')" >&2
    exit 0
fi
package cairn-grab install-grab '' cairn 'recorder for the Debug Store of a running Linux' <<'END'
cairn-grab runs a command, and meanwhile reads, by BPF, the Debug Store that
Linux has set up for perf: PEBS records as the processor wrote them, and each
context switch with PebsIndex. It writes a log for cairn. It needs root, a
processor of Intel's, and Linux 5.8 or later with BTF.
END
