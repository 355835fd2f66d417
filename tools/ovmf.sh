#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/ovmf.sh QEMU SECURE_BOOT
# Finds UEFI firmware for QEMU and prints three lines: the file of its code, the file of its variables, and their
# format. SECURE_BOOT is 1 if Secure Boot must be on. If there is none, one line says what to do, and the status is 1.
# Only split firmware is found: its variables are written, to a copy. Of two sizes the smaller starts faster.
# shellcheck disable=SC2015 # A && B || die is meant
set -u

share=$(cd "$(dirname "$(command -v "$1")")/../share/qemu" 2>/dev/null && pwd)
secure_boot=$2
set -- /usr/share/OVMF/OVMF_CODE_4M.secboot.fd /usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd
[ "$secure_boot" = 1 ] || set -- \
    /usr/share/OVMF/OVMF_CODE.fd /usr/share/OVMF/OVMF_VARS.fd \
    /usr/share/OVMF/OVMF_CODE_4M.fd /usr/share/OVMF/OVMF_VARS_4M.fd \
    /usr/share/edk2/ovmf/OVMF_CODE.fd /usr/share/edk2/ovmf/OVMF_VARS.fd \
    /usr/share/edk2/ovmf/OVMF_CODE_4M.qcow2 /usr/share/edk2/ovmf/OVMF_VARS_4M.qcow2 \
    /usr/share/edk2/x64/OVMF_CODE.4m.fd /usr/share/edk2/x64/OVMF_VARS.4m.fd \
    /usr/share/edk2-ovmf/x64/OVMF_CODE.fd /usr/share/edk2-ovmf/x64/OVMF_VARS.fd \
    /usr/share/qemu/ovmf-x86_64-code.bin /usr/share/qemu/ovmf-x86_64-vars.bin \
    "$share/edk2-x86_64-code.fd" "$share/edk2-i386-vars.fd" \
    /opt/homebrew/share/qemu/edk2-x86_64-code.fd /opt/homebrew/share/qemu/edk2-i386-vars.fd \
    /usr/local/share/qemu/edk2-x86_64-code.fd /usr/local/share/qemu/edk2-i386-vars.fd
if [ -n "${OVMF_CODE:-}${OVMF_VARS:-}" ]; then
    set -- "${OVMF_CODE:-}" "${OVMF_VARS:-}"
    [ -r "$1" ] && [ -r "$2" ] || {
        echo "OVMF_CODE and OVMF_VARS must both name readable files: '$1', '$2'"
        exit 1
    }
fi
for ((; $#; )); do
    if [ -r "$1" ] && [ -r "$2" ]; then
        format=raw
        case $1 in *.qcow2) format=qcow2 ;; esac
        printf '%s\n' "$1" "$2" $format
        exit 0
    fi
    shift 2
done
if [ "$secure_boot" = 1 ]; then
    echo "--secure-boot: no OVMF_CODE_4M.secboot.fd and OVMF_VARS_4M.snakeoil.fd of Debian's ovmf in /usr/share/OVMF:" \
        "name others by OVMF_CODE and OVMF_VARS"
else
    echo "no UEFI firmware (OVMF) found: run 'make deps' (package ovmf, edk2-ovmf or qemu-ovmf-x86_64)"
fi
exit 1
