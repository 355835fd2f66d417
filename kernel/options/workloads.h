/* SPDX-License-Identifier: MIT */
/* The workloads, by their names in the option workload=. To add one, write a file that defines `const struct kworkload
 * kworkload_NAME` (docs/how-to/workloads.md), and add a line here. */
WORKLOAD(mix)
WORKLOAD(pingpong)
WORKLOAD(prodcons)
WORKLOAD(lockfight)
WORKLOAD(locks)
WORKLOAD(hogs)
WORKLOAD(sleepers)
WORKLOAD(traps)
WORKLOAD(known)
WORKLOAD(probe)
WORKLOAD(control)
WORKLOAD(user)
WORKLOAD(hostile)
