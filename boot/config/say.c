/* SPDX-License-Identifier: MIT */
/* The loader's last words name the serial port. */
#include "boot/config/config.h"
#include "boot/loader.h"

void boot_say_where(const struct boot_info *info)
{
    char serial[64] = "auto";
    config_get((const char *)(uintptr_t)info->config, "serial", serial, sizeof(serial));
    Print(L"From here on all output goes to serial port: %a (option serial=)\n", serial);
}
