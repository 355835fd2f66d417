#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what build, run and test need. It looks for the commands and headers themselves, so it does nothing if they
# exist, whoever installed them. On Debian and Ubuntu it installs what is missing; elsewhere it names the packages and
# fails.
#
#     tools/deps.sh [build | tools | prove]     build: without what only the tests need, such as a browser
#                               tools: the host's programs and Debian packages of them, without the kernel
#                               prove: only what `make prove` needs
set -u
what=${1:-all}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

PATH=$PATH:/usr/sbin:/sbin # sgdisk is there, and not in every user's path

on_path() { command -v "$1" >/dev/null; }
header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | "${CC:-gcc}" -E -x c - >/dev/null 2>&1; }
efi_there() { [ -r /usr/include/efi/efi.h ] || [ -r /usr/local/include/efi/efi.h ]; }
fuzzer_there() {
    echo 'int LLVMFuzzerTestOneInput(const char *p, long n) { return p == 0 && n; }' |
        clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null
}
python_with() { # modules
    local p
    for p in python3 /usr/bin/python3; do
        "$p" -c "import $1" 2>/dev/null && return 0
    done
    return 1
}
pytest_there() { python_with pytest; }
xdist_there() { python_with pytest,xdist; }
bt2_there() { /usr/bin/python3 -c 'import bt2' 2>/dev/null; } # of the system's own python alone
perf_there() { on_path perf || ! grep -qx ID=debian /etc/os-release; } # elsewhere it comes with a kernel
u_boot_there() { [ -r /usr/lib/u-boot/qemu-x86_64/u-boot.rom ]; }
static_libc_there() { echo 'int main(void) { return 0; }' | gcc -static -x c -o /dev/null - 2>/dev/null; }
browser_there() { # the names of tests/cairn/browser.py
    local name
    for name in chromium-headless-shell chromium chromium-browser google-chrome chrome-headless-shell; do
        on_path "$name" && return 0
    done
    return 1
}
site_theme_there() { # of the python that mkdocs has
    local p
    p=$(head -n 1 "$(command -v mkdocs)" 2>/dev/null) && p=${p#\#!}
    # shellcheck disable=SC2086 # an interpreter, perhaps with an option
    ${p:-false} -c 'from mkdocs.utils import get_theme_names as names; exit("material" not in names())' 2>/dev/null
}
font_there() { "$here/tools/font.py" --which >/dev/null 2>&1; }
firmware_there() { "$here/run-qemu.sh" --which >/dev/null 2>&1; }

# One need a line: how it is looked for, then its package in Debian and Ubuntu, Fedora, Arch, openSUSE, Homebrew;
# '-': that system brings it in another way, or has no package.
needs() {
    if [ "$what" = prove ]; then
        cat <<'END'
on_path frama-c            frama-c-base    frama-c               frama-c         -                frama-c
END
        return
    fi
    cat <<'END'
on_path gcc                gcc             gcc                   gcc             gcc              x86_64-elf-gcc
on_path ld                 binutils        binutils              binutils        binutils         x86_64-elf-binutils
header stdlib.h            libc6-dev       glibc-devel           glibc           glibc-devel      -
header libelf.h            libelf-dev      elfutils-libelf-devel libelf          libelf-devel     libelf
header elfutils/libdw.h    libdw-dev       elfutils-devel        elfutils        libdw-devel      -
header capstone/capstone.h libcapstone-dev capstone-devel        capstone        libcapstone-devel capstone
header protobuf-c/protobuf-c.h libprotobuf-c-dev protobuf-c-devel protobuf-c libprotobuf-c-devel protobuf-c
header sqlite3.h           libsqlite3-dev  sqlite-devel          sqlite          sqlite3-devel    sqlite
header expat.h             libexpat1-dev   expat-devel           expat           libexpat-devel   expat
on_path protoc-c           protobuf-c-compiler protobuf-c-compiler protobuf-c      protobuf-c       protobuf-c
on_path python3            python3         python3               python          python3          python
on_path dpkg-shlibdeps     dpkg-dev        dpkg-dev              dpkg            dpkg             dpkg
END
    [ "$what" = tools ] || cat <<'END'
on_path nasm               nasm            nasm                  nasm            nasm             nasm
efi_there                  gnu-efi         gnu-efi-devel         gnu-efi         gnu-efi          -
on_path qemu-system-x86_64 qemu-system-x86 qemu-system-x86       qemu-system-x86 qemu-x86         qemu
firmware_there             ovmf            edk2-ovmf             edk2-ovmf       qemu-ovmf-x86_64 qemu
on_path mformat            mtools          mtools                mtools          mtools           mtools
on_path sgdisk             gdisk           gdisk                 gptfdisk        gptfdisk         gptfdisk
font_there                 fonts-spleen    kbd-misc              kbd             kbd              -
END
    [ "$what" != all ] || cat <<'END'
on_path clang              clang           clang                 clang           clang            llvm
header bpf/libbpf.h        libbpf-dev      libbpf-devel          libbpf          libbpf-devel     -
on_path wasm-ld            lld             lld                   lld             lld              lld
fuzzer_there               libclang-rt-dev compiler-rt           compiler-rt     clang            llvm
static_libc_there          libc6-dev       glibc-static          glibc           glibc-devel-static -
header cmocka.h            libcmocka-dev   libcmocka-devel       cmocka          libcmocka-devel  cmocka
on_path protoc             protobuf-compiler protobuf-compiler  protobuf        protobuf-devel   protobuf
pytest_there               python3-pytest  python3-pytest        python-pytest   python3-pytest   pytest
xdist_there    python3-pytest-xdist python3-pytest-xdist python-pytest-xdist python3-pytest-xdist -
on_path babeltrace2        babeltrace2     babeltrace2           babeltrace2     babeltrace2      babeltrace
bt2_there                  python3-bt2     python3-bt2           -               python3-babeltrace2 -
u_boot_there               u-boot-qemu     -                     -               -                -
perf_there                 linux-perf      -                     -               -                -
on_path zbarimg            zbar-tools      zbar                  zbar            zbar             zbar
on_path groff              groff-base      groff-base            groff           groff            groff
on_path zsh                zsh             zsh                   zsh             zsh              zsh
on_path fish               fish            fish                  fish            fish             fish
on_path bwrap              bubblewrap      bubblewrap            bubblewrap      bubblewrap       -
on_path valgrind           valgrind        valgrind              valgrind        valgrind         -
browser_there  chromium-headless-shell chromium-headless     chromium        chromium         -
on_path sbsign             sbsigntool      sbsigntools           sbsigntools     sbsigntools      -
on_path openssl            openssl         openssl               openssl         openssl          openssl
on_path curl               curl            curl                  curl            curl             curl
on_path hexdump            bsdextrautils   util-linux            util-linux      util-linux       -
on_path xz                 xz-utils        xz                    xz              xz               xz
on_path clang-format       clang-format    clang-tools-extra     clang           clang            clang-format
on_path shellcheck         shellcheck      ShellCheck            shellcheck      ShellCheck       shellcheck
on_path mkdocs             mkdocs          mkdocs                mkdocs          -                mkdocs
site_theme_there           mkdocs-material mkdocs-material       mkdocs-material -                mkdocs-material
END
}

# Sets column (of needs) and install, the command that would install the packages.
find_distribution() {
    local id=''
    # shellcheck disable=SC1091 # not ours
    [ -r /etc/os-release ] && id=$(. /etc/os-release && echo " ${ID:-} ${ID_LIKE:-} ")
    case $id in
    *' debian '* | *' ubuntu '*) column=1 install='apt-get install -y --no-install-recommends' ;;
    *' fedora '* | *' rhel '*) column=2 install='dnf install' ;;
    *' arch '*) column=3 install='pacman -S --needed' ;;
    *' suse '* | *' opensuse '*) column=4 install='zypper install' ;;
    *)
        on_path brew && column=5 install='brew install' || column=0 install=''
        ;;
    esac
}

# Prints "what|packages" for each need that is not met; packages in the order of the columns.
missing() {
    local test argument rest
    while read -r test rest; do
        argument=''
        if [ "$test" = on_path ] || [ "$test" = header ]; then
            read -r argument rest <<<"$rest"
        fi
        "$test" ${argument:+"$argument"} </dev/null || echo "${argument:-${test%_there}}|$rest"
    done < <(needs)
}

packages() { # lines of missing(); prints the packages of this distribution, each once
    cut -d '|' -f 2 | awk -v c="$column" '$c != "-" && !seen[$c]++ { printf "%s ", $c }'
}

list=$(missing)
[ -n "$list" ] || exit 0

find_distribution
echo "missing: $(cut -d '|' -f 1 <<<"$list" | tr '\n' ' ')"
if [ "$column" = 0 ]; then
    echo "deps: this distribution is not known; install what is missing, then run make again" >&2
    exit 1
fi
read -r -a wanted <<<"$(packages <<<"$list")"
if [ "$column" != 1 ]; then
    echo "deps: install it, then run make again: $install ${wanted[*]}" >&2
    exit 1
fi

sudo=()
if [ "$(id -u)" != 0 ]; then
    on_path sudo || {
        echo "deps: not root, and no sudo here: run '$install ${wanted[*]}' as root" >&2
        exit 1
    }
    sudo=(sudo)
fi
as_root() { ${sudo[@]+"${sudo[@]}"} env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
# Packages are split from release to release: one that this release does not have may be part of another.
known_here() {
    local name
    for name in "${wanted[@]}"; do
        ! apt-cache show "$name" >/dev/null 2>&1 || echo "$name"
    done
}
# Another apt-get may be at work. Unlike an install, an update does not wait for it.
PATIENCE=600 # seconds
update() {
    local said status
    while :; do
        said=$(as_root apt-get update -q 2>&1) && status=0 || status=$?
        [[ $status != 0 && $said = *'Could not get lock'* && $SECONDS -lt $PATIENCE ]] || break
        sleep 1
    done
    [ "$status" = 0 ] || printf '%s\n' "$said" >&2
    return "$status"
}
# shellcheck disable=SC2046,SC2086 # words are meant
{ update && as_root $install -o DPkg::Lock::Timeout=$PATIENCE $(known_here); } || {
    echo "deps: apt-get failed" >&2
    exit 1
}
list=$(missing)
[ -z "$list" ] || {
    echo "deps: installed, but still not found: $(cut -d '|' -f 1 <<<"$list" | tr '\n' ' ')" >&2
    exit 1
}
