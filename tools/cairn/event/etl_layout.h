/* SPDX-License-Identifier: MIT */
/*
 * What an ETL file has besides the buffers and events of trace/wire/format.h: the other event headers, the file's
 * header event and the rundown's payloads, as Windows 7 to 11 write them; docs/reference/etl.md says more. All values
 * are little-endian. Only what has the same size everywhere is a struct. The rest are offsets, since pointers have 4 or
 * 8 bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/rundown/rundown.h"
#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

#define ETL_BUFFER_TYPE_HEADER      4u
#define ETL_BUFFER_FLAG_FLUSH       0x01u
#define ETL_BUFFER_FLAG_BUFFER_LOST 0x04u
#define ETL_BUFFER_FLAG_COMPRESSED  0x40u
#define ETL_PROCESSOR_MASK          0x07FFu /* with WMI_BUFFER_FLAG_PROC_INDEX; without it: the low byte (Windows 7) */
#define ETL_BUFFER_MAX              (16u << 20)

/* Low word of State in the first buffer of a file with compressed ones: COMPRESSION_FORMAT_* of ntifs.h. */
enum etl_compression { ETL_LZNT1 = 2, ETL_XPRESS = 3, ETL_XPRESS_HUFFMAN = 4 };

/* ---- event headers ---------------------------------------------------------------------------------------------- */

#define ETL_MARKER_TYPE_SHIFT 16
#define ETL_MARKER_EVENT      0xC0u /* top byte: trace header, event trace */
#define ETL_MARKER_MESSAGE    0x90u /* top byte: trace header, message */

/* HeaderType, byte 2 of the marker */
enum etl_header {
    ETL_SYSTEM32 = 0x01,
    ETL_SYSTEM64 = 0x02,
    ETL_COMPACT32 = 0x03,
    ETL_COMPACT64 = 0x04,
    ETL_FULL32 = 0x0A,
    ETL_INSTANCE32 = 0x0B,
    ETL_TIMED = 0x0C,
    ETL_ERROR = 0x0D,
    ETL_WNODE = 0x0E,
    ETL_MESSAGE = 0x0F,
    ETL_PERFINFO32 = 0x10,
    ETL_PERFINFO64 = 0x11,
    ETL_EVENT32 = 0x12,
    ETL_EVENT64 = 0x13,
    ETL_FULL64 = 0x14,
    ETL_INSTANCE64 = 0x15,
};

/* MESSAGE_TRACE_HEADER (WPP): size, then the number of the message within its file of source (its GUID), and flags: of
 * each that is set an item follows, in this order. One with a component ID has no GUID; and the session's clock, not
 * the second of the flags of time, says what the time stamp counts. */
#define ETL_MESSAGE_NUMBER     4u      /* word */
#define ETL_MESSAGE_FLAGS      6u      /* word */
#define ETL_MESSAGE_SEQUENCE   0x0001u /* 4 bytes */
#define ETL_MESSAGE_GUID       0x0002u /* 16 */
#define ETL_MESSAGE_COMPONENT  0x0004u /* 4 */
#define ETL_MESSAGE_TIME       0x0018u /* 8, of either flag */
#define ETL_MESSAGE_SYSTEMINFO 0x0020u /* TID, PID: 8 */
#define ETL_MESSAGE_32_BIT     0x0040u /* of a process with pointers of 4 bytes */

/* The compact form of SYSTEM_TRACE_HEADER ends before kernel_time. */
#define ETL_COMPACT_BYTES 0x18u
_Static_assert(offsetof(struct system_trace_header, kernel_time) == ETL_COMPACT_BYTES,
               "SYSTEM_TRACE_HEADER.KernelTime");

/* EVENT_TRACE_HEADER (FULL), EVENT_INSTANCE_HEADER and EVENT_HEADER have these alike; their first word is the size. */
#define ETL_CLASSIC_THREAD   0x08u
#define ETL_CLASSIC_PROCESS  0x0Cu
#define ETL_CLASSIC_TIME     0x10u
#define ETL_CLASSIC_PROVIDER 0x18u /* GUID; not of an instance */
#define ETL_FULL_BYTES       0x30u
#define ETL_FULL_TYPE        0x04u /* Class.Type, byte */
#define ETL_FULL_LEVEL       0x05u /* Class.Level, byte */
#define ETL_FULL_VERSION     0x06u /* Class.Version, word */
#define ETL_INSTANCE_BYTES   0x38u
#define ETL_EVENT_BYTES      0x50u
#define ETL_EVENT_ID         0x28u   /* EventDescriptor (event_info_layout.h): Id, word */
#define ETL_EVENT_VERSION    0x2Au   /* byte */
#define ETL_EVENT_ACTIVITY   0x40u   /* GUID */
#define ETL_EVENT_FLAGS      0x04u   /* word */
#define ETL_EVENT_EXTENDED   0x0001u /* items are behind the header */
#define ETL_EVENT_STRING     0x0004u
#define ETL_EVENT_32_BIT     0x0020u /* of a process with pointers of 4 bytes */

/* EVENT_HEADER_EXTENDED_DATA_ITEM as a file has it: its bytes with padding to 8, type, linkage, bytes of the data. */
#define ETL_ITEM_BYTES     8u
#define ETL_ITEM_TYPE      2u
#define ETL_ITEM_LINKAGE   4u
#define ETL_ITEM_MORE      1u /* another follows */
#define ETL_ITEM_DATA_SIZE 6u
enum etl_item {
    ETL_ITEM_RELATED_ACTIVITY = 1,
    ETL_ITEM_STACK32 = 5,
    ETL_ITEM_STACK64 = 6,
    ETL_ITEM_SCHEMA = 11,
    ETL_ITEM_PROVIDER_TRAITS = 12
};
#define ETL_ITEM_STACK_FRAMES 8u /* behind MatchId */

/* TraceLogging's schema of an event: its bytes (a word), tags, name; of each field name, type, and where their highest
 * bits say so how it is to look, and tags; then the elements of an array whose number is fixed. */
#define ETL_TL_CHAIN          0x80u
#define ETL_TL_TYPE_MASK      0x1Fu
#define ETL_TL_COUNT_MASK     0x60u
#define ETL_TL_FIXED_COUNT    0x20u /* a word of the schema */
#define ETL_TL_VARIABLE_COUNT 0x40u /* a word in front of the elements */
#define ETL_TL_CUSTOM         0x60u /* a word with the bytes of a type, and these; in the payload as binary */
/* clang-format off */
enum etl_tl_in {
    ETL_TL_NULL, ETL_TL_UTF16, ETL_TL_ANSI, ETL_TL_INT8, ETL_TL_UINT8, ETL_TL_INT16, ETL_TL_UINT16, ETL_TL_INT32,
    ETL_TL_UINT32, ETL_TL_INT64, ETL_TL_UINT64, ETL_TL_FLOAT, ETL_TL_DOUBLE, ETL_TL_BOOL32, ETL_TL_BINARY, ETL_TL_GUID,
    ETL_TL_POINTER /* not of TraceLogging */, ETL_TL_FILETIME, ETL_TL_SYSTEMTIME, ETL_TL_SID, ETL_TL_HEX32,
    ETL_TL_HEX64, ETL_TL_COUNTED_UTF16, ETL_TL_COUNTED_ANSI,
    ETL_TL_STRUCT /* of as many fields as its out type says */, ETL_TL_COUNTED_BINARY,
};
/* clang-format on */
/* clang-format off */
enum etl_tl_out {
    ETL_TL_OUT_STRING = 2, ETL_TL_OUT_BOOLEAN, ETL_TL_OUT_HEX, ETL_TL_OUT_PORT = 7, ETL_TL_OUT_IPV4, ETL_TL_OUT_IPV6,
    ETL_TL_OUT_NTSTATUS = 14, ETL_TL_OUT_HRESULT, ETL_TL_OUT_FILETIME, ETL_TL_OUT_CODE_POINTER = 37,
};
/* clang-format on */

/* ---- the file's first event: TRACE_LOGFILE_HEADER --------------------------------------------------------------- */

#define ETL_HOOK_HEADER 0x0000u /* of HOOK_VERSION_HEADER, as its group's others */

struct etl_logfile_header {     /* up to where pointers begin */
    uint32_t buffer_size;       /* 00: bytes */
    uint8_t version[4];         /* 04: major, minor, layout: 1.5 plain, 2.0 compressed or large */
    uint32_t provider_version;  /* 08: build of the operating system */
    uint32_t processors;        /* 0C */
    int64_t end_time;           /* 10: FILETIME; 0 until closed */
    uint32_t timer_resolution;  /* 18: of 100 ns */
    uint32_t maximum_file_size; /* 1C: MB */
    uint32_t log_file_mode;     /* 20 */
    uint32_t buffers_written;   /* 24: by the session, the first one included */
    uint32_t start_buffers;     /* 28: 1 */
    uint32_t pointer_size;      /* 2C */
    uint32_t events_lost;       /* 30 */
    uint32_t cpu_mhz;           /* 34 */
};
_Static_assert(sizeof(struct etl_logfile_header) == 0x38, "TRACE_LOGFILE_HEADER");
_Static_assert(offsetof(struct etl_logfile_header, end_time) == 0x10, "TRACE_LOGFILE_HEADER.EndTime");
_Static_assert(offsetof(struct etl_logfile_header, pointer_size) == 0x2C, "TRACE_LOGFILE_HEADER.PointerSize");

/* then two pointers, whose place holds HAL_PLATFORM_TIMER_SOURCEs of clock interrupt and performance counter, then */
struct etl_time_zone {          /* TIME_ZONE_INFORMATION: biases are minutes from local time to UTC */
    int32_t bias;               /* 00 */
    uint16_t name[32];          /* 04: UTF-16, of the standard time */
    uint16_t standard[8];       /* 44: SYSTEMTIME when that begins; its month 0: there is no daylight time */
    int32_t standard_bias;      /* 54: beside `bias` */
    uint16_t daylight_name[32]; /* 58 */
    uint16_t daylight[8];       /* 98: when the daylight time begins */
    int32_t daylight_bias;      /* A8 */
};
#define ETL_ZONE_AT(pointer_bytes) (0x38u + 2u * (pointer_bytes))
_Static_assert(sizeof(struct etl_time_zone) == 0xAC, "TIME_ZONE_INFORMATION");
_Static_assert(offsetof(struct etl_time_zone, standard) == 0x44, "TIME_ZONE_INFORMATION.StandardDate");
_Static_assert(offsetof(struct etl_time_zone, daylight) == 0x98, "TIME_ZONE_INFORMATION.DaylightDate");
/* SYSTEMTIME by its words; of a zone with year 0 the day is the which of its weekday in the month, 5 the last */
enum etl_systemtime { ETL_YEAR, ETL_MONTH, ETL_WEEKDAY, ETL_DAY, ETL_HOUR, ETL_MINUTE, ETL_SECOND };
/* then, behind padding to 8, */
struct etl_logfile_times {
    int64_t boot_time;     /* 00: FILETIME */
    int64_t frequency;     /* 08: of the performance counter, Hz */
    int64_t start_time;    /* 10: FILETIME of this event's own time stamp */
    uint32_t clock_type;   /* 18: ReservedFlags: enum etl_clock */
    uint32_t buffers_lost; /* 1C */
};
_Static_assert(sizeof(struct etl_logfile_times) == 0x20, "TRACE_LOGFILE_HEADER.BootTime");
#define ETL_TIMES_AT(pointer_bytes) ((ETL_ZONE_AT(pointer_bytes) + (uint32_t)sizeof(struct etl_time_zone) + 7u) & ~7u)
_Static_assert(ETL_TIMES_AT(8) == 0xF8 && ETL_TIMES_AT(4) == 0xF0, "TRACE_LOGFILE_HEADER.BootTime");
/* then logger name and log file name, NUL-terminated UTF-16 */
#define ETL_MERGED_NAME "[multiple files]" /* the latter, of a file that was made of several */

enum etl_clock { ETL_CLOCK_COUNTER = 1, ETL_CLOCK_SYSTEM_TIME = 2, ETL_CLOCK_CYCLES = 3 };
#define ETL_MODE_SEQUENTIAL    0x00000001u
#define ETL_MODE_CIRCULAR      0x00000002u
#define ETL_MODE_APPEND        0x00000004u
#define ETL_MODE_NEW_FILE      0x00000008u /* goes on in another file once one is full */
#define ETL_MODE_BUFFERING     0x00000400u /* in memory, the newest, until it is written as a file */
#define ETL_MODE_PRIVATE       0x00000800u /* a process' own: its threads share buffers */
#define ETL_MODE_RELOG         0x00010000u /* written anew, perhaps with fewer events or others */
#define ETL_MODE_SYSTEM_LOGGER 0x02000000u
#define ETL_MODE_SHARED_BUFFER 0x10000000u /* NO_PER_PROCESSOR_BUFFERING */
#define ETL_TIMER_SOURCE_TSC   6u          /* HAL_PLATFORM_TIMER_SOURCE: processor counter */
#define ETL_TIMER_SOURCE_APIC  9u

/* ---- rundown: offsets, with p the bytes of a pointer ------------------------------------------------------------ */

/* Process: UniqueProcessKey p, then four words, DirectoryTableBase p (version 3), Flags 4 (version 4); then a SID,
 * ImageFileName (8-bit), CommandLine, PackageFullName, ApplicationId (UTF-16). */
#define ETL_PROCESS_ID(p)             (p)
#define ETL_PROCESS_PARENT(p)         ((p) + 4u)
#define ETL_PROCESS_FIXED(p, version) ((p) + 16u + ((version) >= 3 ? (p) : 0u) + ((version) >= 4 ? 4u : 0u))
_Static_assert(ETL_PROCESS_FIXED(8, 4) == sizeof(struct etw_process), "Process_V4");
#define ETL_TOKEN_USER(p)             (2u * (p)) /* before a SID; its first word 0: neither is there */
#define ETL_SID_BYTES(subauthorities) (8u + 4u * (subauthorities))
#define ETL_SID_SUBAUTHORITIES_MOST   15u

#define ETL_THREAD_PROCESS  0u
#define ETL_THREAD_ID       4u
#define ETL_THREAD_BASE(p)  (8u + 7u * (p) + 4u)
#define ETL_THREAD_FIXED(p) (8u + 7u * (p) + 8u)
_Static_assert(ETL_THREAD_FIXED(8) == sizeof(struct etw_thread) && ETL_THREAD_FIXED(4) == 0x2C, "Thread_V3");

#define ETL_IMAGE_PROCESS(p)        (2u * (p))
#define ETL_IMAGE_FIXED(p, version) ((version) >= 2 ? 3u * (p) + 0x20u : 2u * (p) + 4u)
_Static_assert(ETL_IMAGE_FIXED(8, 3) == sizeof(struct etw_image), "Image_V3");

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Windows 7 has DPC and ISR in a sample's byte 0EH, too, but not the priority: builds before 9200 do not. */
#define ETL_BUILD_SAMPLE_PRIORITY 9200u

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* From this build on the idle process has a thread for each CPU ("DPC Delegate Thread"), which only DCEnd lists. */
#define ETL_BUILD_DPC_DELEGATES 20348u

/* ---- call stacks, of the event with their time stamp and thread -------------------------------------------------- */

#define HOOK_STACK             0x1820u
#define HOOK_STACK_KEY_CREATED 0x1822u /* this and the next two: a key, of a pointer's bytes, then its addresses */
#define HOOK_STACK_KEY_DELETED 0x1823u
#define HOOK_STACK_KEY_RUNDOWN 0x1824u
#define HOOK_STACK_KEY_KERNEL  0x1825u /* a key in place of addresses, as in the next */
#define HOOK_STACK_KEY_USER    0x1826u
#define HOOK_VERSION_STACK     2u /* of all */
#define ETL_STACK_TIME         0u
#define ETL_STACK_PROCESS      8u
#define ETL_STACK_THREAD       12u
#define ETL_STACK_FIXED        16u /* then addresses, the innermost first */

/* ---- names of files: a key, of a pointer's bytes, and UTF-16 ----------------------------------------------------- */

#define HOOK_FILE_NAME    0x0400u
#define HOOK_FILE_CREATED 0x0420u
#define HOOK_FILE_DELETED 0x0423u
#define HOOK_FILE_RUNDOWN 0x0424u

/* ---- spin locks ------------------------------------------------------------------------------------------------- */

/* WMI_SPINLOCK: two pointers, then as in trace/wire/format.h. */
#define ETL_SPINLOCK_BYTES(p) (2u * (p) + 0x28u)
_Static_assert(ETL_SPINLOCK_BYTES(8) == sizeof(struct wmi_spinlock), "WMI_SPINLOCK");
_Static_assert(offsetof(struct wmi_spinlock, acquire_time) == 16, "WMI_SPINLOCK: two pointers first");

/* ---- Cairn's own ------------------------------------------------------------------------------------------------ */

/*
 * One payload of the serial dump that is not a buffer: text of the machine, names, symbols, the session and the end, or
 * truth. With these a file is as complete as the log it was made from. PERFINFO64 header.
 */
#define HOOK_CAIRN_STREAM         0xCA0Fu
#define HOOK_VERSION_CAIRN_STREAM 1u

struct etl_cairn_stream { /* the payload follows */
    uint8_t stream;       /* 00: enum cairn_stream */
    uint8_t reserved[3];  /* 01 */
    uint32_t number;      /* 04: of the frame in the log; the writer's own text: 0 */
};
_Static_assert(sizeof(struct etl_cairn_stream) == 8, "etl_cairn_stream");
#define ETL_CAIRN_LOGGER "Cairn" /* logger name of the files written here */
