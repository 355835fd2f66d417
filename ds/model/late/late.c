/* SPDX-License-Identifier: MIT */
/* Policy residual: records that are stored after counters have been turned off. */
#include "ds/model/internal.h"

int ds_model_late(struct ds_model *m)
{
    struct ds_model_buffer buffer;
    if (!m->late.owed)
        return 0;
    m->late.owed--;
    if (m->preset->pebs23)
        return m->preset->pebs23->late(m);
    if (!ds_model_read_buffer(m, DS_MODEL_PEBS_BUFFER, &buffer)) {
        ds_model_lose(m, m->late.counters);
        return ds_model_fault(m);
    }
    const uint32_t size = ds_model_record_size(m, m->late.counters);
    const struct ds_model_record record = {
        .stored = ds_model_fits(m, buffer.index, size, buffer.maximum),
        .address = buffer.index,
        .size = size,
        .counters = m->late.counters,
        .registers = &m->late.registers,
    };
    if (record.stored && !ds_model_store_record(m, &record, &m->late.retired, &buffer)) {
        ds_model_lose(m, m->late.counters);
        return ds_model_fault(m);
    }
    m->dropped += !record.stored;
    if (m->host.recorded)
        m->host.recorded(m->host.context, &record);
    return 0;
}

void ds_model_late_is(struct ds_model *m, uint64_t counters, const struct ds_model_retired *retired)
{
    m->late.counters = counters;
    m->late.retired = *retired;
    m->late.retired.branch = NULL; /* the caller's, and so is this */
    m->late.retired.by = NULL;
    m->host.registers(m->host.context, &m->late.registers);
}
