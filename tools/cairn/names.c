/* SPDX-License-Identifier: MIT */
#include "tools/cairn/names.h"

#include "trace/ccswap.h"
#include "trace/format.h"

#define LOOK_UP(table, i) ((i) < sizeof(table) / sizeof((table)[0]) && (table)[i] ? (table)[i] : "?")

const char *cairn_state_name(uint8_t state)
{
    static const char *const names[KTHREAD_STATES] = {
        "Initialized", "Ready",      "Running",       "Standby",  "Terminated",
        "Waiting",     "Transition", "DeferredReady", "GateWait", "WaitingForProcessInSwap",
    };
    return LOOK_UP(names, state);
}

const char *cairn_reason_name(uint8_t reason)
{
    static const char *const names[CCSWAP_MAXIMUM_WAIT_REASON] = {
        "Executive",        "FreePage",          "PageIn",
        "PoolAllocation",   "DelayExecution",    "Suspended",
        "UserRequest",      "WrExecutive",       "WrFreePage",
        "WrPageIn",         "WrPoolAllocation",  "WrDelayExecution",
        "WrSuspended",      "WrUserRequest",     "WrEventPair",
        "WrQueue",          "WrLpcReceive",      "WrLpcReply",
        "WrVirtualMemory",  "WrPageOut",         "WrRendezvous",
        "WrKeyedEvent",     "WrTerminated",      "WrProcessInSwap",
        "WrCpuRateControl", "WrCalloutStack",    "WrKernel",
        "WrResource",       "WrPushLock",        "WrMutex",
        "WrQuantumEnd",     "WrDispatchInt",     "WrPreempted",
        "WrYieldExecution", "WrFastMutex",       "WrGuardedMutex",
        "WrRundown",        "WrAlertByThreadId", "WrDeferredPreempt",
    };
    return LOOK_UP(names, reason);
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
        [CAIRN_DS_START] = "start", [CAIRN_DS_THRESHOLD] = "threshold",
        [CAIRN_DS_STOP] = "stop",   [CAIRN_DS_RECONFIGURE] = "new configuration",
        [CAIRN_DS_PANIC] = "panic", [CAIRN_DS_SWITCH] = "switch",
        [CAIRN_DS_THROTTLE] = "throttled", [CAIRN_DS_UNTHROTTLE] = "throttled until here",
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
