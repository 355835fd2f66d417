/* SPDX-License-Identifier: MIT */
/* The list of all commands, in the order of --help. */
#include "tools/cairn/command/command.h"

#include <stddef.h>

const struct cairn_command *const cairn_commands[] = {
    &cairn_dump_command,  &cairn_stat_command,    &cairn_info_command,    &cairn_check_command,
    &cairn_ds_command,    &cairn_bts_command,     &cairn_profile_command, &cairn_locks_command,
    &cairn_probe_command, &cairn_capture_command, &cairn_export_command,  &cairn_diff_command,
    &cairn_top_command,   &cairn_decode_command,  &cairn_grab_command,    NULL,
};
