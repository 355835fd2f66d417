#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The one way to boot Cairn in QEMU. See usage() below, docs/boot.md and docs/options.md.
# Works with bash 3.2 and later: macOS has no newer one.
# shellcheck disable=SC2015 # 'A && B || die': die does not return, and running it when B fails is meant
# shellcheck disable=SC2317 # cleanup and interrupted are called by traps
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CAIRN_BUILD:-$here/build}
case $build in /*) ;; *) build=$here/$build ;; esac

smp=4 mem=512M cpu=max accel=tcg log=$build/last.log raw=0 timeout=300 icount=0 gdb=0 image='' which=0 secure_boot=0
display='' kept_vars=''
qemu_ds='' plugin=''
save=0 saved='' saved_name=''
qemu='' qemu_why='' accel_why='the default: it runs everywhere'
words=()

# Exit codes, beside 0: the guest's verdict is pass.
readonly FAIL=1 USAGE=2 TROUBLE=3 TIMEOUT=124 INTERRUPTED=130
# What isa-debug-exit makes of the kernel's 0x10 (pass) and 0x11 (fail): 2 * code + 1, which QEMU itself never returns.
readonly QEMU_PASS=33 QEMU_FAIL=35
ESCAPE=$(printf '\033')
readonly ESCAPE
readonly LOADER_FAILED='cairn loader: FAILED'
# What OVMF says where it has found nothing to start, or where what it has started came back.
readonly NOT_STARTED='UEFI Interactive Shell\|No bootable option\|failed to start Boot'
# And where it may not start it: Secure Boot is on.
readonly REFUSED='failed to load Boot.*\(Access Denied\|Security Violation\)'
readonly REFUSAL="the firmware refuses the loader: Secure Boot is on, and no key that it knows has signed \
\\EFI\\BOOT\\BOOTX64.EFI: sign it (docs/hardware.md, section 2) or turn Secure Boot off"
# How a frame of a trace begins (docs/format.md).
readonly FRAME='~[HMNSLTEUZ][0-9a-f]{8}:'
# What a serial log begins with: words of the firmware, the loader, the kernel.
readonly FIRST_WORDS='^(BdsDxe: |Cairn loader [0-9.]+ on |cairn loader: FAILED: |Cairn [0-9.]+: )'
# The last words of the loader of a second start, where the volume has not taken the log (save=esp).
readonly STAYS='^cairn loader: the log stays in memory'
# And where all is done: it leaves a person ten seconds to read.
readonly GOES_OFF='^cairn loader: the machine switches off in .* new run'
# The kernel's last words where it does not end the machine.
readonly HALTED='^halted: you can switch the machine off'
readonly LEAST_MEM=128 # MiB
# --icount: an instruction takes 2^4 ns (with less, the firmware's waits cost minutes), and time starts at a fixed date.
# The disk's answers come in real time, so the kernel is entered at a TSC that differs by some millions from run to run,
# near 16 s; it then waits for a multiple of 2^35 (34.4 s), in 2 to 6 s of real time.
readonly ICOUNT_SHIFT=4 ICOUNT_ALIGN=35

usage() {
    cat <<'END'
usage: ./run-qemu.sh [option ...] [key=value ...]
Boots Cairn in QEMU and records its trace.
  --smp N         processors (4)
  --mem SIZE      memory, as QEMU takes it: 128M (the least), 2G (512M)
  --cpu MODEL     QEMU's processor model (max)
  --accel A       tcg: emulated, runs everywhere (the default);
                  kvm: this machine's own processor
  --log FILE      where everything the guest says goes, trace included
                  (build/last.log); a FILE that is there with a trace is kept
                  as FILE.1, a log without one is overwritten, any other file
                  is refused
  --raw           all of that to the terminal as well, instead of console text
                  and a progress line
  --timeout S     give up after S seconds; 0: never (300)
  --icount        the same options give the same trace, byte by byte
  --display HOW   give the machine a screen, and show it as QEMU's -display has
                  it: gtk, sdl, vnc=:1; none: nobody looks (no screen)
  --gdb           wait for a debugger on TCP port 1234 (no timeout)
  --vars FILE     the firmware's variables, kept in FILE from boot to boot; with
                  those of an earlier one it takes half the time to start
  --secure-boot   firmware with Secure Boot on, that knows the test key of
                  Debian's ovmf; the loader must be signed with it (make
                  SIGN_KEY=... SIGN_CERT=...; docs/hardware.md, section 2)
  --qemu PATH     this QEMU, not the qemu-system-x86_64 in $PATH
  --qemu-ds OPTIONS  of the plugin that gives QEMU a Debug Store, as
                  preset=skylake,stats=on; ds=hw has it without this as well;
                  off: without it
  --image FILE    boot this disk image (make image) as a USB stick; its own
                  cairn.cfg holds the options
  --which         say which QEMU and firmware would be taken, and stop
With save=esp the machine starts twice, and the log that it then has on its
volume is copied out beside the other one: FILE without .log, and -esp.log.
An image stays as it is: what is written goes to a copy of it.
Exit: 0 the guest says pass, 1 it says fail or was not reached, 2 usage,
3 trouble with QEMU or the firmware, 124 timeout, 130 interrupted.
OVMF_CODE and OVMF_VARS in the environment name another firmware.
Options of the kernel (key=value):
END
    if [ -x "$build/cairn-options" ]; then
        "$build/cairn-options" help
    else
        echo "  (made by 'make tools'; see docs/options.md)"
    fi
}

die() { # status, text
    echo "run-qemu.sh: $2" >&2
    exit "$1"
}

number() { # option, value, least, most
    case $2 in '' | *[!0-9]* | ??????????*) die $USAGE "$1 $2: not a number" ;; esac
    [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || die $USAGE "$1 $2: must be $3 to $4"
}

check_mem() {
    local mib=${mem%[KMGkmg]}
    case $mib in ?????????*) die $USAGE "--mem $mem: more than any machine has" ;; esac
    case $mem in
    *[Kk]) mib=$((10#$mib / 1024)) ;;
    *[Gg]) mib=$((10#$mib * 1024)) ;;
    *) mib=$((10#$mib)) ;;
    esac
    [ $mib -ge $LEAST_MEM ] || die $USAGE "--mem $mem: ${LEAST_MEM}M is the least that is tested"
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --smp | --mem | --cpu | --accel | --log | --timeout | --qemu | --qemu-ds | --image | --display | --vars)
            [ $# -ge 2 ] || die $USAGE "$1 needs a value (--help)"
            case $1 in
            --smp) smp=$2 ;;
            --mem) mem=$2 ;;
            --cpu) cpu=$2 ;;
            --accel) accel=$2 accel_why='--accel' ;;
            --log) log=$2 ;;
            --timeout) timeout=$2 ;;
            --qemu) qemu=$2 qemu_why='--qemu' ;;
            --qemu-ds) qemu_ds=$2 ;;
            --image) image=$2 ;;
            --display) display=$2 ;;
            --vars) kept_vars=$2 ;;
            esac
            shift
            ;;
        --raw) raw=1 ;;
        --icount) icount=1 ;;
        --gdb) gdb=1 ;;
        --secure-boot) secure_boot=1 ;;
        --which) which=1 ;;
        --help | -h)
            usage
            exit 0
            ;;
        -*) die $USAGE "unknown option $1 (--help)" ;;
        *=*) words+=("$1") ;;
        *) die $USAGE "'$1' is neither an option nor key=value (--help)" ;;
        esac
        shift
    done
    number --smp "$smp" 1 255
    number --timeout "$timeout" 0 999999
    case $mem in *[!0-9KMGkmg]* | [!0-9]* | '' | *[KMGkmg]?*) die $USAGE "--mem $mem: not a size like 512M" ;; esac
    check_mem
    case $accel in tcg | kvm) ;; *) die $USAGE "--accel $accel: must be tcg or kvm" ;; esac
    [ $icount = 0 ] || [ "$accel" = tcg ] || die $USAGE "--icount needs --accel tcg"
    [ -z "$image" ] || [ -r "$image" ] || die $USAGE "--image $image: cannot be read"
    [ -z "$image" ] || [ ${#words[@]} = 0 ] || die $USAGE "--image: its own cairn.cfg holds the options, give none here"
}

# True where one of the words sets option $1; `value` is then what it is set to.
has_word() {
    local w found=1
    for w in ${words[@]+"${words[@]}"}; do
        case $w in "$1="*) value=${w#*=} found=0 ;; esac
    done
    return $found
}

# Whether the cairn.cfg of an image says save=esp, by the kernel's rules. One that cannot be read is the loader's to
# refuse.
image_saves() {
    local said
    said=$(mtype -i "$image@@1M" ::/cairn.cfg 2>/dev/null |
        LC_ALL=C sed -n 's/#.*//; s/[[:space:]]*$//; s/^[[:space:]]*save=//p' | tail -n 1)
    [ "$said" = esp ]
}

check_words() {
    local add=end=exit
    if [ -n "$image" ]; then
        ! image_saves || save=1
        return 0
    fi
    [ -x "$build/cairn-options" ] || die $TROUBLE "$build/cairn-options is not there: run 'make'"
    has_word save && [ "$value" = esp ] && save=1 add=end=reboot
    has_word end || words+=("$add")
    if [ $icount = 1 ] && ! has_word tsc.align; then
        words+=("tsc.align=$ICOUNT_ALIGN")
    fi
    local machine=(--cpus "$smp")
    [ "$accel" != tcg ] || machine+=(--emulated)
    "$build/cairn-options" check "${machine[@]}" "${words[@]}" || exit $USAGE
}

# Sets plugin where ds=hw needs it, by itself QEMU has no Debug Store, or it is asked for: ds=auto takes hw then.
find_plugin() {
    local value=''
    has_word ds
    [ "$qemu_ds" != off ] || return 0
    case $accel,$qemu_ds,$value in
    tcg,,hw) ;;
    *,,*) return 0 ;;
    *,soft | *,off) die $USAGE "--qemu-ds: ds=$value does not look for the Debug Store that the plugin gives QEMU" ;;
    tcg,*) ;;
    *) die $USAGE "--qemu-ds: the plugin needs --accel tcg" ;;
    esac
    [ $icount = 0 ] || die $USAGE "--icount: not with the plugin that ds=hw needs (--qemu-ds off: without it)"
    plugin=$build/qemu-ds.so
    [ -r "$plugin" ] || die $TROUBLE "$plugin is not there: run 'make'"
    [ -z "$qemu" ] || return 0
    qemu=$build/qemu11/qemu-system-x86_64 qemu_why="it takes the plugin"
    [ -x "$qemu" ] || die $TROUBLE "QEMU has a Debug Store only by a plugin, and that needs QEMU 11.1: \
run 'make deps-ds', or give --qemu PATH (--qemu-ds off: without)"
}

find_qemu() {
    find_plugin
    if [ -z "$qemu" ]; then
        qemu=$(command -v qemu-system-x86_64) ||
            die $TROUBLE "no qemu-system-x86_64 in \$PATH: run 'make deps', or give --qemu PATH"
        qemu_why="the one in \$PATH"
    fi
    qemu_version=$("$qemu" --version 2>/dev/null | sed -n '1s/.*version \([^ ]*\).*/\1/p')
    [ -n "$qemu_version" ] || die $TROUBLE "$qemu: not a QEMU that runs here"
    case $plugin,$qemu_version in
    ,* | *,11.1 | *,11.1.*) ;;
    *) die $TROUBLE "the plugin needs QEMU 11.1, --qemu is $qemu_version: leave it out (make deps-ds)" ;;
    esac
    if [ "$accel" = kvm ] && ! { [ -r /dev/kvm ] && [ -w /dev/kvm ]; }; then
        die $TROUBLE "--accel kvm: /dev/kvm is not there, or this user may not use it"
    fi
}

# Sets code, vars, format. Split firmware only: the variables are written, to a copy.
find_firmware() {
    local share c v
    share=$(cd "$(dirname "$(command -v "$qemu")")/../share/qemu" 2>/dev/null && pwd)
    set -- "${OVMF_CODE:-}" "${OVMF_VARS:-}" \
        /usr/share/OVMF/OVMF_CODE_4M.secboot.fd /usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd
    [ $secure_boot = 1 ] || set -- "$1" "$2" \
        /usr/share/OVMF/OVMF_CODE_4M.fd /usr/share/OVMF/OVMF_VARS_4M.fd \
        /usr/share/OVMF/OVMF_CODE.fd /usr/share/OVMF/OVMF_VARS.fd \
        /usr/share/edk2/ovmf/OVMF_CODE.fd /usr/share/edk2/ovmf/OVMF_VARS.fd \
        /usr/share/edk2/ovmf/OVMF_CODE_4M.qcow2 /usr/share/edk2/ovmf/OVMF_VARS_4M.qcow2 \
        /usr/share/edk2/x64/OVMF_CODE.4m.fd /usr/share/edk2/x64/OVMF_VARS.4m.fd \
        /usr/share/edk2-ovmf/x64/OVMF_CODE.fd /usr/share/edk2-ovmf/x64/OVMF_VARS.fd \
        /usr/share/qemu/ovmf-x86_64-code.bin /usr/share/qemu/ovmf-x86_64-vars.bin \
        "$share/edk2-x86_64-code.fd" "$share/edk2-i386-vars.fd" \
        /opt/homebrew/share/qemu/edk2-x86_64-code.fd /opt/homebrew/share/qemu/edk2-i386-vars.fd \
        /usr/local/share/qemu/edk2-x86_64-code.fd /usr/local/share/qemu/edk2-i386-vars.fd
    if [ -n "$1$2" ] && ! { [ -r "$1" ] && [ -r "$2" ]; }; then
        die $TROUBLE "OVMF_CODE and OVMF_VARS must both name readable files: '$1', '$2'"
    fi
    while [ $# -gt 0 ]; do
        c=$1 v=$2
        shift 2
        [ -r "$c" ] && [ -r "$v" ] || continue
        code=$c vars=$v format=raw
        case $c in *.qcow2) format=qcow2 ;; esac
        return
    done
    [ $secure_boot = 0 ] || die $TROUBLE "--secure-boot: no OVMF_CODE_4M.secboot.fd and OVMF_VARS_4M.snakeoil.fd of \
Debian's ovmf in /usr/share/OVMF: name others by OVMF_CODE and OVMF_VARS"
    die $TROUBLE "no UEFI firmware (OVMF) found: run 'make deps' (package ovmf, edk2-ovmf or qemu-ovmf-x86_64)"
}

say_choices() {
    echo "QEMU        $qemu ($qemu_why), version $qemu_version"
    echo "accelerator $accel ($accel_why)"
    echo "firmware    $code"
    [ -z "$plugin" ] || echo "plugin      $plugin${qemu_ds:+,$qemu_ds}"
}

check_log() {
    [ $save = 0 ] || saved=${log%.log}-esp.log
    [ -d "$(dirname "$log")" ] || die $USAGE "--log $log: cannot be written: there is no folder $(dirname "$log")"
    is_ours "$log" || die $USAGE "--log $log: there is a file that is no serial log of Cairn's: name another"
    { : >>"$log"; } 2>/dev/null || die $USAGE "--log $log: cannot be written"
    [ $save = 0 ] || is_ours "$saved" ||
        die $USAGE "save=esp: $saved is there and no log of Cairn's: name another --log"
}

# True where no file is lost that is not ours: nothing is there, or something empty, a device or a pipe; or a log: it
# has a frame, or its first words are the firmware's, the loader's or the kernel's. In a later line they prove nothing.
# cairn capture has the same rule (tools/cairn/command/keep_log.c).
is_ours() { # file
    [ -s "$1" ] && [ -f "$1" ] || return 0
    LC_ALL=C grep -a -E -q "^$FRAME" "$1" && return 0
    case $(head -c 4 "$1" | LC_ALL=C tr -d '\000') in "${ESCAPE}[2J") return 0 ;; esac # firmware clears the screen
    head -c 8192 "$1" | plain | LC_ALL=C grep -a -m 1 . | LC_ALL=C grep -a -E -q "$FIRST_WORDS"
}

# Only a log with a trace is worth keeping: a second failed start does not replace it by the first one's.
keep_log() { # file
    if [ -f "$1" ] && [ ! -L "$1" ] && LC_ALL=C grep -a -E -q "$FRAME" "$1"; then
        mv -f "$1" "$1.1" || die $USAGE "$1: cannot be renamed to $1.1"
    fi
}

# An earlier one must not be taken for what this machine saves.
forget_saved() {
    keep_log "$saved"
    [ ! -f "$saved" ] || rm -f "$saved" || die $USAGE "save=esp: $saved cannot be deleted"
}

# Before the boot: behind it an answer is of no use any more.
check_vars() {
    [ -z "$kept_vars" ] || { [ ! -d "$kept_vars" ] && : >"$kept_vars.new" && rm -f "$kept_vars.new"; } 2>/dev/null ||
        die $USAGE "--vars $kept_vars: cannot be written"
}

# What the firmware has written, for --vars: whole, or as it was before. A boot's verdict is worth more than that.
keep_vars() {
    [ -z "$kept_vars" ] || { cp "$tmp/vars" "$kept_vars.new" && mv -f "$kept_vars.new" "$kept_vars"; } ||
        echo "run-qemu.sh: --vars $kept_vars: could not be written" >&2
}

# ---- the machine

prepare() {
    local f w
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/cairn.XXXXXX") || die $TROUBLE "no temporary directory"
    [ -z "$kept_vars" ] || [ ! -e "$kept_vars" ] || vars=$kept_vars
    cp "$vars" "$tmp/vars" && chmod u+w "$tmp/vars" || die $TROUBLE "cannot copy $vars"
    mkfifo "$tmp/serial" || die $TROUBLE "cannot make a pipe in $tmp"
    if [ -z "$image" ]; then
        for f in BOOTX64.EFI kernel.elf; do
            [ -r "$build/$f" ] || die $TROUBLE "$build/$f is not there: run 'make'"
        done
        mkdir -p "$tmp/esp/EFI/BOOT"
        cp "$build/BOOTX64.EFI" "$tmp/esp/EFI/BOOT/" && cp "$build/kernel.elf" "$tmp/esp/" ||
            die $TROUBLE "cannot write the boot volume in $tmp"
        for w in "${words[@]}"; do
            echo "$w"
        done >"$tmp/esp/cairn.cfg"
        [ $save = 0 ] || make_stick
    elif [ $save = 1 ]; then
        cp "$image" "$tmp/stick" && chmod u+w "$tmp/stick" || die $TROUBLE "cannot copy $image to $tmp"
    fi
    [ $save = 0 ] || list_logs >"$tmp/before"
}

# Logs on the machine's volume, by name.
list_logs() {
    mdir -b -i "$tmp/stick@@1M" ::/ 2>/dev/null | LC_ALL=C sed -n 's,^::/\(cairn-[0-9]*\.log\)$,\1,p' | LC_ALL=C sort
}

# QEMU's own volume of a folder cannot be written as a stick can.
make_stick() {
    command -v mcopy >/dev/null && PATH=$PATH:/usr/sbin:/sbin command -v sgdisk >/dev/null ||
        die $TROUBLE "save=esp needs a disk image, and that mtools and sgdisk: run 'make deps'"
    "$here/tools/image.sh" "$tmp/stick" "$build/BOOTX64.EFI" "$build/kernel.elf" "${words[@]}" >"$tmp/errors" 2>&1 ||
        die $TROUBLE "tools/image.sh: $(tail -n 1 "$tmp/errors")"
}

# In QEMU's options a comma is written twice.
build_command() {
    local model=$cpu type=q35
    # From QEMU 9 on TCG has the x2APIC, but does not count its WRMSR as I/O: with -icount that is a "Bad icount read".
    [ $icount = 0 ] || model=$cpu,-x2apic
    [ $secure_boot = 0 ] || type=q35,smm=on
    command=("$qemu" -machine "$type" -accel "$accel" -cpu "$model" -smp "$smp" -m "$mem"
        -nodefaults -no-user-config -display "${display:-none}" -net none
        -drive "if=pflash,unit=0,format=$format,readonly=on,file=${code//,/,,}"
        -drive "if=pflash,unit=1,format=$format,file=${tmp//,/,,}/vars"
        -device "isa-debug-exit,iobase=0xf4,iosize=4")
    # Then only the firmware's own code, in SMM, may write its variables, the keys among them.
    [ $secure_boot = 0 ] || command+=(-global "driver=cfi.pflash01,property=secure,value=on")
    [ $save = 1 ] || command+=(-no-reboot)
    [ -z "$display" ] || command+=(-device VGA)
    if [ -n "$image" ]; then
        local stick="snapshot=on,file=${image//,/,,}"
        [ $save = 0 ] || stick="file=${tmp//,/,,}/stick"
        command+=(-drive "if=none,id=stick,format=raw,$stick"
            -device qemu-xhci -device "usb-storage,drive=stick,bootindex=0")
    elif [ $save = 1 ]; then
        command+=(-drive "if=none,id=esp,format=raw,file=${tmp//,/,,}/stick"
            -device "virtio-blk-pci,drive=esp,bootindex=0")
    else
        command+=(-drive "if=none,id=esp,format=raw,readonly=on,file=fat:${tmp//,/,,}/esp"
            -device "virtio-blk-pci,drive=esp,bootindex=0")
    fi
    no_uart=0
    local function
    value=auto
    has_word serial
    function=${value##*:} function=${function%%,*}
    case ${value%%,*} in
    none) no_uart=1 command+=(-serial none) ;;
    auto | com1 | 0x3[fF]8 | 1016) command+=(-serial chardev:uart) ;;
    com2 | 0x2[fF]8 | 760) command+=(-serial null -serial chardev:uart) ;;
    com3 | 0x3[eE]8 | 1000) command+=(-serial null -serial null -serial chardev:uart) ;;
    com4 | 0x2[eE]8 | 744) command+=(-serial null -serial null -serial null -serial chardev:uart) ;;
    pci) command+=(-serial none -device "pci-serial,chardev=uart") ;;
    pci:0:* | pci:00:*) command+=(-serial none -device "pci-serial,chardev=uart,addr=$function") ;;
    *) die $USAGE "serial=$value: in QEMU only com1 to com4 and PCI's bus 0 are connected: give one of them" ;;
    esac
    # The head of the firmware's own log is watched for the loader's failures.
    [ $no_uart = 1 ] || command+=(-chardev "stdio,id=uart,signal=off,logfile=${tmp//,/,,}/console")
    [ $icount = 0 ] ||
        command+=(-icount "shift=$ICOUNT_SHIFT,sleep=off" -rtc "base=2026-01-01T00:00:00,clock=vm" -seed 1)
    [ $gdb = 0 ] || command+=(-gdb tcp:127.0.0.1:1234 -S)
    [ -z "$plugin" ] || command+=(-plugin "${plugin//,/,,}${qemu_ds:+,$qemu_ds}")
}

# Asks QEMU to end; one that does not within five seconds is ended.
end_qemu() {
    local i
    kill "$qemu_pid" 2>/dev/null
    for ((i = 0; i < 50; i++)); do
        kill -0 "$qemu_pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$qemu_pid" 2>/dev/null
}

cleanup() {
    [ -z "${qemu_pid:-}" ] || end_qemu
    [ -z "${tmp:-}" ] || rm -rf "$tmp"
}

interrupted() {
    trap '' INT TERM
    if [ -n "${qemu_pid:-}" ]; then
        end_qemu
        wait "$qemu_pid" "$reader_pid" 2>/dev/null
        qemu_pid=''
    fi
    echo
    echo "interrupted; what came so far is in $log"
    exit "$INTERRUPTED"
}

start() {
    if [ $no_uart = 1 ]; then
        cat <"$tmp/serial" >/dev/null &
    elif [ $raw = 1 ]; then
        tee "$log" <"$tmp/serial" &
    else
        [ -x "$build/cairn" ] || die $TROUBLE "$build/cairn is not there: run 'make tools', or use --raw"
        # What the next start says comes after the end of the log, and nobody else reads it.
        {
            "$build/cairn" capture - -o "$log"
            reader_status=$?
            [ $save = 0 ] || cat >/dev/null
            exit $reader_status
        } <"$tmp/serial" &
    fi
    reader_pid=$!
    "${command[@]}" </dev/null >"$tmp/serial" 2>"$tmp/errors" &
    qemu_pid=$!
}

# Text without the escape sequences and control characters that firmware puts into it, lines cut to a sane length.
plain() {
    LC_ALL=C sed "s/$ESCAPE\[[0-9;=?]*[A-Za-z]//g" | LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C cut -c 1-300
}

# First line of the whole log that matches.
said() {
    [ -r "$tmp/console" ] && LC_ALL=C grep -a -m 1 "$1" "$tmp/console" | plain | grep .
}

# The same in its first 64 KiB: firmware and loader speak there, and a long trace is not read again and again.
console_line() {
    [ -r "$tmp/console" ] && head -c 65536 "$tmp/console" | plain | LC_ALL=C grep -a -m 1 "$1"
}

# True twice a second where the guest has said more since the last look: a look costs some ten processes. Every two
# seconds always: a file's time can be coarse.
said_more() {
    looks=$((looks + 1))
    [ $((looks % 5)) = 0 ] || return 1
    [ $((looks % 20)) = 0 ] || [ "$tmp/console" -nt "$tmp/looked" ] || return 1
    : >"$tmp/looked"
    [ -r "$tmp/console" ]
}

# Waits for the end of QEMU. Sets stop, the reason where we had to end it, and qemu_status.
watch() {
    local failures="$LOADER_FAILED\|$NOT_STARTED\|$REFUSED"
    local start=$SECONDS grace=0 loader_watched=0 looks=0 more
    stop=''
    while kill -0 "$qemu_pid" 2>/dev/null; do
        sleep 0.1
        said_more && more=1 || more=0
        if [ $gdb = 0 ] && [ "$timeout" != 0 ] && [ $((SECONDS - start)) -ge "$timeout" ]; then
            stop=timeout
        elif [ $more = 1 ] && [ $loader_watched = 0 ] && failure=$(console_line "$failures"); then
            sleep 0.2 # the line may not have been whole
            failure=$(console_line "$failures")
            # Where the loader gave up, the firmware says so as well, but later.
            case $failure in *"$LOADER_FAILED"*) stop=loader ;; *) stop=firmware ;; esac
        elif [ $more = 1 ] && tail -c 128 "$tmp/console" | LC_ALL=C grep -a -q "$HALTED"; then
            stop=halted
        elif [ $more = 1 ] && [ $save = 1 ] && tail -c 128 "$tmp/console" | plain | LC_ALL=C grep -a -q "$STAYS"; then
            failure=$(tail -c 1024 "$tmp/console" | plain | LC_ALL=C grep -a "$LOADER_FAILED") stop=loader
        elif [ $more = 1 ] && [ $save = 1 ] &&
            tail -c 128 "$tmp/console" | plain | LC_ALL=C grep -a -q "$GOES_OFF"; then
            stop=off
        elif ! kill -0 "$reader_pid" 2>/dev/null; then
            # The reader has seen the end of the dump (or has failed): QEMU gets a moment to end by itself.
            grace=$((grace + 1))
            [ $grace -lt 30 ] || stop=reader
        fi
        [ -n "$stop" ] && break
        # Nothing of the firmware follows the kernel's first frames.
        [ $loader_watched = 1 ] || [ $more = 0 ] || [ "$(head -c 65536 "$tmp/console" | wc -c)" -lt 65536 ] ||
            loader_watched=1
    done
    [ -z "$stop" ] || end_qemu
    wait "$qemu_pid" 2>/dev/null
    qemu_status=$?
    qemu_pid=''
    wait "$reader_pid"
    reader_status=$?
    reader_pid=''
}

guest_failed() {
    verdict=fail status=$FAIL
    if failure=$(said '^FAIL: '); then
        verdict="fail: ${failure#FAIL: }"
    fi
}

# For a machine that halted, was reset or went off: all there is of a verdict is what the guest said.
judge_by_log() {
    local summary end='the machine was reset or went off'
    case $stop in halted) end='the machine halted' ;; reader) end='the machine was left running' ;; esac
    summary=$(said '^SUMMARY: ')
    case $summary in
    *', 0 failed, '*) verdict="pass, by its SUMMARY; $end" status=0 ;;
    *)
        guest_failed
        if [ -n "$summary" ] || [ "$verdict" != fail ]; then
            return
        elif [ "$stop" = reader ]; then
            verdict="none: the reader of the log ended first, with status $reader_status"
        else
            verdict="none: $end before the guest gave one"
        fi
        ;;
    esac
}

# What the machine has left on its volume. Without a serial port it is all that there is to judge by, and where the
# kernel of an image does not use the one it has (serial=none).
fetch_saved() {
    saved_name=$(list_logs | LC_ALL=C comm -13 "$tmp/before" - | tail -n 1)
    [ -n "$saved_name" ] && mcopy -n -i "$tmp/stick@@1M" "::/$saved_name" "$saved" 2>/dev/null || return
    said '^Cairn [0-9.]*: ' >/dev/null || no_uart=1
    [ $no_uart = 0 ] || cp "$saved" "$tmp/console"
}

judge_saved() {
    local said_so
    case $stop in '' | off) ;; *) return ;; esac
    if [ "$status" -gt $FAIL ] || [ -s "$saved" ]; then
        return
    elif said_so=$(said 'cairn loader: NOT SAVED: '); then
        verdict="the log was not saved: ${said_so#*last run: }" status=$FAIL
    else
        verdict="the log was not saved" status=$FAIL
    fi
}

# The line of QEMU's that says what is wrong, else its last one.
qemu_error() {
    local wrong='error\|fail\|could not\|unable\|invalid\|unsupported\|denied'
    { LC_ALL=C grep -a -i "$wrong" "$tmp/errors" || tail -n 1 "$tmp/errors"; } | head -n 1 | plain
}

# Sets verdict (words) and status.
judge() {
    case $stop in
    timeout) verdict="timeout after $timeout s" status=$TIMEOUT ;;
    loader) verdict="the loader failed: ${failure#*FAILED: }" status=$FAIL ;;
    firmware)
        verdict="the firmware did not start the loader: $failure" status=$TROUBLE
        ! LC_ALL=C grep -q "$REFUSED" <<<"$failure" || verdict=$REFUSAL
        ;;
    *)
        case $qemu_status in
        "$QEMU_PASS") verdict=pass status=0 ;;
        "$QEMU_FAIL") guest_failed ;;
        0) judge_by_log ;; # SIGTERM ends QEMU so as well
        *) verdict="QEMU ended with status $qemu_status: $(qemu_error)" status=$TROUBLE ;;
        esac
        ;;
    esac
    if [ "$status" = 0 ] && [ "$reader_status" != 0 ] && [ $no_uart = 0 ]; then
        verdict="the guest says pass, but its log is damaged" status=$FAIL
    fi
}

# A line of the report, of 80 columns at most.
fact() { # label words
    fold -s -w 71 <<<"$2" | sed "1s/^/$(printf '%-9s' "$1")/; 2,\$s/^/         /; s/ *\$//"
}

report() {
    local backend cairn=${build#"$PWD"/}/cairn
    log=${log#"$PWD"/}
    echo
    if backend=$(console_line '^ds: backend '); then
        fact backend "${backend#ds: backend }"
    fi
    fact verdict "$verdict"
    if [ -n "$saved" ] && [ -s "$saved" ]; then
        echo "saved    ${saved#"$PWD"/}, $(($(wc -c <"$saved"))) bytes: \\$saved_name of the machine's volume"
        [ $no_uart = 0 ] || log=${saved#"$PWD"/} no_uart=0
    fi
    if [ $no_uart = 1 ]; then
        echo "log      none: the machine has no serial port"
        return
    fi
    if [ -f "$log" ] && [ ! -s "$log" ]; then
        echo "log      $log is empty: the machine has said nothing"
        return
    fi
    echo "log      $log, $(($(wc -c <"$log"))) bytes"
    if ! said '^~H' >/dev/null; then
        echo "         it ends before the trace: less $log"
        return
    fi
    [ -x "$cairn" ] || return
    "$cairn" info --lost "$log" 2>/dev/null
    hints "$cairn"
}

# What there is to see in the log, by the tool, which has read it.
hints() { # the tool
    local next pager label=try
    "$1" info --next "$log" 2>/dev/null | while read -r next; do
        pager=''
        case $next in dump | ds* | bts) pager=' | less' ;; esac
        printf '%-8s %s %s %s%s\n' "$label" "$1" "$next" "$log" "$pager"
        label=''
    done
}

main() {
    parse "$@"
    find_qemu
    find_firmware
    [ $which = 1 ] && [ ${#words[@]} = 0 ] || check_words
    if [ $which = 1 ]; then
        say_choices
        exit 0
    fi
    check_log
    check_vars
    trap cleanup EXIT
    trap interrupted INT TERM
    prepare
    build_command
    say_choices
    keep_log "$log"
    [ $save = 0 ] || forget_saved
    [ $gdb = 0 ] || echo "debugger    gdb $build/kernel.elf.full -ex 'target remote :1234'"
    [ $no_uart = 0 ] || echo "no serial port: nothing is shown until the machine has switched itself off"
    start
    watch 2>/dev/null # not a word of bash on how QEMU ended: the verdict says it
    keep_vars
    [ $save = 0 ] || fetch_saved
    judge
    [ $save = 0 ] || judge_saved
    LC_ALL=C sed -n 's/^qemu-ds: /qemu-ds     /p' "$tmp/errors"
    report
    exit "$status"
}

# In one line, read as a whole: this file may be changed while it runs.
main "$@"; exit
