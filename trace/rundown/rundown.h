/* SPDX-License-Identifier: MIT */
/*
 * Rundown events of the NT Kernel Logger: what exists when a session starts and when it stops (processes, threads,
 * images, the machine), and what begins and ends in between. This file has the hook IDs, versions and payloads of
 * Windows 10, x64, and functions that write the payloads. The layouts use only fixed-width types.
 *
 * Sources: Microsoft's MOF classes Process_TypeGroup1, Thread_TypeGroup1, Image_Load and SystemConfig_V3_* (Microsoft
 * Learn, "Event Tracing", kernel trace control API) and SampledProfileInterval_V3 (wmicore.mof of the WDK); NTWMI.H's
 * types as System Informer's phnt has them; which header an event has, from traces of builds 7600 to 26100. Group and
 * type make the hook ID: 00 header, 03 process, 05 thread, 0B configuration, 0F performance, 14 image.
 * docs/reference/format.md says when each is written.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* ================================================================ group 00: the session's head; PERFINFO header */

#define HOOK_HEADER_EXTENSION 0x0005u /* ETW_KERNEL_HEADER_EXTENSION: the masks from now on; a file's first: SYSTEM */
#define HOOK_RUNDOWN_COMPLETE 0x0008u /* no payload */
#define HOOK_GROUP_MASKS_END  0x0020u /* as 0005H: the masks up to now */
#define HOOK_VERSION_HEADER   2u      /* of these three */

struct etw_header_extension { /* ETW_KERNEL_HEADER_EXTENSION */
    uint32_t group_masks[8];  /* 00: PERFINFO_GROUPMASK */
    uint32_t version;         /* 20: of the kernel's events */
};
_Static_assert(sizeof(struct etw_header_extension) == 0x24, "ETW_KERNEL_HEADER_EXTENSION");
#define ETW_KERNEL_VERSION_10240 60u

/* ================================================================ group 03: processes */

#define HOOK_PROCESS_START    0x0301u /* SYSTEM header */
#define HOOK_PROCESS_END      0x0302u /* SYSTEM header */
#define HOOK_PROCESS_DC_START 0x0303u /* PERFINFO header */
#define HOOK_PROCESS_DC_END   0x0304u /* PERFINFO header */
#define HOOK_VERSION_PROCESS  4u

struct etw_process { /* what has a fixed place; then the user's SID, ImageFileName (8 bits a character), CommandLine,
                      * PackageFullName, ApplicationId (UTF-16), each with its 0 */
    uint64_t unique_process_key;   /* 00: address of what the kernel knows it by */
    uint32_t process_id;           /* 08 */
    uint32_t parent_id;            /* 0C */
    uint32_t session_id;           /* 10: FFFFFFFFH: none */
    int32_t exit_status;           /* 14: ETW_STILL_RUNNING until its end */
    uint64_t directory_table_base; /* 18: CR3 */
    uint32_t flags;                /* 20 */
} __attribute__((packed));
_Static_assert(sizeof(struct etw_process) == 0x24, "Process_V4_TypeGroup1");
_Static_assert(offsetof(struct etw_process, process_id) == 0x08, "Process_V4_TypeGroup1.ProcessId");
_Static_assert(offsetof(struct etw_process, directory_table_base) == 0x18, "Process_V4_TypeGroup1.DirectoryTableBase");
_Static_assert(offsetof(struct etw_process, flags) == 0x20, "Process_V4_TypeGroup1.Flags");

#define ETW_STILL_RUNNING 0x103 /* STATUS_PENDING */
#define ETW_NO_SESSION    UINT32_MAX

/* TOKEN_USER, whose first word is not 0 where a SID follows, and the SID of LocalSystem, S-1-5-18. */
struct etw_local_system {
    uint64_t token_user[2]; /* 00 */
    uint8_t sid[12];        /* 10 */
} __attribute__((packed));
_Static_assert(sizeof(struct etw_local_system) == 0x1C, "TOKEN_USER and SID");

/* ================================================================ group 05: threads */

#define HOOK_THREAD_START        0x0501u /* these four with SYSTEM header */
#define HOOK_THREAD_END          0x0502u
#define HOOK_THREAD_DC_START     0x0503u /* its header names the thread it tells of */
#define HOOK_THREAD_DC_END       0x0504u /* so does this one's */
#define HOOK_THREAD_SET_NAME     0x0548u /* PERFINFO header */
#define HOOK_VERSION_THREAD      3u
#define HOOK_VERSION_THREAD_NAME 2u

struct etw_thread {            /* then its name, UTF-16 with its 0, or nothing */
    uint32_t process_id;       /* 00 */
    uint32_t thread_id;        /* 04 */
    uint64_t stack_base;       /* 08: the kernel stack's upper end */
    uint64_t stack_limit;      /* 10 */
    uint64_t user_stack_base;  /* 18 */
    uint64_t user_stack_limit; /* 20 */
    uint64_t affinity;         /* 28: in the group of its ideal processor */
    uint64_t start_address;    /* 30: Win32StartAddr */
    uint64_t teb_base;         /* 38 */
    uint32_t sub_process_tag;  /* 40 */
    int8_t base_priority;      /* 44 */
    uint8_t page_priority;     /* 45 */
    uint8_t io_priority;       /* 46 */
    uint8_t flags;             /* 47 */
};
_Static_assert(sizeof(struct etw_thread) == 0x48, "Thread_V3_TypeGroup1");
_Static_assert(offsetof(struct etw_thread, affinity) == 0x28, "Thread_V3_TypeGroup1.Affinity");
_Static_assert(offsetof(struct etw_thread, start_address) == 0x30, "Thread_V3_TypeGroup1.Win32StartAddr");
_Static_assert(offsetof(struct etw_thread, base_priority) == 0x44, "Thread_V3_TypeGroup1.BasePriority");

struct etw_thread_name { /* then the name, UTF-16 with its 0 */
    uint32_t process_id; /* 00 */
    uint32_t thread_id;  /* 04 */
};
_Static_assert(sizeof(struct etw_thread_name) == 0x08, "ThreadSetName");

/* ================================================================ group 14: images */

#define HOOK_IMAGE_LOAD          0x030Au /* in the processes' group; SYSTEM header */
#define HOOK_IMAGE_UNLOAD        0x1402u /* SYSTEM header */
#define HOOK_IMAGE_DC_START      0x1403u /* SYSTEM header for the kernel's, PERFINFO for a process' */
#define HOOK_IMAGE_DC_END        0x1404u /* likewise */
#define HOOK_KERNEL_BASE         0x1421u /* PERFINFO header; the address alone */
#define HOOK_VERSION_IMAGE       3u
#define HOOK_VERSION_KERNEL_BASE 2u

struct etw_image {            /* then FileName, UTF-16 with its 0 */
    uint64_t image_base;      /* 00 */
    uint64_t image_size;      /* 08 */
    uint32_t process_id;      /* 10: 0: the kernel's */
    uint32_t image_checksum;  /* 14 */
    uint32_t time_date_stamp; /* 18 */
    uint8_t signature_level;  /* 1C */
    uint8_t signature_type;   /* 1D */
    uint16_t reserved0;       /* 1E */
    uint64_t default_base;    /* 20 */
    uint32_t reserved[4];     /* 28 */
};
_Static_assert(sizeof(struct etw_image) == 0x38, "Image_V3_Load");
_Static_assert(offsetof(struct etw_image, process_id) == 0x10, "Image_V3_Load.ProcessId");
_Static_assert(offsetof(struct etw_image, default_base) == 0x20, "Image_V3_Load.DefaultBase");

/* ================================================================ group 0B: the machine */

#define HOOK_CPU_CONFIG         0x0B0Au /* SYSTEM header */
#define HOOK_PROCESSOR_GROUP    0x0B1Au /* PERFINFO header */
#define HOOK_PROCESSOR_NUMBER   0x0B1Bu /* PERFINFO header */
#define HOOK_VERSION_CPU_CONFIG 3u
#define HOOK_VERSION_PROCESSOR  2u /* of the other two */

struct etw_cpu_config {              /* SystemConfig_V3_CPU */
    uint32_t mhz;                    /* 000 */
    uint32_t number_of_processors;   /* 004 */
    uint32_t mem_size;               /* 008: MB */
    uint32_t page_size;              /* 00C */
    uint32_t allocation_granularity; /* 010 */
    uint16_t computer_name[256];     /* 014 */
    uint16_t domain_name[134];       /* 214 */
    uint64_t hyper_threading_flag;   /* 320: processors that share a core with another */
    uint64_t highest_user_address;   /* 328 */
    uint16_t processor_architecture; /* 330: ETW_ARCHITECTURE_AMD64 */
    uint16_t processor_level;        /* 332: family */
    uint16_t processor_revision;     /* 334: model, stepping */
    uint8_t nx_enabled;              /* 336: it is not settled which of the two comes first */
    uint8_t pae_enabled;             /* 337 */
    uint32_t memory_speed;           /* 338: MHz; 0: not known */
} __attribute__((packed));
_Static_assert(sizeof(struct etw_cpu_config) == 0x33C, "SystemConfig_V3_CPU");
_Static_assert(offsetof(struct etw_cpu_config, computer_name) == 0x014, "SystemConfig_V3_CPU.ComputerName");
_Static_assert(offsetof(struct etw_cpu_config, hyper_threading_flag) == 0x320, "SystemConfig_V3_CPU.HyperThreading");
_Static_assert(offsetof(struct etw_cpu_config, processor_architecture) == 0x330, "SystemConfig_V3_CPU.ProcessorArch");
_Static_assert(offsetof(struct etw_cpu_config, memory_speed) == 0x338, "SystemConfig_V3_CPU.MemorySpeed");
#define ETW_ARCHITECTURE_AMD64 9u

/* ================================================================ group 0F: samples' interval; SYSTEM header */

#define HOOK_PROFILE_INTERVAL         0x0F48u /* it changes */
#define HOOK_PROFILE_DC_START         0x0F49u /* what it is when a session begins to sample, */
#define HOOK_PROFILE_DC_END           0x0F4Au /* and ends */
#define HOOK_VERSION_PROFILE_INTERVAL 3u      /* of these three */

struct etw_profile_interval { /* then the source's name, UTF-16 with its 0 */
    uint32_t source;          /* 00: trace/pmc_sources.h */
    uint32_t new_interval;    /* 04: in units of 100 ns */
    uint32_t old_interval;    /* 08 */
};
_Static_assert(sizeof(struct etw_profile_interval) == 0x0C, "SampledProfileInterval_V3");
_Static_assert(offsetof(struct etw_profile_interval, new_interval) == 0x04, "SampledProfileInterval_V3.NewInterval");
_Static_assert(offsetof(struct etw_profile_interval, old_interval) == 0x08, "SampledProfileInterval_V3.OldInterval");

/* ================================================================ payloads */

/* The longest of them: processor numbers; text is cut at ETW_NAME_MAX characters. */
#define ETW_RUNDOWN_MAX 0x408u
#define ETW_NAME_MAX    64u
struct etw_payload {
    uint32_t size;
    uint8_t bytes[ETW_RUNDOWN_MAX];
};

/* Each writes one payload anew. Text is ASCII, becomes UTF-16 where it says so. */

/* User: LocalSystem. No command line, package, application. */
void trace_rundown_process(struct etw_payload *p, const struct etw_process *process, const char *name);
/* `name` NULL: without. */
void trace_rundown_thread(struct etw_payload *p, const struct etw_thread *thread, const char *name);
void trace_rundown_thread_name(struct etw_payload *p, uint32_t process_id, uint32_t thread_id, const char *name);
void trace_rundown_image(struct etw_payload *p, const struct etw_image *image, const char *name);
void trace_rundown_kernel_base(struct etw_payload *p, uint64_t base);
void trace_rundown_masks(struct etw_payload *p, const uint32_t masks[8]);
/* `computer` becomes the ComputerName of *config. */
void trace_rundown_cpu_config(struct etw_payload *p, const struct etw_cpu_config *config, const char *computer);
/* Windows' processor groups: of 64 CPUs each, the last one of what is left. Those of `group`, bit i: its CPU i. */
#define TRACE_GROUP_CPUS 64u
uint64_t trace_rundown_group(uint32_t cpus, uint32_t group);
/* PROCESSOR_NUMBER: group 2 bytes, the CPU's number in it 1, reserved 1. */
#define ETW_PROCESSOR_NUMBER(cpu) ((cpu) / TRACE_GROUP_CPUS | (cpu) % TRACE_GROUP_CPUS << 16)
/* The groups, each with its CPUs; and the numbers of all CPUs. `cpus`: 1..MAX_CPUS. */
void trace_rundown_processor_group(struct etw_payload *p, uint32_t cpus);
void trace_rundown_processor_numbers(struct etw_payload *p, uint32_t cpus);
/* Of the timer. */
void trace_rundown_profile_interval(struct etw_payload *p, uint32_t new_interval, uint32_t old_interval);
