/* SPDX-License-Identifier: MIT */
/* Runs a function on every CPU, interrupts off, and waits until it has run everywhere. */
#pragma once

typedef void (*kcall_function)(void *argument);

/* Once, boot processor, by ksched_init. */
void kcall_init(void);
/* At the same time on all, this one included; counting is paused on all of them. A CPU still on its way to
 * ksched_enter answers when it gets there. Any interrupt state, but no spinlock may be held that another CPU could be
 * waiting for. In `function` no kernel call that waits. */
void kcall_all(kcall_function function, void *argument);

/* The same on this CPU alone, on whichever the thread finds itself. */
void kcall_here(kcall_function function, void *argument);

/* Runs the function here where this CPU has been asked to and has not done so yet: for who waits with interrupts off,
 * and counting paused, for something a caller of kcall_all will do. */
void kcall_answer(void);
