# SPDX-License-Identifier: MIT
# A part of run-qemu.sh, whose variables it reads and sets: the firmware's variables, before and after the boot.
# shellcheck shell=bash disable=SC2154,SC2015,SC2086

# What firmware of another kind does not share: the size, and where the store lies in it. This is in the first 94 bytes,
# EFI_FIRMWARE_VOLUME_HEADER and the beginning of VARIABLE_STORE_HEADER. Of qcow2 it is the magic and the size.
layout() { # file
    case $format in
    raw) wc -c <"$1" && head -c 94 "$1" ;;
    *) head -c 4 "$1" && head -c 32 "$1" | tail -c 8 ;;
    esac | cksum
}

# Sets first_vars, the variables with which the firmware begins: the user's (--vars), or those that its first boot has
# left, which save it work. $kept holds these. It is written once, so that all later boots begin with the same. Its name
# depends on the firmware, so that another firmware has its own. It is not used with OVMF_VARS, nor with --icount,
# where the first boot must be as the next, nor with --warm, where the firmware does that work once.
find_variables() {
    kept=''
    if [ -n "$vars" ]; then
        { [ ! -d "$vars" ] && : >"$vars.new" && rm -f "$vars.new"; } 2>/dev/null ||
            die $USAGE "--vars $vars: cannot be written" # behind the boot, an answer is of no use any more
        [ -e "$vars" ] || return 0
        [ "$(layout "$vars")" = "$(layout "$first_vars")" ] ||
            die $USAGE "--vars $vars: is of other firmware than $code: its size or header is not that of $first_vars"
        first_vars=$vars
    elif [ -z "${OVMF_VARS:-}" ] && [ $icount$warm = 00 ]; then
        kept=$build/firmware/$(cat "$code" "$first_vars" | cksum | tr ' ' -).vars
        [ ! -r "$kept" ] || { first_vars=$kept kept=''; }
    fi
}

# Keeps what the firmware has written, whole or not at all: for the user, or in $kept after a boot of Cairn that passed,
# unless it may have told the firmware what to boot next. A boot's verdict is worth more than that.
keep_variables() {
    if [ -n "$vars" ]; then
        cp "$tmp/vars" "$vars.new" && mv -f "$vars.new" "$vars" ||
            echo "run-qemu.sh: --vars $vars: could not be written" >&2
    elif [ -n "$kept" ] && [ "$status" = 0 ] && [ -z "$image$efi" ] && [ $save = 0 ] &&
        ! cmp -s "$first_vars" "$tmp/vars"; then
        mkdir -p "${kept%/*}" && cp "$tmp/vars" "$kept.$$" &&
            { ln "$kept.$$" "$kept" 2>/dev/null; rm -f "$kept.$$"; } ||
            echo "run-qemu.sh: $kept: could not be written" >&2
    fi
}
