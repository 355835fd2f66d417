/* SPDX-License-Identifier: MIT */
/*
 * Small objects in size classes. Each page holds objects of one class behind a header; a page whose objects are all
 * free goes back. Free objects are filled with a pattern, checked when they are handed out again. No locking:
 * kernel/memory/mem.c holds a lock around it. Pure: also compiled on the host. Misuse ends in kpanic.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/list.h"

#define KHEAP_CLASSES 7u
#define KHEAP_MAX     2016u

struct kheap {
    void *(*page_get)(void); /* 4096 bytes, so aligned; NULL without memory */
    void (*page_put)(void *page);
    struct klist partial[KHEAP_CLASSES]; /* pages with a free object */
    uint64_t live;                       /* objects handed out */
};

void kheap_init(struct kheap *heap, void *(*page_get)(void), void (*page_put)(void *));
/* Zeroed, 16-byte aligned; NULL without memory. `bytes` 1..KHEAP_MAX. */
void *kheap_alloc(struct kheap *heap, size_t bytes);
void kheap_free(struct kheap *heap, void *object);
