/* SPDX-License-Identifier: MIT */
/*
 * What libcairn-pebs costs: a buffer of 64 KiB, as Linux has one, is gone through again and again on one core, by
 * record, with the instruction and the time of each, and with every field. Prints `name value unit` lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "tools/pebs/pebs.h"

#define BUFFER  65536u
#define SECONDS 0.3

enum how { ALONE, IP_AND_TIME, FIELDS };

static uint8_t buffer[BUFFER];
static volatile uint64_t sink; /* or nothing would have to be read */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put64(size_t at, uint64_t value)
{
    memcpy(buffer + at, &value, sizeof(value));
}

/* Records with general registers, as many as there is room for. Returns their bytes. */
static size_t fill(unsigned format)
{
    const uint64_t groups = DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR;
    const uint32_t size = format == CAIRN_PEBS_ARCH ? ds_arch_record_bytes(groups, 0, 0)
                                                    : cairn_pebs_bytes(format, MSR_PEBS_DATA_CFG_GPR);
    size_t at = 0;
    for (; BUFFER - at >= size; at += size) {
        for (uint32_t i = 0; i < size; i += 8)
            put64(at + i, 0x401000 + at + i);
        if (format == CAIRN_PEBS_ARCH)
            put64(at, groups | size);
        else if (format >= 4)
            put64(at, ds_pebs_head(MSR_PEBS_DATA_CFG_GPR, size));
    }
    return at;
}

static uint64_t go_through(unsigned format, size_t bytes, enum how how)
{
    struct cairn_pebs_buffer b;
    struct cairn_pebs_record r;
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    uint64_t records = 0, value = 0, sum = 0;
    cairn_pebs_open(&b, format, buffer, bytes);
    for (; cairn_pebs_record(&b, &r) == 1; records++) {
        if (how == ALONE) {
            sum += r.size;
        } else if (how == IP_AND_TIME) {
            cairn_pebs_get(format, r.bytes, r.size, CAIRN_PEBS_EVENTING_IP, &value);
            sum += value;
            cairn_pebs_get(format, r.bytes, r.size, CAIRN_PEBS_TSC, &value);
            sum += value;
        } else {
            for (cairn_pebs_walk(&walk, format, r.bytes, r.size); cairn_pebs_next(&walk, &f);)
                sum += f.value;
        }
    }
    if (b.at != bytes)
        exit(1);
    sink = sum;
    return records;
}

int main(void)
{
    static const unsigned formats[] = {3, 4, CAIRN_PEBS_ARCH};
    static const char *const names[] = {"records", "ip_and_time", "fields"};
    for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (enum how how = ALONE; how <= FIELDS; how++) {
            const size_t bytes = fill(formats[i]);
            const double begin = now();
            uint64_t records = 0;
            double seconds;
            do
                for (unsigned n = 0; n < 100; n++)
                    records += go_through(formats[i], bytes, how);
            while ((seconds = now() - begin) < SECONDS);
            printf("pebs.format%u.%s %.1f Mrecords/s\n", formats[i], names[how], (double)records / seconds / 1e6);
        }
    return 0;
}
