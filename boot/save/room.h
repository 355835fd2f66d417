/* SPDX-License-Identifier: MIT */
/* Room on a volume. Source: UEFI specification, "File Protocol". */
#pragma once

#include <efi.h>
#include <stdbool.h>
#include <stdint.h>

/* How much more the volume takes, in bytes: 0 where it takes nothing at all. False: it does not say. */
bool save_room(EFI_FILE_HANDLE root, uint64_t *bytes);
