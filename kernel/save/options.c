/* SPDX-License-Identifier: MIT */
/* Options of the log in memory. The loader reads them, too. */
#include "kernel/save/saved_log.h"

#include "boot/save/save_format.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

uint32_t ksave_asked;
static uint32_t mib;

static const struct kopt_option save = {
    .name = "save",
    .standard = "off",
    .text = "esp: keep all output for the serial port in memory, even without a port, and reset the machine "
            "(end=reboot); its next start writes the output to \\cairn-NNN.log on the boot volume and switches off "
            "(docs/explain/boot.md)",
    .field = &ksave_asked,
    .kind = WORD,
    .words = "off|esp"};
ROWS_ADD(kopt, save);

static const struct kopt_option room = {.name = "save.mib",
                                        .standard = "64",
                                        .text = "memory for the output of save=esp, in MiB",
                                        .field = &mib,
                                        .kind = NUMBER32,
                                        .min = 1,
                                        .max = SAVE_MIB_MAX,
                                        .needs = "save=esp"};
ROWS_ADD(kopt, room);

/* It takes a reset. */
static bool ends_otherwise(char *error, size_t error_size)
{
    if (!ksave_asked)
        return false;
    if (kopt.end != KOPT_END_REBOOT && kopt_given("end")) {
        snprintf(error, error_size,
                 "option 'save=esp': the log in memory becomes a file after a reset: leave end= "
                 "out, or give end=reboot");
        return true;
    }
    kopt.end = KOPT_END_REBOOT;
    return false;
}
KOPT_CHECK(ends_otherwise);
