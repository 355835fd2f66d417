/* SPDX-License-Identifier: MIT */
/* Runs a function on every CPU, interrupts off, and waits until it has run everywhere. */
#pragma once

typedef void (*kcross_call_function)(void *argument);

/* Once, boot processor, by ksched_init. */
void kcross_call_init(void);
/* On all CPUs at the same time, this one included; counting is paused on all of them. A CPU that has not reached
 * ksched_enter yet runs it there. Any interrupt state, but the caller must not hold a spinlock that another CPU may be
 * waiting for. `function` must not make a kernel call that waits. */
void kcross_call_all(kcross_call_function function, void *argument);

/* Runs the function of a kcross_call_all on this CPU, if that is due. For code that waits, with interrupts off and
 * counting paused, for something that the caller of kcross_call_all will do. */
void kcross_call_answer(void);
