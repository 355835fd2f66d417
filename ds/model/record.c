/* SPDX-License-Identifier: MIT */
/* The bytes of a PEBS record: formats 0 to 3 as one nested structure, 4 and up as groups. */
#include "ds/model/internal.h"
#include "kernel/string.h"

static uint32_t build_fixed(const struct ds_model *m, uint64_t set, const struct ds_model_registers *r, uint64_t *image)
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
    fmt2->eventing_ip = r->eventing_ip;
    uint32_t size = ds_pebs_fixed_size(m->preset->format);
    memcpy(image, &record, size);
    return size;
}

static uint32_t build_adaptive(const struct ds_model *m, uint64_t set, const struct ds_model_registers *r,
                               uint64_t *image)
{
    /* One ADAPTIVE counter among those that cause the record gives all of MSR_PEBS_DATA_CFG. */
    uint64_t cfg = set & m->adaptive ? m->data_cfg : 0;
    uint32_t size = ds_pebs_adaptive_size(cfg);
    const struct ds_pebs_basic basic = {
        .head = ds_pebs_head((uint32_t)cfg, size),
        .eventing_ip = r->eventing_ip,
        .counters = set,
        .tsc = r->tsc,
    };
    uint8_t *to = (uint8_t *)image;
    memcpy(to, &basic, sizeof basic);
    to += sizeof basic;
    if (cfg & MSR_PEBS_DATA_CFG_MEMINFO) {
        memset(to, 0, sizeof(struct ds_pebs_meminfo)); /* the model knows no data accesses: unknown, not invented */
        to += sizeof(struct ds_pebs_meminfo);
    }
    if (cfg & MSR_PEBS_DATA_CFG_GPR) {
        /* clang-format off */
        struct ds_pebs_gpr gpr = {
            .rflags = r->rflags, .rip = r->rip,
            .rax = r->rax, .rcx = r->rcx, .rdx = r->rdx, .rbx = r->rbx,
            .rsp = r->rsp, .rbp = r->rbp, .rsi = r->rsi, .rdi = r->rdi,
        };
        /* clang-format on */
        memcpy(gpr.r8_r15, r->r8_r15, sizeof gpr.r8_r15);
        memcpy(to, &gpr, sizeof gpr);
    }
    return size;
}

uint32_t ds_model_build_record(const struct ds_model *m, uint64_t set, const struct ds_model_registers *r,
                               uint64_t *image)
{
    return m->preset->format < 4 ? build_fixed(m, set, r, image) : build_adaptive(m, set, r, image);
}
