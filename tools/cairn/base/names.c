/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/names.h"

#include <stddef.h>

#include "trace/ccswap.h"
#include "trace/wire/format.h"
#include "trace/wire/switch_words.h"

#define LOOK_UP(table, i) ((i) < sizeof(table) / sizeof((table)[0]) && (table)[i] ? (table)[i] : "?")

#define REASONS TRACE_SWITCH_REASONS

const char *const cairn_switch_words[] = {
    TRACE_SWITCH_WORDS,
    NULL,
};
_Static_assert(sizeof(cairn_switch_words) / sizeof(cairn_switch_words[0]) == KTHREAD_STATES + REASONS + 1,
               "states, then reasons, by their numbers");

const char *cairn_state_name(uint8_t state)
{
    return state < KTHREAD_STATES ? cairn_switch_words[state] : "?";
}

const char *cairn_reason_name(uint8_t reason)
{
    return reason < REASONS                 ? cairn_switch_words[KTHREAD_STATES + reason]
           : reason == CAIRN_REASON_UNKNOWN ? "unknown"
                                            : "?";
}

unsigned cairn_linux_state(uint8_t state)
{
    switch (state) {
    case KTHREAD_WAITING:
    case KTHREAD_GATE_WAIT:
        return CAIRN_LINUX_INTERRUPTIBLE;
    case KTHREAD_TRANSITION: /* its stack, or its process, is not in memory */
    case KTHREAD_WAITING_FOR_PROCESS_IN_SWAP:
        return CAIRN_LINUX_UNINTERRUPTIBLE;
    case KTHREAD_TERMINATED:
        return CAIRN_LINUX_DEAD;
    default: /* it can run */
        return CAIRN_LINUX_RUNNING;
    }
}

/* What Windows calls them in its type names, in words. */
const char *cairn_hook_name(uint32_t hook)
{
    static const struct {
        uint16_t hook;
        const char *name;
    } names[] = {
        {0x0000, "file header"},
        {0x0005, "header extension"},
        {0x0008, "rundown complete"},
        {0x0020, "group masks until here"},
        {0x0030, "rundown begins"},
        {0x0031, "rundown ends"},
        {0x0040, "debug ID"},
        {0x0042, "build"},
        {0x0050, "partition"},
        {0x0052, "last dropped times"},
        {0x010A, "disk read"},
        {0x010B, "disk write"},
        {0x010C, "disk read begins"},
        {0x010D, "disk write begins"},
        {0x010E, "disk flush"},
        {0x010F, "disk flush begins"},
        {0x0122, "driver called"},
        {0x0123, "driver returns"},
        {0x0125, "driver completion routine"},
        {0x0134, "driver completes request"},
        {0x0135, "driver request completed"},
        {0x0137, "optical disk read"},
        {0x0138, "optical disk write"},
        {0x0139, "optical disk flush"},
        {0x013A, "optical disk read begins"},
        {0x013B, "optical disk write begins"},
        {0x013C, "optical disk flush begins"},
        {0x020A, "transition fault"},
        {0x020B, "demand-zero fault"},
        {0x020C, "copy on write"},
        {0x020D, "guard page fault"},
        {0x020E, "hard page fault"},
        {0x020F, "access violation"},
        {0x0220, "hard fault"},
        {0x0262, "virtual memory allocated"},
        {0x0263, "virtual memory freed"},
        {0x0269, "image backed by file"},
        {0x027F, "virtual memory rotated"},
        {0x0280, "virtual memory (rundown)"},
        {0x0281, "virtual memory (at the end)"},
        {0x0286, "memory reset"},
        {0x0301, "process start"},
        {0x0302, "process end"},
        {0x0303, "process (rundown)"},
        {0x0304, "process (at the end)"},
        {0x030A, "image load"},
        {0x030B, "process terminated"},
        {0x0320, "process counters"},
        {0x0321, "process counters (rundown)"},
        {0x0327, "process defunct"},
        {0x0400, "file name"},
        {0x0420, "file name begins"},
        {0x0423, "file name ends"},
        {0x0424, "file name (rundown)"},
        {0x0425, "file mapped"},
        {0x0426, "file unmapped"},
        {0x0427, "file mapping (rundown)"},
        {0x0428, "file mapping (at the end)"},
        {0x0440, "file create"},
        {0x0441, "file cleanup"},
        {0x0442, "file close"},
        {0x0443, "file read"},
        {0x0444, "file write"},
        {0x0445, "file set information"},
        {0x0446, "file delete"},
        {0x0447, "file rename"},
        {0x0448, "directory listing"},
        {0x0449, "file flush"},
        {0x044A, "file query information"},
        {0x044B, "file system control"},
        {0x044C, "file operation ends"},
        {0x044D, "directory notification"},
        {0x044F, "file delete, by path"},
        {0x0450, "file rename, by path"},
        {0x0451, "file link, by path"},
        {0x0460, "filter, before operation"},
        {0x0461, "filter, after operation"},
        {0x0462, "filter completed, before"},
        {0x0463, "filter completed, after"},
        {0x0464, "filter failed, before"},
        {0x0465, "filter failed, after"},
        {0x0501, "thread start"},
        {0x0502, "thread end"},
        {0x0503, "thread (rundown)"},
        {0x0504, "thread (at the end)"},
        {0x0524, "context switch"},
        {0x0525, "context switches"},
        {0x0529, "spin lock"},
        {0x052B, "resource"},
        {0x0530, "set priority"},
        {0x0532, "ready thread"},
        {0x053D, "migration"},
        {0x0548, "thread name"},
        {0x060A, "TCP send"},
        {0x060B, "TCP receive"},
        {0x060C, "TCP connect"},
        {0x060D, "TCP disconnect"},
        {0x060E, "TCP retransmit"},
        {0x060F, "TCP accept"},
        {0x0610, "TCP reconnect"},
        {0x0611, "TCP failure"},
        {0x0612, "TCP copy"},
        {0x0613, "TCP ARP copy"},
        {0x0614, "TCP full acknowledgement"},
        {0x0615, "TCP part acknowledgement"},
        {0x0616, "TCP duplicate acknowledgement"},
        {0x061A, "TCP send, IPv6"},
        {0x061B, "TCP receive, IPv6"},
        {0x061C, "TCP connect, IPv6"},
        {0x061D, "TCP disconnect, IPv6"},
        {0x061E, "TCP retransmit, IPv6"},
        {0x061F, "TCP accept, IPv6"},
        {0x0620, "TCP reconnect, IPv6"},
        {0x0622, "TCP copy, IPv6"},
        {0x080A, "UDP send"},
        {0x080B, "UDP receive"},
        {0x0811, "UDP failure"},
        {0x081A, "UDP send, IPv6"},
        {0x081B, "UDP receive, IPv6"},
        {0x0B0A, "CPU configuration"},
        {0x0B0B, "physical disk"},
        {0x0B0C, "logical disk"},
        {0x0B0D, "network card"},
        {0x0B0E, "video"},
        {0x0B0F, "services"},
        {0x0B10, "power states"},
        {0x0B11, "network settings"},
        {0x0B12, "optical disk"},
        {0x0B13, "physical disk, extended"},
        {0x0B15, "IRQ"},
        {0x0B16, "plug and play device"},
        {0x0B17, "IDE channel"},
        {0x0B18, "NUMA nodes"},
        {0x0B19, "platform"},
        {0x0B1A, "processor groups"},
        {0x0B1B, "processor numbers"},
        {0x0B1C, "screen resolution"},
        {0x0B1D, "code integrity"},
        {0x0B1E, "telemetry"},
        {0x0B1F, "defragmentation"},
        {0x0B20, "mobile platform"},
        {0x0B21, "device family"},
        {0x0B22, "flight IDs"},
        {0x0B23, "processors"},
        {0x0B24, "virtualization"},
        {0x0B25, "boot"},
        {0x0F20, "rundown checkpoint"},
        {0x0F22, "mark"},
        {0x0F2E, "sampled profile"},
        {0x0F2F, "PMC interrupt"},
        {0x0F30, "PMC configuration"},
        {0x0F31, "PMC counter corrupt"},
        {0x0F32, "interrupt (MSI)"},
        {0x0F33, "system call enter"},
        {0x0F34, "system call exit"},
        {0x0F37, "sampled profile cache"},
        {0x0F42, "threaded DPC"},
        {0x0F43, "interrupt"},
        {0x0F44, "DPC"},
        {0x0F45, "timer DPC"},
        {0x0F47, "sampled profile (NMI)"},
        {0x0F48, "profile interval"},
        {0x0F49, "profile (rundown)"},
        {0x0F4A, "profile (at the end)"},
        {0x0F4B, "spin locks (rundown)"},
        {0x0F4C, "spin locks (at the end)"},
        {0x0F4F, "clock interrupt"},
        {0x0F5B, "IPI"},
        {0x0F5C, "unexpected interrupt"},
        {0x0F64, "DPC enqueue"},
        {0x0F65, "DPC execution"},
        {0x1402, "image unload"},
        {0x1403, "image (rundown)"},
        {0x1404, "image (at the end)"},
        {0x1421, "kernel base"},
        {0x1422, "hypercall page"},
        {0x1820, "stack"},
        {0x1822, "stack key created"},
        {0x1823, "stack key deleted"},
        {0x1824, "stack key (rundown)"},
        {0x1825, "stack key, kernel"},
        {0x1826, "stack key, user"},
        {0xCA01, "PEBS drain or records"},
        {0xCA02, "BTS drain or records"},
        {0xCA03, "model's log"},
        {0xCA04, "samples swallowed"},
        {0xCA0F, "stream of a serial log"},
        {0xCA10, "start, stop of a session"},
    };
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].hook == hook)
            return names[i].name;
    return "unknown event";
}

const char *cairn_form_name(uint8_t form)
{
    static const char *const names[] = {"IDLE_SHORT", "IDLE", "LITE", "FULL", "0524H"};
    return LOOK_UP(names, form);
}

const char *cairn_close_name(uint8_t reason)
{
    static const char *const names[CCSWAP_CLOSE_REASONS] = {
        [CCSWAP_CLOSE_TIDS] = "17th thread",
        [CCSWAP_CLOSE_AGE] = "500 ticks old",
        [CCSWAP_CLOSE_SPACE] = "400H bytes full",
        [CCSWAP_CLOSE_DELTA] = "2^30 units pause",
        [CCSWAP_CLOSE_STOP] = "stop",
        [CCSWAP_CLOSE_DRAIN] = "drain",
        [CCSWAP_CLOSE_PANIC] = "panic",
    };
    return LOOK_UP(names, reason);
}

const char *cairn_drain_name(uint8_t reason)
{
    static const char *const names[] = {
        [CAIRN_DS_START] = "start",
        [CAIRN_DS_THRESHOLD] = "threshold",
        [CAIRN_DS_STOP] = "stop",
        [CAIRN_DS_RECONFIGURE] = "new configuration",
        [CAIRN_DS_PANIC] = "panic",
        [CAIRN_DS_SWITCH] = "switch",
        [CAIRN_DS_THROTTLE] = "throttled",
        [CAIRN_DS_UNTHROTTLE] = "throttled until here",
        [CAIRN_DS_SOFTWARE] = "by software",
    };
    return LOOK_UP(names, reason);
}

const char *cairn_stream_name(uint8_t stream)
{
    switch (stream) {
    case CAIRN_STREAM_HEADER:
        return "header";
    case CAIRN_STREAM_MACHINE:
        return "machine";
    case CAIRN_STREAM_NAMES:
        return "names";
    case CAIRN_STREAM_SYMBOLS:
        return "symbols";
    case CAIRN_STREAM_SESSION:
        return "session";
    case CAIRN_STREAM_TRACE:
        return "trace";
    case CAIRN_STREAM_END:
        return "end summary";
    case CAIRN_STREAM_TRUTH:
        return "truth";
    case CAIRN_STREAM_LAST:
        return "trailer";
    default:
        return "?";
    }
}
