/* SPDX-License-Identifier: MIT */
/* Proofs about the serial ports in ACPI tables (arch/firmware/ports/acpi_serial.h). */
#include "arch/firmware/ports/acpi_serial.h"

#include "kernel/lib/errno.h"

#define MOST 104u
static uint8_t table[MOST];
static struct acpi_serial port;
static const char *what;

void acpi_spcr(void)
{
    uint32_t size = Frama_C_unsigned_int_interval(0, MOST);
    PROVE_ANY(table);
    //@ split size;
    const int e = acpi_spcr_parse(PROVE_LAST(table, size), size, &port, &what);
    //@ check result: e == 0 || e == -ENOENT || e == -EINVAL || e == -ENOTSUP;
    PROVE_END();
}
