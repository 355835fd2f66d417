/* SPDX-License-Identifier: MIT */
#include "kernel/memory/heap.h"

#include <stdbool.h>

#include "kernel/lib/panic.h"
#include "kernel/lib/string.h"

#define PAGE        4096u
#define PAGE_HEADER 64u
#define PAGE_MAGIC  UINT32_C(0x4F424A53) /* "SJBO" in memory */
#define POISON      0xD5
#define POISON_WORD UINT64_C(0xD5D5D5D5D5D5D5D5)

struct page {
    struct klist link; /* in partial[class] while `free` is not NULL */
    struct object *free;
    uint32_t magic;
    uint16_t class;
    uint16_t live;
};
_Static_assert(sizeof(struct page) <= PAGE_HEADER, "heap page header");

struct object { /* a free one; the rest of it is POISON */
    struct object *next;
};

/* Multiples of 16 that waste little of a page. */
static const uint16_t class_bytes[KHEAP_CLASSES] = {32, 64, 128, 256, 496, 1008, KHEAP_MAX};

static struct page *page_of(const void *object)
{
    return (struct page *)((uintptr_t)object & ~(uintptr_t)(PAGE - 1));
}

static bool poisoned(const struct object *o, size_t bytes)
{
    const uint64_t *word = (const uint64_t *)(o + 1), *end = (const uint64_t *)((const char *)o + bytes);
    for (; word < end; word++)
        if (*word != POISON_WORD)
            return false;
    return true;
}

static void put_free(struct page *page, struct object *o)
{
    memset(o, POISON, class_bytes[page->class]);
    o->next = page->free;
    page->free = o;
}

void kheap_init(struct kheap *heap, void *(*page_get)(void), void (*page_put)(void *))
{
    heap->page_get = page_get;
    heap->page_put = page_put;
    heap->live = 0;
    for (unsigned i = 0; i < KHEAP_CLASSES; i++)
        klist_init(&heap->partial[i]);
}

static struct page *new_page(struct kheap *heap, unsigned class)
{
    struct page *page = heap->page_get();
    if (!page)
        return NULL;
    page->magic = PAGE_MAGIC;
    page->class = (uint16_t) class;
    page->live = 0;
    page->free = NULL;
    for (unsigned at = PAGE_HEADER; at + class_bytes[class] <= PAGE; at += class_bytes[class])
        put_free(page, (struct object *)((char *)page + at));
    klist_add_head(&heap->partial[class], &page->link);
    return page;
}

void *kheap_alloc(struct kheap *heap, size_t bytes)
{
    unsigned class = 0;
    if (bytes == 0 || bytes > KHEAP_MAX)
        kpanic("heap: %lu bytes asked for: 1 to %u, more from kmem_pages_alloc", (unsigned long)bytes, KHEAP_MAX);
    while (class_bytes[class] < bytes)
        class ++;
    struct page *page = klist_empty(&heap->partial[class]) ? new_page(heap, class)
                                                           : KLIST_ITEM(heap->partial[class].next, struct page, link);
    if (!page)
        return NULL;
    struct object *o = page->free;
    if (!poisoned(o, class_bytes[class]))
        kpanic("heap: %p was written to after it was freed", (void *)o);
    page->free = o->next;
    page->live++;
    if (!page->free)
        klist_remove(&page->link);
    heap->live++;
    memset(o, 0, class_bytes[class]);
    return o;
}

void kheap_free(struct kheap *heap, void *object)
{
    struct page *page = page_of(object);
    uintptr_t at = (uintptr_t)object - (uintptr_t)page - PAGE_HEADER;
    if (page->magic != PAGE_MAGIC || at % class_bytes[page->class] != 0)
        kpanic("heap: %p is freed but is no object", object);
    for (const struct object *o = page->free; o; o = o->next)
        if (o == object)
            kpanic("heap: %p is freed twice", object);
    if (!page->free)
        klist_add_head(&heap->partial[page->class], &page->link);
    put_free(page, object);
    heap->live--;
    if (--page->live == 0) {
        klist_remove(&page->link);
        page->magic = 0;
        heap->page_put(page);
    }
}
