#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/kvm-host.sh [key=value ...]
# Can QEMU use this machine's processor with KVM? If the kernel's options contain ds=hw: will a guest see a Debug Store?
# If not, it says in one line what is missing and what to do, and fails. What is likely but not certain is a note. It
# reads /dev, /proc and /sys, or with CAIRN_KVM_ROOT (for tests) those of another tree. Sources: docs/how-to/kvm.md.
set -u

root=${CAIRN_KVM_ROOT:-}
kvm=$root/sys/module/kvm/parameters kvm_intel=$root/sys/module/kvm_intel/parameters

refuse() {
    echo "--accel kvm: $1"
    exit 1
}

note() {
    echo "note        $1"
}

# A line of /proc/cpuinfo, of the first processor.
cpuinfo() {
    sed -n "s/^$1[[:space:]]*: //p" "$root/proc/cpuinfo" 2>/dev/null | head -n 1
}

parameter() {
    cat "$1" 2>/dev/null
}

[ -e "$root/dev/kvm" ] || refuse "there is no /dev/kvm: turn virtualization on in the firmware's menu and load the \
module (sudo modprobe kvm_intel); a virtual machine has it only where its host nests"
if [ ! -r "$root/dev/kvm" ] || [ ! -w "$root/dev/kvm" ]; then
    refuse "you may not use /dev/kvm: sudo usermod -aG kvm \$USER, and log in again"
fi

backend=auto
for word in "$@"; do
    case $word in ds=*) backend=${word#ds=} ;; esac
done
[ "$backend" = hw ] || exit 0

vendor=$(cpuinfo vendor_id) model=$(cpuinfo model) release=$(parameter "$root/proc/sys/kernel/osrelease")
instead="ds=hw without --accel kvm takes the plugin (docs/how-to/qemu-ds.md), ds=soft the model"
[ "$vendor" = GenuineIntel ] ||
    refuse "the processor is ${vendor:-unknown}, and only GenuineIntel has a Debug Store: $instead"
case " $(cpuinfo flags) " in
*" pebs "*) ;;
*) refuse "Linux itself sees no PEBS here (no 'pebs' among the flags of /proc/cpuinfo): $instead" ;;
esac
[ ! -e "$root/sys/devices/cpu_atom" ] ||
    refuse "the processor is a hybrid, and KVM gives its guests no counters of those: $instead"
case $(parameter "$kvm/enable_pmu") in
Y) ;;
'') refuse "this KVM is older than PEBS for guests (Linux 6.0): it has no parameter enable_pmu" ;;
*) refuse "guests have no counters: load the modules anew, with kvm's parameter enable_pmu=1" ;;
esac
[ "$(parameter "$kvm_intel/enable_mediated_pmu")" != Y ] ||
    refuse "the mediated PMU hides PEBS from guests: load kvm_intel anew, with enable_mediated_pmu=0"
# Microcode of others cannot write a record while the hypervisor has unmapped a page of the guest (Linux' pebs_ept).
case $model in
106 | 108 | 143 | 207 | 173 | 174) ;;
*) note "KVM shows PEBS on Ice Lake, Sapphire, Emerald and Granite Rapids servers, and from record format 5 on: model \
$model is none that is known to (docs/how-to/kvm.md)" ;;
esac
case $release in
[0-5].*) note "Linux $release: PEBS for guests came with 6.0" ;;
esac
[ "$(parameter "$kvm/ignore_msrs")" != Y ] ||
    note "kvm's parameter ignore_msrs is on: registers that KVM does not have read 0 and are not found out"
