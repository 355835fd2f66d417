/* SPDX-License-Identifier: MIT */
/*
 * The log of a run, kept in memory over a warm reset (option save=esp; docs/explain/boot.md, "Saving the trace over a
 * reset"): one page with a header, then the text, which has the same bytes as the serial port. The loader prepares the
 * area, the kernel fills and closes it, and the loader of the next start reads it. A file on the loader's volume holds
 * its address. All fields are little-endian.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SAVE_MAGIC        UINT64_C(0x455641534E524143) /* "CARNSAVE" */
#define SAVE_VERSION      1u
#define SAVE_HEADER_BYTES 4096u
#define SAVE_PIECE        (UINT64_C(1) << 20) /* the text has a CRC for each of these, and for the rest */
#define SAVE_MIB_DEFAULT  64u                 /* as option save.mib says */
#define SAVE_MIB_MAX      512u
#define SAVE_ALIGN        (UINT64_C(2) << 20)

enum save_state {
    SAVE_WRITING = 1,  /* from the loader's beginning to the kernel's end: counts and CRCs of the text are 0 */
    SAVE_COMPLETE = 2, /* all of it is there */
    SAVE_SAVED = 3,    /* it is a file by now, the text is cleared */
};

struct save_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* SAVE_HEADER_BYTES: the text follows */
    uint64_t address;      /* physical, its own */
    uint64_t bytes;        /* of the area, header included */
    uint64_t nonce;        /* of the run; the note holds it, too */
    uint32_t state;        /* enum save_state */
    uint32_t crc;          /* CRC-32C of the header with 0 here */
    uint64_t used;         /* bytes of text */
    uint64_t dropped;      /* bytes that were said and had no room */
    uint8_t build_id[20];  /* the kernel's; 0 where it never began */
    uint8_t reserved[1964];
    uint32_t piece_crc[SAVE_MIB_MAX]; /* CRC-32C of each piece of `used` */
};
_Static_assert(offsetof(struct save_header, address) == 16, "save_header.address");
_Static_assert(offsetof(struct save_header, state) == 40, "save_header.state");
_Static_assert(offsetof(struct save_header, used) == 48, "save_header.used");
_Static_assert(offsetof(struct save_header, build_id) == 64, "save_header.build_id");
_Static_assert(offsetof(struct save_header, piece_crc) == 2048, "save_header.piece_crc");
_Static_assert(sizeof(struct save_header) == SAVE_HEADER_BYTES, "save_header");

/* The note to the next start, a file on the loader's volume. No variable of the firmware: some machines lose theirs at
 * a reset, and would run again and again, because no start knows of the one before. */
#define SAVE_NOTE_NAME L"\\cairn.run"

#define SAVE_MACHINE 128u

struct save_note {
    uint32_t version; /* SAVE_VERSION */
    uint32_t told;    /* 0: there is an area; else enum save_refusal, and the next three say nothing */
    uint64_t address, bytes, nonce;
    char machine[SAVE_MACHINE]; /* that of the run: boot/save/machine.h */
};
_Static_assert(sizeof(struct save_note) == 160, "save_note");
