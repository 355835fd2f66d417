#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Boots Cairn in QEMU: chooses QEMU and firmware, makes the boot volume, and lets `cairn capture` run the machine, judge
# the run and keep its log. See --help, docs/explain/boot.md, docs/reference/options.md. Bash 3.2 is enough (macOS).
# shellcheck disable=SC1091,SC2015,SC2034,SC2317 # tools/variables.sh; 'A && B || die' dies if B fails, too; last line
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CAIRN_BUILD:-$here/build}
case $build in /*) ;; *) build=$here/$build ;; esac

# What the options set, by their names; then what follows from them.
smp=4 mem=512M cpu='' accel=tcg log=$build/last.log timeout=300 qemu='' qemu_ds='' image='' display='' vars='' efi=''
stick='' raw=0 monitor=0 script='' icount=0 gdb=0 secure_boot=0 warm=0 which=0 words=() plugin='' save=0 kvm_notes=''

readonly USAGE=2 TROUBLE=3 LEAST_MEM=128 # exit statuses (those of a run are those of `cairn capture`); MiB
# --icount: an instruction takes 2^4 ns (with less, the firmware's waits cost minutes), and time starts at a fixed date.
# The disk's answers come in real time, so the kernel is entered at a TSC that differs by some millions from run to run,
# near 11 s with OVMF of 2 MiB, 16 s of 4 MiB; it then waits for a multiple of 2^35 (34.4 s), in 2 to 6 s of real time.
readonly ICOUNT_SHIFT=4 ICOUNT_ALIGN=35

. "$here/tools/variables.sh"
die() { echo "run-qemu.sh: $2" >&2; exit "$1"; } # status, text

number() { # option, value, least, most
    [[ $2 =~ ^[0-9]{1,9}$ ]] || die $USAGE "$1 $2: not a number"
    [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || die $USAGE "$1 $2: must be $3 to $4"
}

check_mem() {
    local mib
    [[ $mem =~ ^[0-9]{1,8}[KMGkmg]?$ ]] || die $USAGE "--mem $mem: not a size like 512M"
    case $mem in
    *[Kk]) mib=$((10#${mem%?} / 1024)) ;;
    *[Gg]) mib=$((10#${mem%?} * 1024)) ;;
    *) mib=$((10#${mem%[Mm]})) ;;
    esac
    [ $mib -ge $LEAST_MEM ] || die $USAGE "--mem $mem: ${LEAST_MEM}M is the least that is tested"
}

parse() {
    while [ $# -gt 0 ]; do
        local name=${1#--}; name=${name//-/_}
        case $1 in
        --smp | --mem | --cpu | --accel | --log | --timeout | --qemu | --qemu-ds | --image | --efi | --stick | \
            --display | --vars | --script)
            [ $# -ge 2 ] || die $USAGE "$1 needs a value (--help)"
            printf -v "$name" %s "$2" && shift ;;
        --raw | --monitor | --icount | --gdb | --secure-boot | --warm | --which) printf -v "$name" 1 ;;
        --help | -h) cat "$here/tools/run-qemu.txt"; exit ;;
        --help-options)
            [ -x "$build/cairn-options" ] || die $TROUBLE "run 'make tools' first, or see docs/reference/options.md"
            exec "$build/cairn-options" help ;;
        -*) # shellcheck disable=SC2046 # the names of all options; there may be no build yet
            name=$("$build/cairn-options" nearest "$1" $(grep -o '^  --[a-z-]*' "$here/tools/run-qemu.txt") 2>/dev/null)
            die $USAGE "unknown option $1${name:+: did you mean $name?} (--help)" ;;
        *=*) words+=("$1") ;;
        *) die $USAGE "'$1' is neither an option nor key=value (--help)" ;;
        esac
        shift
    done
    number --smp "$smp" 1 255; number --timeout "$timeout" 0 999999; check_mem
    case $accel in tcg | kvm) ;; *) die $USAGE "--accel $accel: must be tcg or kvm" ;; esac
    [ $icount = 0 ] || [ "$accel" = tcg ] || die $USAGE "--icount needs --accel tcg"
    [ -z "$image" ] || [ -r "$image" ] || die $USAGE "--image $image: cannot be read"
    [ -z "$image" ] || [ ${#words[@]} = 0 ] || die $USAGE "--image: its own cairn.cfg holds the options, give none here"
    [ -z "$script" ] || { [ -r "$script" ] && [ -z "$image" ] && words+=(monitor=on monitor.script=monitor.txt) &&
        export SCRIPT=$script; } || die $USAGE "--script $script: cannot be read, or is with --image: put it there"
    [ $monitor = 0 ] || [ -n "$image$script" ] || words+=(monitor=on)
    [ -z "$efi" ] || { [ -r "$efi" ] && [ -z "$image${words[*]-}" ]; } ||
        die $USAGE "--efi $efi: must be a file that can be read, with neither --image nor key=value"
    [[ -z $stick || (-d $stick && -z $efi$image${words[*]-}) ]] || die $USAGE "--stick $stick: no folder, or not alone"
}

# True where one of the words sets option $1; `value` is then what it is set to.
has_word() {
    local w found=1
    for w in ${words[@]+"${words[@]}"}; do case $w in "$1="*) value=${w#*=} found=0 ;; esac; done
    return $found
}

check_words() {
    local add=end=exit machine=(--cpus "$smp")
    [ -z "$efi$stick" ] || return 0 # it has no options of Cairn's
    if [ -n "$image" ]; then # its cairn.cfg, by the kernel's rules; the loader refuses one that cannot be read
        [ "$(mtype -i "$image@@1M" ::/cairn.cfg 2>/dev/null | LC_ALL=C sed -n \
            's/#.*//; s/[[:space:]]*$//; s/^[[:space:]]*save=//p' | tail -n 1)" != esp ] || save=1
        return 0
    fi
    [ -x "$build/cairn-options" ] || die $TROUBLE "$build/cairn-options is not there: run 'make'"
    has_word save && [ "$value" = esp ] && save=1 add=end=reboot
    has_word end || words+=("$add")
    [ $icount = 0 ] || has_word tsc.align || words+=("tsc.align=$ICOUNT_ALIGN")
    [ "$accel" != tcg ] || machine+=(--emulated)
    "$build/cairn-options" check "${machine[@]}" "${words[@]}" || exit $USAGE
}

# Sets plugin where ds=hw needs it, by itself QEMU has no Debug Store, or it is asked for: ds=auto takes hw then.
find_plugin() {
    local value=''
    has_word ds || [ -z "$efi$stick" ] || value=hw
    [ "$qemu_ds" != off ] || return 0
    case $accel,${qemu_ds:+asked},$value in
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
    qemu_why=--qemu
    find_plugin
    [ -n "$qemu" ] || { qemu=$(command -v qemu-system-x86_64) && qemu_why="the one in \$PATH"; } ||
        die $TROUBLE "no qemu-system-x86_64 in \$PATH: run 'make deps', or give --qemu PATH"
    qemu_version=$("$qemu" --version 2>/dev/null | sed -n '1s/.*version \([^ ]*\).*/\1/p')
    [ -n "$qemu_version" ] || die $TROUBLE "$qemu: not a QEMU that runs here"
    [ -z "$plugin" ] || [[ $qemu_version =~ ^11\.1(\.|$) ]] ||
        die $TROUBLE "the plugin needs QEMU 11.1, but --qemu is $qemu_version: run 'make deps-ds' and leave --qemu out"
    [ "$accel" != kvm ] || kvm_notes=$("$here/tools/kvm-host.sh" ${words[@]+"${words[@]}"}) || die $TROUBLE "$kvm_notes"
}

check_display() { # what a QEMU has depends on how it was built; it does not list vnc
    local kinds
    kinds=" $("$qemu" -display help 2>/dev/null | sed -n 's/^[a-z-][a-z-]*$/&,/p' | tr '\n' ' ')"
    [[ "${kinds}vnc, " = *" ${display%%[,=]*}, "* ]] || die $USAGE "--display $display: must be${kinds}or vnc=:1, \
which is what this QEMU has (on Debian, the package qemu-system-gui adds gtk and sdl)"
}

# Makes $tmp, with the firmware's variables and the boot volume in it.
prepare() {
    local trouble
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/cairn.XXXXXX") || die $TROUBLE "no temporary directory"
    cp "$first_vars" "$tmp/vars" && chmod u+w "$tmp/vars" || die $TROUBLE "cannot copy $first_vars"
    if [ -z "$image$stick" ]; then
        trouble=$(EFI=$efi "$here/tools/boot-volume.sh" "$tmp" "$build" $save ${words[@]+"${words[@]}"}) ||
            die $TROUBLE "$trouble"
    elif [ $save = 1 ]; then
        cp "$image" "$tmp/stick" && chmod u+w "$tmp/stick" || die $TROUBLE "cannot copy $image to $tmp"
    fi
}

# In QEMU's options a comma is written twice.
build_command() {
    local model=max type=q35 value=auto function disk
    [ "$accel" != kvm ] || model=host,pmu=on,migratable=off # without the last QEMU hides PEBS: docs/how-to/kvm.md
    model=${cpu:-$model}
    # From QEMU 9 on TCG has the x2APIC, but does not count its WRMSR as I/O: with -icount that is a "Bad icount read".
    [ $icount = 0 ] || model=$model,-x2apic
    [ $secure_boot = 0 ] || type=q35,smm=on
    command=("$qemu" -machine "$type" -accel "$accel" -cpu "$model" -smp "$smp" -m "$mem"
        -nodefaults -no-user-config -display "${display:-none}" -net none
        -drive "if=pflash,unit=0,format=$format,readonly=on,file=${code//,/,,}"
        -drive "if=pflash,unit=1,format=$format,file=${tmp//,/,,}/vars"
        -device "isa-debug-exit,iobase=0xf4,iosize=4")
    # Then only the firmware's own code, in SMM, may write its variables, the keys among them.
    [ $secure_boot = 0 ] || command+=(-global "driver=cfi.pflash01,property=secure,value=on")
    [ $save = 1 ] || [ -n "$stick" ] || command+=(-no-reboot); [ -z "$display" ] || command+=(-device VGA)
    disk="format=raw,file=${tmp//,/,,}/stick"
    if [ -n "$image$stick" ]; then
        [ $save = 1 ] || [ -n "$stick" ] || disk="format=raw,snapshot=on,file=${image//,/,,}"
        command+=(-drive "if=none,id=stick,$disk" -device qemu-xhci -device "usb-storage,drive=stick,bootindex=0")
    else
        [ $save = 1 ] || disk="format=raw,readonly=on,file=fat:${tmp//,/,,}/esp"
        command+=(-drive "if=none,id=esp,$disk" -device "virtio-blk-pci,drive=esp,bootindex=0")
    fi
    has_word serial; function=${value##*:} function=${function%%,*}
    case ${value%%,*} in
    none) command+=(-serial none) && echo "no serial port: nothing is shown until the machine has switched off" ;;
    auto | com1 | 0x3[fF]8 | 1016) command+=(-serial chardev:uart) ;;
    com2 | 0x2[fF]8 | 760) command+=(-serial null -serial chardev:uart) ;;
    com3 | 0x3[eE]8 | 1000) command+=(-serial null -serial null -serial chardev:uart) ;;
    com4 | 0x2[eE]8 | 744) command+=(-serial null -serial null -serial null -serial chardev:uart) ;;
    pci) command+=(-serial none -device "pci-serial,chardev=uart") ;;
    pci:0:* | pci:00:*) command+=(-serial none -device "pci-serial,chardev=uart,addr=$function") ;;
    *) die $USAGE "serial=$value: in QEMU only com1 to com4 and PCI's bus 0 are connected: give one of them" ;;
    esac
    [ "$value" = none ] || command+=(-chardev "stdio,id=uart,signal=off")
    [ $icount = 0 ] ||
        command+=(-icount "shift=$ICOUNT_SHIFT,sleep=off" -rtc "base=2026-01-01T00:00:00,clock=vm" -seed 1)
    [ $gdb = 0 ] || command+=(-gdb tcp:127.0.0.1:1234 -S)
    [ -z "$plugin" ] || command+=(-plugin "${plugin//,/,,}${qemu_ds:+,$qemu_ds}")
    # Not with -icount: it answers in the host's time, so that no two runs would be equal.
    local wrapper=("$here/tools/no-tpm.sh"); [ $warm = 0 ] || wrapper=("$here/tools/warm.py" "$build/warm")
    [ -n "$efi$stick" ] || [ $icount = 1 ] || command=("${wrapper[@]}" "$tmp" "${command[@]}")
}

say_choices() {
    echo "QEMU        $qemu ($qemu_why), version $qemu_version"
    echo "accelerator $accel${kvm_notes:+$'\n'$kvm_notes}"
    echo "firmware    $code"
    [[ $first_vars != "$build/firmware/"* ]] || echo "variables   $first_vars"
    [ -z "$plugin" ] || echo "plugin      $plugin${qemu_ds:+,$qemu_ds}"
    [ $warm = 0 ] || echo "warm        a snapshot behind the firmware, in $build/warm"
    [ $gdb = 0 ] || echo "debugger    gdb $build/kernel.elf.full -ex 'target remote :1234'"
}

# Lets `cairn capture` run the machine and judge it. In the background: a signal to this script alone must reach it.
run() {
    local capture=("$build/cairn" capture --run -o "$log") capture_pid='' stopped=0
    [ $raw = 0 ] || capture+=(--raw); [ $monitor = 0 ] || capture+=(--talk) # at a terminal without a limit of time
    [ "$timeout" = 0 ] || [ $gdb = 1 ] || { [ $monitor = 1 ] && [ -t 0 ]; } || capture+=(--timeout "$timeout")
    [ $save = 0 ] || capture+=(--saved "${log%.log}-esp.log")
    [ $save = 0 ] || command=("$here/tools/save-esp.sh" "$tmp/stick" "${log%.log}-esp.log" "${command[@]}")
    if [ -n "$efi$stick" ]; then # no log, no verdict; the firmware clears the screen, writes in colours and over text
        ${stick:+"$here/tools/stick.sh" "$stick" "$tmp/stick"} timeout --foreground "$timeout" "${command[@]}" |
            LC_ALL=C sed -u $'s/\x1b\\[[0-9;=]*[A-Za-z]//g; s/[^\r]*\r  *\r//g; s/\r*$//'
        status=${PIPESTATUS[0]}; return
    fi
    trap 'stopped=1; [ -z "$capture_pid" ] || kill -TERM $capture_pid 2>/dev/null' INT TERM
    "${capture[@]}" -- "${command[@]}" <&0 &
    capture_pid=$!
    [ $stopped = 0 ] || kill -TERM $capture_pid
    while wait $capture_pid; status=$?; kill -0 $capture_pid 2>/dev/null; do :; done # a signal may end the wait alone
    trap '' INT TERM
}

main() {
    local firmware
    parse "$@"
    find_qemu
    [ -z "$display" ] || check_display
    firmware=$("$here/tools/ovmf.sh" "$qemu" $secure_boot) || die $TROUBLE "$firmware"
    { read -r code && read -r first_vars && read -r format; } <<<"$firmware"
    find_variables
    [ $which = 1 ] && [ ${#words[@]} = 0 ] || check_words
    [[ $warm = 0 || $accel$icount$gdb$secure_boot$save$vars$image$efi$stick$display = tcg0000 ]] || die $USAGE \
        "--warm: not with save=esp, kvm, --icount, --gdb, --secure-boot, --vars, --image, --efi, --stick or --display"
    [ $which = 0 ] || { say_choices && exit; }
    [ -x "$build/cairn" ] || die $TROUBLE "$build/cairn is not there: run 'make tools'"
    [ -d "$(dirname "$log")" ] || die $USAGE "--log $log: cannot be written: there is no folder $(dirname "$log")"
    trap '[ -z "${tmp:-}" ] || rm -rf "$tmp"' EXIT
    prepare
    build_command
    say_choices
    run
    keep_variables
    exit "$status"
}

# In one line, read as a whole: this file may be changed while it runs.
main "$@"; exit
