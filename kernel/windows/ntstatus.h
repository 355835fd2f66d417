/* SPDX-License-Identifier: MIT */
/* The NTSTATUS values kernel/windows/sysinfo.h answers with, as in Microsoft's ntstatus.h ([MS-ERREF] 2.3.1). */
#pragma once

#include <stdint.h>

typedef uint32_t kntstatus;

#define STATUS_SUCCESS                0x00000000u
#define STATUS_UNSUCCESSFUL           0xC0000001u
#define STATUS_NOT_IMPLEMENTED        0xC0000002u
#define STATUS_INVALID_INFO_CLASS     0xC0000003u
#define STATUS_INFO_LENGTH_MISMATCH   0xC0000004u
#define STATUS_INVALID_PARAMETER      0xC000000Du
#define STATUS_INSUFFICIENT_RESOURCES 0xC000009Au
#define STATUS_MEMORY_NOT_ALLOCATED   0xC00000A0u
#define STATUS_NOT_SUPPORTED          0xC00000BBu
#define STATUS_ADDRESS_ALREADY_EXISTS 0xC000020Au
#define STATUS_WMI_INSTANCE_NOT_FOUND 0xC0000296u
#define STATUS_WMI_ALREADY_ENABLED    0xC0000302u
