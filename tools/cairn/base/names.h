/* SPDX-License-Identifier: MIT */
/* Windows' names for numbers in the trace. */
#pragma once

#include <stdint.h>

/* Windows' names of the KTHREAD_STATES states, then of the wait reasons, up to a NULL. */
extern const char *const cairn_switch_words[];
/* Linux' state, as in sched_switch, of a thread that leaves a processor in this KTHREAD_STATE. */
enum { CAIRN_LINUX_RUNNING = 0, CAIRN_LINUX_INTERRUPTIBLE = 1, CAIRN_LINUX_UNINTERRUPTIBLE = 2, CAIRN_LINUX_DEAD = 16 };
unsigned cairn_linux_state(uint8_t state);
const char *cairn_state_name(uint8_t state);   /* KTHREAD_STATE: "Ready" */
#define CAIRN_REASON_UNKNOWN UINT8_MAX         /* it waits, as Linux' threads do, and nothing says for what */
const char *cairn_reason_name(uint8_t reason); /* KWAIT_REASON of Windows 10 and 11: "WrMutex" */
const char *cairn_hook_name(uint32_t hook);    /* "process start"; "unknown event" */
const char *cairn_form_name(uint8_t form);     /* enum cairn_form */
const char *cairn_close_name(uint8_t reason);  /* enum ccswap_close: why a batch was closed */
const char *cairn_drain_name(uint8_t reason);  /* enum cairn_ds_reason */
const char *cairn_stream_name(uint8_t stream); /* enum cairn_stream */
