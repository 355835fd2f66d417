/* SPDX-License-Identifier: MIT */
/* Doubly linked ring with a head. A node that is in no list points at itself. No locking: the owner says which lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct klist {
    struct klist *next, *prev;
};

#define KLIST_ITEM(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))

static inline void klist_init(struct klist *l)
{
    l->next = l->prev = l;
}

static inline bool klist_empty(const struct klist *l)
{
    return l->next == l;
}

static inline void klist_add_after(struct klist *at, struct klist *node)
{
    node->prev = at;
    node->next = at->next;
    at->next->prev = node;
    at->next = node;
}

static inline void klist_add_head(struct klist *list, struct klist *node)
{
    klist_add_after(list, node);
}

static inline void klist_add_tail(struct klist *list, struct klist *node)
{
    klist_add_after(list->prev, node);
}

static inline void klist_remove(struct klist *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    klist_init(node);
}
