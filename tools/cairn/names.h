/* SPDX-License-Identifier: MIT */
/* Windows' names for what the trace holds as numbers. */
#pragma once

#include <stdint.h>

const char *cairn_state_name(uint8_t state);   /* KTHREAD_STATE: "Ready" */
const char *cairn_reason_name(uint8_t reason); /* KWAIT_REASON of Windows 10 and 11: "WrMutex" */
const char *cairn_hook_name(uint32_t hook);    /* "process start"; "unknown event" */
const char *cairn_header_name(uint8_t header); /* enum etl_header: "SYSTEM64" */
const char *cairn_form_name(uint8_t form);     /* enum cairn_form */
const char *cairn_close_name(uint8_t reason);  /* enum ccswap_close: why a batch was closed */
const char *cairn_drain_name(uint8_t reason);  /* enum cairn_ds_reason */
const char *cairn_stream_name(uint8_t stream); /* enum cairn_stream */
