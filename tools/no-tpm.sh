#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/no-tpm.sh FOLDER QEMU [OPTION ...]
# Runs QEMU with a TPM that fails at once. Without any TPM, OVMF waits 1.7 s for one in vain: it polls registers at
# FED40000H, where QEMU reads as 0, and only FFH would mean that there is none. Behind this TPM is a FIFO in FOLDER.
# Each command comes back as its own answer, with its number where an error belongs, and OVMF goes on without a TPM. A
# QEMU that cannot do that gets none.
set -u

[ $# -ge 2 ] || {
    echo "usage: tools/no-tpm.sh FOLDER QEMU [OPTION ...]" >&2
    exit 2
}
folder=$1 name=${1//,/,,} # in QEMU's options a comma is written twice
shift
if [[ $("$1" -tpmdev help 2>&1) = *passthrough* ]] && mkfifo "$folder/tpm" && : >"$folder/tpm.cancel"; then
    set -- "$@" -tpmdev "passthrough,id=tpm,path=$name/tpm,cancel-path=$name/tpm.cancel" -device tpm-tis,tpmdev=tpm
fi
exec "$@"
