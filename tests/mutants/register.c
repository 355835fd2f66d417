/* SPDX-License-Identifier: MIT */
/* Mutant 5: RBX is wrong in the first PEBS record of each drain. */
#include <stddef.h>

#include "ds/ds.h"
#include "ds/pebs23_layout.h"
#include "trace/hub.h"

int __real_trace_hub_event(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t group, uint16_t hook_id, uint8_t version,
                           const struct trace_part *parts, unsigned count);
int __wrap_trace_hub_event(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t group, uint16_t hook_id, uint8_t version,
                           const struct trace_part *parts, unsigned count);

int __wrap_trace_hub_event(struct trace_hub_cpu *hub, uint64_t tsc, uint32_t group, uint16_t hook_id, uint8_t version,
                           const struct trace_part *parts, unsigned count)
{
    const struct cairn_ds_records *head = parts[0].data;
    if (hook_id == HOOK_CAIRN_DS && head->kind == CAIRN_DS_RECORDS && !head->part) {
        /* The group of registers comes behind the basic one. */
        const size_t before = head->format == DS_FORMAT_ARCH
                                  ? sizeof(struct ds_arch_header) + sizeof(struct ds_arch_basic)
                                  : sizeof(struct ds_pebs_basic);
        ((uint8_t *)(uintptr_t)parts[1].data)[before + offsetof(struct ds_pebs_gpr, rbx)] ^= 1;
    }
    return __real_trace_hub_event(hub, tsc, group, hook_id, version, parts, count);
}
