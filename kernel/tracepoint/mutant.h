/* SPDX-License-Identifier: MIT */
/* CAIRN_MUTANT builds kernels that each lie in one way; a test shows that 'cairn check' detects every one of them. 0,
 * the kernel that people run, contains nothing of it. */
#pragma once

#ifndef CAIRN_MUTANT
#define CAIRN_MUTANT 0
#endif

enum {
    KMUTANT_THREAD = 1,   /* a wrong thread is passed to the switch hook, once a CPU */
    KMUTANT_SKIP = 2,     /* a switch is not traced, once a CPU */
    KMUTANT_CPUS = 3,     /* CPUs 0 and 1 write each other's buffers */
    KMUTANT_STAMP = 4,    /* batches carry another CPU's PebsIndex */
    KMUTANT_REGISTER = 5, /* RBX is wrong in the first PEBS record of each drain */
    KMUTANT_PAPER = 6,    /* workload known: expects one event more than is on paper */
    KMUTANT_RUNDOWN = 7,  /* no session is told that the first thread of all is there when it starts */
};
