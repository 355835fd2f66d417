/* SPDX-License-Identifier: MIT */
/*
 * Layouts of what leaves Cairn: the structures of ETW (NT Kernel Logger, x64), Cairn's own events, and the frames of
 * the serial dump. Other headers in trace/wire, trace/rundown/rundown.h and trace/packed/packed.h have the rest. The
 * kernel and host programs compile this file, so it includes only <stddef.h> and <stdint.h>. All values are
 * little-endian. docs/reference/format.md describes all of them in prose.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* PERFINFO_GROUPMASK: which groups of events a session wants; the groups are in trace/groups.h. */
struct perfinfo_groupmask {
    uint32_t masks[8];
};
_Static_assert(sizeof(struct perfinfo_groupmask) == 0x20, "PERFINFO_GROUPMASK");

/* ================================================================ ETW: buffers (WMI_BUFFER_HEADER, Windows 8 form) */

struct wmi_buffer_header {
    uint32_t buffer_size;     /* 00: bytes from this header to the next one */
    uint32_t saved_offset;    /* 04: used bytes, header included */
    uint32_t current_offset;  /* 08: = saved_offset here */
    int32_t reference_count;  /* 0C: 0 */
    int64_t time_stamp;       /* 10: session clock when the buffer was closed */
    int64_t sequence_number;  /* 18: order in which buffers were begun, over all CPUs of the session, from 1 */
    uint64_t clock;           /* 20: 0 */
    uint16_t processor_index; /* 28 */
    uint16_t logger_id;       /* 2A */
    uint32_t state;           /* 2C: WMI_BUFFER_STATE_FLUSH */
    uint32_t offset;          /* 30: used bytes, header included */
    uint16_t buffer_flag;     /* 34 */
    uint16_t buffer_type;     /* 36 */
    uint64_t reference[2];    /* 38: 0 */
};
_Static_assert(sizeof(struct wmi_buffer_header) == 0x48, "WMI_BUFFER_HEADER");
_Static_assert(offsetof(struct wmi_buffer_header, time_stamp) == 0x10, "WMI_BUFFER_HEADER.TimeStamp");
_Static_assert(offsetof(struct wmi_buffer_header, sequence_number) == 0x18, "WMI_BUFFER_HEADER.SequenceNumber");
_Static_assert(offsetof(struct wmi_buffer_header, processor_index) == 0x28, "WMI_BUFFER_HEADER.ClientContext");
_Static_assert(offsetof(struct wmi_buffer_header, state) == 0x2C, "WMI_BUFFER_HEADER.State");
_Static_assert(offsetof(struct wmi_buffer_header, offset) == 0x30, "WMI_BUFFER_HEADER.Offset");
_Static_assert(offsetof(struct wmi_buffer_header, buffer_flag) == 0x34, "WMI_BUFFER_HEADER.BufferFlag");
_Static_assert(offsetof(struct wmi_buffer_header, buffer_type) == 0x36, "WMI_BUFFER_HEADER.BufferType");
_Static_assert(offsetof(struct wmi_buffer_header, reference) == 0x38, "WMI_BUFFER_HEADER.ReferenceTime");

#define WMI_BUFFER_STATE_FLUSH      3u
#define WMI_BUFFER_TYPE_GENERIC     0u
#define WMI_BUFFER_FLAG_EVENTS_LOST 0x02u
#define WMI_BUFFER_FLAG_BUFFER_LOST 0x04u
#define WMI_BUFFER_FLAG_PROC_INDEX  0x20u
#define WMI_EVENT_ALIGN(n)          (((n) + 7u) & ~7u)
#define WMI_PAD_MARKER              0xFFFFFFFFu /* fills the unused tail of a buffer */

/* ================================================================ ETW: event header (PERFINFO_TRACE_HEADER, x64) */

struct perfinfo_trace_header {
    uint32_t marker;    /* 00: PERFINFO64 marker | extension bits | version of the payload */
    uint16_t size;      /* 04: header + items + payload, not padded */
    uint16_t hook_id;   /* 06 */
    int64_t time_stamp; /* 08: session clock */
};
_Static_assert(sizeof(struct perfinfo_trace_header) == 0x10, "PERFINFO_TRACE_HEADER");
_Static_assert(offsetof(struct perfinfo_trace_header, hook_id) == 6, "PERFINFO_TRACE_HEADER.HookId");

#define PERFINFO_MARKER64        0xC0110000u
#define PERFINFO_MARKER_MASK     0xFFFF0000u
#define PERFINFO_VERSION_MASK    0x000000FFu
#define PERFINFO_ITEM_PEBS_INDEX 0x00008000u /* one u64 after the header: PebsIndex */
#define PERFINFO_ITEM_PMC_SHIFT  8           /* number of u64 counter values, 0..7 */
#define PERFINFO_ITEM_PMC_MASK   0x00000700u

/* SYSTEM_TRACE_HEADER, x64: events that name a thread, such as a thread's start. */
struct system_trace_header {
    uint32_t marker;      /* 00: SYSTEM64 marker | version of the payload */
    uint16_t size;        /* 04: header + payload, not padded */
    uint16_t hook_id;     /* 06 */
    uint32_t thread_id;   /* 08 */
    uint32_t process_id;  /* 0C */
    int64_t time_stamp;   /* 10: session clock */
    uint32_t kernel_time; /* 18 */
    uint32_t user_time;   /* 1C */
};
_Static_assert(sizeof(struct system_trace_header) == 0x20, "SYSTEM_TRACE_HEADER");
_Static_assert(offsetof(struct system_trace_header, time_stamp) == 0x10, "SYSTEM_TRACE_HEADER.SystemTime");

#define SYSTEM_MARKER64 0xC0020000u

#define HOOK_CONTEXTSWAP               0x0524u /* PERFINFO_LOG_TYPE_CONTEXTSWAP, version 2 (build 10240) */
#define HOOK_CONTEXTSWAP_BATCH         0x0525u /* PERFINFO_LOG_TYPE_CONTEXTSWAP_BATCH, version 2 */
#define HOOK_VERSION_CONTEXTSWAP       2u
#define HOOK_VERSION_CONTEXTSWAP_BATCH 2u

/* =============================================================== ETW: 0525H, PERFINFO_CCSWAP_BUFFER and its records */

#define CCSWAP_TIDS 16u

struct ccswap_buffer {
    int64_t first_time_stamp;        /* 00: time of the first switch, whose delta is 0 */
    uint32_t tid_table[CCSWAP_TIDS]; /* 08: outgoing threads, first seen first; never the idle thread; 0: unused */
    int8_t thread_base_priority[CCSWAP_TIDS]; /* 48 */
};
_Static_assert(sizeof(struct ccswap_buffer) == 0x58, "PERFINFO_CCSWAP_BUFFER");
_Static_assert(offsetof(struct ccswap_buffer, tid_table) == 0x08, "PERFINFO_CCSWAP_BUFFER.TidTable");
_Static_assert(offsetof(struct ccswap_buffer, thread_base_priority) == 0x48, "PERFINFO_CCSWAP_BUFFER.ThreadBasePrio");

#define CCSWAP_BATCH_BYTES 0x400u /* PERFINFO_CCSWAP_BUFFER and records together */
#define CCSWAP_BATCH_SPARE 8u     /* a batch with fewer free bytes is written out */
#define CCSWAP_BATCH_TICKS 500u   /* older than this: written out at the next switch */

/* low two bits of a record's first byte */
enum ccswap_type {
    CCSWAP_IDLE_SHORT = 0, /* 2 bytes */
    CCSWAP_IDLE = 1,       /* 4 */
    CCSWAP_LITE = 2,       /* 4 */
    CCSWAP_FULL = 3,       /* 8 */
};
#define CCSWAP_TYPE_MASK 3u
#define CCSWAP_TYPE_BITS 2

#define CCSWAP_IDLE_SHORT_DELTA_SHIFT 2
#define CCSWAP_IDLE_SHORT_DELTA_BITS  14
#define CCSWAP_IDLE_DELTA_SHIFT       2
#define CCSWAP_IDLE_DELTA_BITS        30
#define CCSWAP_LITE_TID_SHIFT         2
#define CCSWAP_LITE_PRIINC_SHIFT      6
#define CCSWAP_LITE_PRIINC_BITS       3
#define CCSWAP_LITE_STATE_SHIFT       9
#define CCSWAP_LITE_DELTA_SHIFT       15
#define CCSWAP_LITE_DELTA_BITS        17
/* FULL: first dword */
#define CCSWAP_FULL_DELTA_SHIFT 2
#define CCSWAP_FULL_DELTA_BITS  30
/* FULL: second dword */
#define CCSWAP_FULL_TID_SHIFT      0
#define CCSWAP_FULL_STATE_SHIFT    4
#define CCSWAP_FULL_PRIORITY_SHIFT 10
#define CCSWAP_FULL_WAIT_SHIFT     15
#define CCSWAP_FULL_WAIT_BITS      17
#define CCSWAP_TID_BITS            4
#define CCSWAP_STATE_BITS          6
#define CCSWAP_PRIORITY_BITS       5

#define CCSWAP_MASK(bits) ((UINT32_C(1) << (bits)) - 1u)

/* Bytes of a record, from the low two bits of its first byte. */
static inline unsigned ccswap_record_bytes(uint8_t first_byte)
{
    return (0x8442u >> 4 * (first_byte & CCSWAP_TYPE_MASK)) & 0xFu; /* 2, 4, 4, 8 */
}

/* ================================================================ ETW: 0524H, WMI_CONTEXTSWAP (version 2) */

struct wmi_contextswap {
    uint32_t new_thread_id;               /* 00 */
    uint32_t old_thread_id;               /* 04 */
    int8_t new_thread_priority;           /* 08 */
    int8_t old_thread_priority;           /* 09 */
    uint8_t previous_cstate;              /* 0A */
    int8_t spare;                         /* 0B */
    uint8_t old_thread_wait_reason;       /* 0C: KWAIT_REASON */
    uint8_t old_thread_wait_mode;         /* 0D: 0 kernel, 1 user */
    uint8_t old_thread_state;             /* 0E: KTHREAD_STATE */
    uint8_t old_thread_ideal_processor;   /* 0F */
    uint32_t new_thread_wait_time;        /* 10: timer ticks */
    int32_t old_thread_remaining_quantum; /* 14: here: timer ticks left */
};
_Static_assert(sizeof(struct wmi_contextswap) == 0x18, "WMI_CONTEXTSWAP");
_Static_assert(offsetof(struct wmi_contextswap, old_thread_wait_reason) == 0x0C, "WMI_CONTEXTSWAP.OldThreadWaitReason");
_Static_assert(offsetof(struct wmi_contextswap, new_thread_wait_time) == 0x10, "WMI_CONTEXTSWAP.NewThreadWaitTime");

enum kthread_state {
    KTHREAD_INITIALIZED = 0,
    KTHREAD_READY = 1,
    KTHREAD_RUNNING = 2,
    KTHREAD_STANDBY = 3,
    KTHREAD_TERMINATED = 4,
    KTHREAD_WAITING = 5,
    KTHREAD_TRANSITION = 6,
    KTHREAD_DEFERRED_READY = 7,
    KTHREAD_GATE_WAIT = 8,
    KTHREAD_WAITING_FOR_PROCESS_IN_SWAP = 9,
    KTHREAD_STATES = 10,
};

/* KWAIT_REASON as of build 10240. */
#define CCSWAP_BUILD               10240u
#define CCSWAP_MAXIMUM_WAIT_REASON 39u
/* clang-format off */
enum kwait_reason {
    KWAIT_EXECUTIVE = 0, KWAIT_FREE_PAGE = 1, KWAIT_PAGE_IN = 2, KWAIT_POOL_ALLOCATION = 3,
    KWAIT_DELAY_EXECUTION = 4, KWAIT_SUSPENDED = 5, KWAIT_USER_REQUEST = 6, KWAIT_WR_EXECUTIVE = 7,
    KWAIT_WR_FREE_PAGE = 8, KWAIT_WR_PAGE_IN = 9, KWAIT_WR_POOL_ALLOCATION = 10, KWAIT_WR_DELAY_EXECUTION = 11,
    KWAIT_WR_SUSPENDED = 12, KWAIT_WR_USER_REQUEST = 13, KWAIT_WR_EVENT_PAIR = 14, KWAIT_WR_QUEUE = 15,
    KWAIT_WR_LPC_RECEIVE = 16, KWAIT_WR_LPC_REPLY = 17, KWAIT_WR_VIRTUAL_MEMORY = 18, KWAIT_WR_PAGE_OUT = 19,
    KWAIT_WR_RENDEZVOUS = 20, KWAIT_WR_KEYED_EVENT = 21, KWAIT_WR_TERMINATED = 22, KWAIT_WR_PROCESS_IN_SWAP = 23,
    KWAIT_WR_CPU_RATE_CONTROL = 24, KWAIT_WR_CALLOUT_STACK = 25, KWAIT_WR_KERNEL = 26, KWAIT_WR_RESOURCE = 27,
    KWAIT_WR_PUSH_LOCK = 28, KWAIT_WR_MUTEX = 29, KWAIT_WR_QUANTUM_END = 30, KWAIT_WR_DISPATCH_INT = 31,
    KWAIT_WR_PREEMPTED = 32, KWAIT_WR_YIELD_EXECUTION = 33, KWAIT_WR_FAST_MUTEX = 34, KWAIT_WR_GUARDED_MUTEX = 35,
    KWAIT_WR_RUNDOWN = 36, KWAIT_WR_ALERT_BY_THREAD_ID = 37, KWAIT_WR_DEFERRED_PREEMPT = 38,
};
/* clang-format on */

/* The state field of a CCSWAP record: the reason of a waiting thread, else CCSWAP_MAXIMUM_WAIT_REASON + state. */
static inline uint8_t ccswap_state_wr(uint8_t state, uint8_t wait_reason)
{
    return state == KTHREAD_WAITING ? wait_reason : (uint8_t)(CCSWAP_MAXIMUM_WAIT_REASON + state);
}

/* ================================================================ Cairn: Debug Store events inside the buffers */

/* A set of counters, numbered as in IA32_PERF_GLOBAL_STATUS, in 32 bits: bit i GP i, bit 16+i fixed i. */
/* clang-format off */
static inline uint32_t cairn_counters_pack(uint64_t n) { return (uint32_t)(n & 0xFFFF) | (uint32_t)(n >> 32) << 16; }
static inline uint64_t cairn_counters_unpack(uint32_t n) { return (n & 0xFFFF) | (uint64_t)(n >> 16) << 32; }
/* clang-format on */

/*
 * PEBS: a hook ID in a group that Windows does not use. The event has a PERFINFO header without items; its payload is a
 * struct cairn_ds_epoch or a struct cairn_ds_records, as `kind` says. Order on a CPU: batches of epoch N, then the
 * drain of epoch N, then its records, then batches of epoch N + 1. A drain with reason START opens the first epoch and
 * has no records.
 */
#define HOOK_CAIRN_DS         0xCA01u
#define HOOK_VERSION_CAIRN_DS 2u

enum cairn_ds_kind { CAIRN_DS_EPOCH = 1, CAIRN_DS_RECORDS = 2 };

enum cairn_ds_reason {
    CAIRN_DS_START = 1,       /* the CPU's DS came up; epoch begins, no records */
    CAIRN_DS_THRESHOLD = 2,   /* PMI: index reached the threshold */
    CAIRN_DS_STOP = 3,        /* end of the session */
    CAIRN_DS_RECONFIGURE = 4, /* before a change of configuration */
    CAIRN_DS_PANIC = 5,       /* read out after a panic: records may be fewer than written */
    CAIRN_DS_SWITCH = 6,      /* BTS only: another thread runs next */
    CAIRN_DS_THROTTLE = 7,    /* too many PMIs within a timer tick: nothing is counted from now on, */
    CAIRN_DS_UNTHROTTLE = 8,  /* until now, the next tick: this epoch has no records */
    CAIRN_DS_SOFTWARE = 9,    /* Linux only: no interrupt, but a switch, or an event that is read or changed */
};

#define CAIRN_DS_LOST_UNKNOWN UINT64_MAX /* buffer found full on hardware: how many were dropped cannot be known */
#define CAIRN_DS_AREA_MAX     0x1C0u

/* The epoch that ends here (START: that begins here). A copy of the DS area follows, as it was before PebsIndex was set
 * back to the base. Its size depends on the record format: 60H bytes up to format 3, A0H for format 4, 1C0H from format
 * 5 on. With format 3 it is A0H if fixed counters write records. With architectural PEBS, format 15, a struct
 * ds_arch_registers (ds/pebs23_layout.h) follows in its place, and PebsIndex in the trace is the byte offset in
 * IA32_PEBS_INDEX, from 0. */
struct cairn_ds_epoch {
    uint16_t kind;          /* 00: CAIRN_DS_EPOCH */
    uint8_t reason;         /* 02 */
    uint8_t format;         /* 03: PEBS record format */
    uint32_t epoch;         /* 04: per CPU, from 0 */
    uint64_t tsc;           /* 08: when the index was read */
    uint64_t lost;          /* 10: records dropped in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    uint32_t record_bytes;  /* 18: bytes of records that follow in CAIRN_DS_RECORDS events */
    uint32_t record_events; /* 1C: number of those events */
};
_Static_assert(sizeof(struct cairn_ds_epoch) == 0x20, "cairn_ds_epoch");

/* Raw bytes follow: whole records, or part of one that is too large for an event (format 15 only). */
struct cairn_ds_records {
    uint16_t kind;     /* 00: CAIRN_DS_RECORDS */
    uint8_t format;    /* 02 */
    uint8_t continues; /* 03: 1: it goes on with the record that the part before begins and does not end */
    uint32_t epoch;    /* 04 */
    uint64_t address;  /* 08: where the first of them lay; format 15: physical */
    uint32_t bytes;    /* 10 */
    uint32_t part;     /* 14: 0, 1, ... within the epoch */
};
_Static_assert(sizeof(struct cairn_ds_records) == 0x18, "cairn_ds_records");

/*
 * Samples without a record: the record of another counter reloaded an armed counter. The event follows the drain of a
 * PEBS epoch with such samples. It has its own hook ID, too.
 */
#define HOOK_CAIRN_SWALLOWED         0xCA04u
#define HOOK_VERSION_CAIRN_SWALLOWED 1u

struct cairn_ds_swallowed {
    uint32_t epoch;    /* 00: of PEBS, that has just ended */
    uint32_t reserved; /* 04 */
    uint64_t samples;  /* 08: or CAIRN_DS_LOST_UNKNOWN */
};
_Static_assert(sizeof(struct cairn_ds_swallowed) == 0x10, "cairn_ds_swallowed");

/*
 * A session begins on this CPU, goes on with other masks or stamps, or ends; the event goes to that session only. A
 * session's first event of a CPU is a START. After a STOP comes a START or nothing.
 */
#define HOOK_CAIRN_SESSION         0xCA10u
#define HOOK_VERSION_CAIRN_SESSION 1u

enum cairn_session_what { CAIRN_SESSION_START = 1, CAIRN_SESSION_STOP = 2, CAIRN_SESSION_MASKS = 3 };

/* The forms of switch events that carry PebsIndex. */
#define CAIRN_STAMP_FULL    1u /* 0524H */
#define CAIRN_STAMP_COMPACT 2u /* 0525H */

struct cairn_session_event {
    uint8_t what;        /* 00: enum cairn_session_what */
    uint8_t session;     /* 01: its number */
    uint8_t clock;       /* 02: enum trace_clock_type */
    uint8_t in_epoch;    /* 03: 1: an epoch of PEBS was under way */
    uint32_t life;       /* 04: how many times it had been started on this CPU before this life */
    uint64_t tsc;        /* 08 */
    uint64_t pebs_index; /* 10: 0: PEBS does not run here */
    uint32_t epoch;      /* 18: of PEBS, that the index is of */
    uint32_t stamps;     /* 1C: CAIRN_STAMP_..., from now on; STOP: until now */
    uint32_t masks[8];   /* 20: PERFINFO_GROUPMASK from now on; STOP: until now */
};
_Static_assert(sizeof(struct cairn_session_event) == 0x40, "cairn_session_event");

/* ================================================================ Cairn: the serial dump, format version 1 */

/*
 * One frame a line, ended by CR LF; other console text may stand between the lines:
 *
 *     ~ S NNNNNNNN : base64(payload) : CCCCCCCC
 *     ~ S NNNNNNNN = K characters = K characters ... : CCCCCCCC     with dump.line=8bit; never of H and Z
 *
 * without the spaces. S: stream letter. N: sequence number over all frames of the dump, from 0, eight lower-case hex
 * digits. C: CRC-32C (Castagnoli, reflected, initial and final complement) of all from S to the end of the payload,
 * eight such digits. base64 is RFC 4648's standard alphabet, padded with '='; docs/reference/format.md has
 * the 8-bit form. Neither has ':', '~' or a line end in it, so a reader that lost its place looks for the next '~'.
 */
#define CAIRN_FORMAT_VERSION    1u
#define CAIRN_FORMAT_LIVE       2u /* dump=live */
#define CAIRN_FRAME_MARK        '~'
#define CAIRN_FRAME_SEPARATOR   ':'
#define CAIRN_FRAME_PAYLOAD_MAX 1536u
#define CAIRN_FRAME_8BIT        '='                                /* in place of the first separator */
#define CAIRN_FRAME_OVERHEAD    (1u + 1u + 8u + 1u + 1u + 8u + 2u) /* mark, stream, number, two ':', CRC, CR LF */
#define CAIRN_FRAME_LINE_MAX    (CAIRN_FRAME_PAYLOAD_MAX / 3u * 4u + CAIRN_FRAME_OVERHEAD)
#define CAIRN_SYMBOLS_BASE      UINT64_C(0xFFFFFFFF80000000) /* +ADDRESS counts from where the kernel is linked */
_Static_assert(CAIRN_FRAME_PAYLOAD_MAX % 3u == 0, "frames are whole base64 groups");
_Static_assert(CAIRN_FRAME_LINE_MAX == 2070, "maximum line length, documented");

/* Streams, in the order of the dump. Text streams hold whole lines "key=value\n"; binary streams hold whole records. A
 * frame never splits a line, a record or an event, so a lost frame loses just what it held. */
enum cairn_stream {
    CAIRN_STREAM_HEADER = 'H',  /* text, one frame, number 0: cairn.format=1, dump.frames=, dump.bytes=, ...; a live
                                 * dump has a second one before the part that comes at the end */
    CAIRN_STREAM_MACHINE = 'M', /* text */
    CAIRN_STREAM_NAMES = 'N',   /* text: "TID BASE_PRIORITY FLAGS NAME\n"; FLAGS: i idle, s sampled, u user, - none */
    CAIRN_STREAM_SYMBOLS = 'S', /* text: "ADDRESS SIZE NAME\n", hex without 0x, ascending; +: CAIRN_SYMBOLS_BASE */
    CAIRN_STREAM_SESSION = 'L', /* text: session.1.KEY=VALUE */
    CAIRN_STREAM_TRACE = 'T',   /* struct cairn_trace_frame, then bytes of one buffer */
    CAIRN_STREAM_END = 'E',     /* text: end summary */
    CAIRN_STREAM_TRUTH = 'U',   /* struct cairn_truth_frame, then truth records */
    CAIRN_STREAM_LAST = 'Z',    /* text, one frame, the last: dump.frames= again */
};

struct cairn_trace_frame {
    uint32_t sequence;   /* 00: wmi_buffer_header.sequence_number, low 32 bits */
    uint32_t cpu_buffer; /* 04: number of the buffer on its CPU, from 0: a gap is a missing (or overwritten) buffer */
    uint16_t cpu;        /* 08 */
    uint16_t session;    /* 0A */
    uint32_t offset;     /* 0C: where in the buffer the bytes belong; 0 holds the WMI_BUFFER_HEADER */
    uint32_t used;       /* 10: used bytes of the whole buffer */
};
_Static_assert(sizeof(struct cairn_trace_frame) == 20, "cairn_trace_frame");
#define CAIRN_EVENT_MAX    WMI_EVENT_FLOOR(CAIRN_FRAME_PAYLOAD_MAX - 20u - 0x48u)
#define WMI_EVENT_FLOOR(n) ((n) & ~7u)
_Static_assert(CAIRN_EVENT_MAX == 1440, "the largest event Cairn writes fits a frame beside the buffer header");
_Static_assert(0x10u + 8u + CCSWAP_BATCH_BYTES <= CAIRN_EVENT_MAX, "a full batch fits one frame");
