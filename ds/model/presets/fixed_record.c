/* SPDX-License-Identifier: MIT */
/* Records of the formats 0 to 3, nested structures. */
#include "ds/caps.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

bool ds_model_write_fixed(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired,
                          const struct ds_model_registers *r, uint64_t address)
{
    struct ds_pebs_fmt3 record = {.tsc = r->tsc};
    struct ds_pebs_fmt2 *fmt2 = &record.fmt2;
    struct ds_pebs_fmt0 *fmt0 = &fmt2->fmt1.registers;
    /* clang-format off */
    *fmt0 = (struct ds_pebs_fmt0){
        .rflags = r->rflags, .rip = r->rip,
        .rax = r->rax, .rbx = r->rbx, .rcx = r->rcx, .rdx = r->rdx,
        .rsi = r->rsi, .rdi = r->rdi, .rbp = r->rbp, .rsp = r->rsp,
    };
    /* clang-format on */
    memcpy(fmt0->r8_r15, r->r8_r15, sizeof r->r8_r15);
    /* Formats 1 and 2 show every overflow there is; format 3 the counters this record is for. */
    fmt2->fmt1.status = m->preset->format < 3 ? m->global_status : set;
    fmt2->fmt1.data_linear_address = ds_model_data_address(m, set, retired);
    fmt2->fmt1.data_source = ds_model_data_source(m, set, retired);
    fmt2->fmt1.latency = ds_model_latency(m, set, retired);
    fmt2->eventing_ip = r->eventing_ip;
    return ds_model_write(m, address, &record, ds_pebs_fixed_size(m->preset->format));
}
