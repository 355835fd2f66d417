/* SPDX-License-Identifier: MIT */
#include "kernel/save/saved_log.h"

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/power/power.h"
#include "boot/save/save_check.h"
#include "kernel/console/report.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

#define TAIL       (UINT64_C(16) << 10) /* no frame goes there: for the text behind them, a panic's perhaps */
#define NOTE_HEAD  16u                  /* of the build id's ELF note */
#define FRAME_MARK '~'                  /* trace/wire/format.h: how a frame's line begins */
#define MIB(bytes) (((bytes) + (UINT64_C(1) << 20) - 1) >> 20)
#define ADVICE     80u /* bytes of the words that say what it takes */

static struct {
    struct save_header *header; /* NULL: no log is kept */
    char *text;
    uint64_t room;       /* bytes of text */
    uint64_t used, line; /* where the next byte goes, and where its line has begun */
    bool frame;          /* this line is one */
    bool skipping;       /* the rest of this line has no room */
    bool cut;            /* a frame had none: none that follow are kept, so that the log has an end, not holes */
    bool closed;
    uint64_t dropped, dropped_lines;
} save;

void ksave_begin(const struct boot_info *info)
{
    memset(&save, 0, sizeof save);
    if (!info->save_area)
        return;
    save.header = arch_phys_to_virt(info->save_area);
    save.text = (char *)save.header + SAVE_HEADER_BYTES;
    save.room = info->save_bytes - SAVE_HEADER_BYTES;
    arch_flush(save.header, SAVE_HEADER_BYTES); /* a reset in mid-run must find it: "half-written", not "not there" */
}

bool ksave_on(void)
{
    return save.header != NULL;
}

/* The next `size` bytes, all of one line. */
static void write_part(const char *data, size_t size, bool ends)
{
    if (save.used == save.line && !save.skipping) {
        save.frame = data[0] == FRAME_MARK;
        save.skipping = save.frame && save.cut;
    }
    const uint64_t room = save.frame ? save.room - TAIL : save.room;
    if (!save.skipping && (save.used > room || size > room - save.used)) {
        save.dropped += save.used - save.line; /* a part of a line is of no use, and could be taken for another */
        save.used = save.line;
        save.skipping = true;
        save.cut |= save.frame;
    }
    if (save.skipping) {
        save.dropped += size;
        save.dropped_lines += ends;
    } else {
        memcpy(save.text + save.used, data, size);
        save.used += size;
    }
    if (ends) {
        save.skipping = false;
        save.line = save.used;
    }
}

void ksave_write(const char *data, size_t size)
{
    if (!save.header || save.closed)
        return;
    while (size) {
        const char *newline = memchr(data, '\n', size);
        size_t n = newline ? (size_t)(newline + 1 - data) : size;
        write_part(data, n, newline != NULL);
        data += n;
        size -= n;
    }
}

/* What it takes to keep `bytes` of text, in words: no more can be advised than the option may be. */
static const char *advice(uint64_t bytes, char text[ADVICE])
{
    const uint64_t mib = MIB(SAVE_HEADER_BYTES + bytes + TAIL);
    if (mib <= SAVE_MIB_MAX)
        snprintf(text, ADVICE, "it takes save.mib=%lu", (unsigned long)mib);
    else
        snprintf(text, ADVICE, "more than save.mib= can be: take fewer switches, smaller buffers");
    return text;
}

void ksave_announce(uint64_t bytes)
{
    char text[ADVICE];
    const uint64_t room = save.room - TAIL > save.used ? save.room - TAIL - save.used : 0;
    if (save.header && bytes > room)
        kprintf("save: the memory for the log has room for %lu of them, the rest will be missing: %s\n",
                (unsigned long)room, advice(save.used + bytes, text));
}

void ksave_report(void)
{
    char text[ADVICE];
    if (save.dropped)
        kreport(KREPORT_FAIL, "save", "%lu bytes in %lu lines have no room in the log that is kept: %s",
                (unsigned long)save.dropped, (unsigned long)save.dropped_lines, advice(save.used + save.dropped, text));
}

void ksave_finish(void)
{
    struct save_header *h = save.header;
    if (!h || save.closed)
        return;
    save.closed = true;
    h->used = save.used;
    h->dropped = save.dropped;
    const size_t id = (size_t)(kernel_build_id_end - kernel_build_id) - NOTE_HEAD;
    memcpy(h->build_id, kernel_build_id + NOTE_HEAD, id < sizeof h->build_id ? id : sizeof h->build_id);
    for (uint32_t n = 0; n < save_pieces(save.used); n++)
        h->piece_crc[n] = save_piece_crc(h, (const uint8_t *)save.text, n);
    /* Before the header says that it is there. A reset does not write caches back; WBINVD would reach only this CPU's.
     */
    arch_flush(save.text, save.used);
    h->state = SAVE_COMPLETE;
    h->crc = save_header_crc(h);
    arch_flush(h, sizeof *h);
}
