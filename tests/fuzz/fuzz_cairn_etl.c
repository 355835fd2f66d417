/* SPDX-License-Identifier: MIT */
/* The reader of ETL files: whatever the input is, it begins as such a file does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/read_all.h"
#include "tools/cairn/log/etl/etl.h"

#define CPUS 256u /* at most: lanes of thousands take a second in each of a hundred readings */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fewer_cpus(uint8_t *logfile_header)
{
    uint8_t *at = logfile_header + offsetof(struct etl_logfile_header, processors);
    uint32_t processors;
    memcpy(&processors, at, sizeof(processors));
    processors = processors > CPUS ? 1 + processors % CPUS : processors;
    memcpy(at, &processors, sizeof(processors));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t buffer = sizeof(struct wmi_buffer_header);
    if (size < buffer + sizeof(struct system_trace_header) + sizeof(struct etl_logfile_header))
        return 0;
    uint8_t *bytes = malloc(size); /* exactly as large: reading beyond it is seen */
    if (!bytes)
        abort();
    memcpy(bytes, data, size);
    bytes[offsetof(struct wmi_buffer_header, buffer_type)] = ETL_BUFFER_TYPE_HEADER;
    bytes[offsetof(struct wmi_buffer_header, buffer_type) + 1] = 0;
    bytes[buffer + 2] = data[buffer + 2] == ETL_SYSTEM32 ? ETL_SYSTEM32 : ETL_SYSTEM64;
    bytes[buffer + 3] = ETL_MARKER_EVENT;
    memset(bytes + buffer + offsetof(struct system_trace_header, hook_id), 0, 2);
    fewer_cpus(bytes + buffer + sizeof(struct system_trace_header));
    if (!cairn_etl_is((const char *)bytes, size))
        abort();
    fuzz_read_all((const char *)bytes, size);
    free(bytes);
    return 0;
}
