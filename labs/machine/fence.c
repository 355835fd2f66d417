/* SPDX-License-Identifier: MIT */
#include "labs/machine/fence.h"

#include "kernel/lib/string.h"
#include "labs/check.h"
#include "labs/lab.h"

#define BEFORE 1024u /* keeps what needs an aligned address aligned */
#define FILL   0xA5u

static struct fenced {
    uint8_t *page;
    size_t bytes, all; /* asked for; whole pages */
} fenced[4];
static unsigned used;

void *lab_fenced(size_t bytes)
{
    const size_t all = (BEFORE + bytes + 1 + LAB_PAGE_BYTES - 1) / LAB_PAGE_BYTES * LAB_PAGE_BYTES;
    uint8_t *page = used < sizeof fenced / sizeof fenced[0] ? lab_memory(all) : NULL;
    if (!page)
        lab_fail("memory", "Give the machine more memory.", "./run-qemu.sh --help", "no memory for the buffer");
    memset(page, FILL, all);
    memset(page + BEFORE, 0, bytes);
    fenced[used++] = (struct fenced){page, bytes, all};
    return page + BEFORE;
}

static void check(const struct fenced *f)
{
    const uint8_t *begin = f->page + BEFORE;
    for (const uint8_t *at = f->page; at < f->page + f->all; at++)
        if (*at != FILL && (at < begin || at >= begin + f->bytes))
            lab_fail("outside", "Your code may write the memory that it is given, from its first byte to its last one.",
                     "the lab's task.h says how large each piece of memory is",
                     "the byte at 0x%lx has changed; your memory is 0x%lx to 0x%lx", (unsigned long)(uintptr_t)at,
                     (unsigned long)(uintptr_t)begin, (unsigned long)((uintptr_t)begin + f->bytes));
}

void lab_check_fences(void)
{
    for (unsigned i = 0; i < used; i++)
        check(&fenced[i]);
}
