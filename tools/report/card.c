/* SPDX-License-Identifier: MIT */
/* The card (docs/reference/format.md) of a report: the last words on the screen, for a photograph; with a screen of
 * pixels that has room for it its QR code at the right edge, too. Source: UEFI specification, "Graphics Output
 * Protocol". */
#include "kernel/card/card.h"

#include "boot/loader.h"
#include "kernel/card/qr.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

static struct card card;

static void put(const char *name, const char *value)
{
    kcard_put(&card, name, value);
}

static void put_processor(void)
{
    uint64_t microcode;
    kcard_processor(&card, report_microcode(&microcode) ? &microcode : NULL, 0);
}

static void put_store(const struct ds_caps *caps)
{
    put("ds", caps->pebs || caps->bts ? "hw" : "off");
    kcard_caps(&card, "pebs", "bts", caps);
}

void report_card(const struct ds_caps *caps)
{
    put("cairn", CAIRN_VERSION);
    put("verdict", report_stopped() || !caps ? "stopped" : "report");
    put_processor();
    if (caps) {
        put_store(caps);
        report_probe_answers(put);
    }
    kcard_end(&card);
    for (const char *row = card.text, *end; (end = strchr(row, '\n')) != NULL; row = end + 1)
        report_say("%.*s", (int)(end - row), row);
}

/* ---- the QR code ------------------------------------------------------------------------------------------------- */

#define LEAST_SCALE 2u /* pixels of a module: nobody reads a photograph of less */

/* Whether that square has one colour. Where text is depends on the firmware's fonts and margins. */
static bool is_free(EFI_GRAPHICS_OUTPUT_PROTOCOL *gop, UINT32 left, UINT32 top, UINT32 side)
{
    const UINTN count = (UINTN)side * side;
    EFI_GRAPHICS_OUTPUT_BLT_PIXEL *pixel = AllocatePool(count * sizeof *pixel);
    bool free = pixel && !EFI_ERROR(gop->Blt(gop, pixel, EfiBltVideoToBltBuffer, left, top, 0, 0, side, side, 0));
    for (UINTN i = 1; free && i < count; i++)
        free = pixel[i].Red == pixel->Red && pixel[i].Green == pixel->Green && pixel[i].Blue == pixel->Blue;
    if (pixel)
        FreePool(pixel);
    return free;
}

static void draw(EFI_GRAPHICS_OUTPUT_PROTOCOL *gop, const struct qr *qr, UINT32 left, UINT32 top, UINT32 scale)
{
    const UINT32 modules = qr->size + 2 * QR_QUIET;
    for (UINT32 y = 0; y < modules; y++)
        for (UINT32 x = 0; x < modules; x++) {
            const UINT32 row = y - QR_QUIET, column = x - QR_QUIET;
            const bool dark = row < qr->size && column < qr->size && qr->module[row][column] & 1;
            const UINT8 shade = dark ? 0 : 0xFF;
            EFI_GRAPHICS_OUTPUT_BLT_PIXEL pixel = {shade, shade, shade, 0};
            gop->Blt(gop, &pixel, EfiBltVideoFill, 0, 0, left + x * scale, top + y * scale, scale, scale, 0);
        }
}

/* Draws it as large as a right corner lets it be, in the right third of the screen; not where text is. */
static void draw_in_corner(EFI_GRAPHICS_OUTPUT_PROTOCOL *gop, const struct qr *qr)
{
    const UINT32 width = gop->Mode->Info->HorizontalResolution, height = gop->Mode->Info->VerticalResolution;
    const UINT32 modules = qr->size + 2 * QR_QUIET;
    for (UINT32 scale = width / 3 / modules; scale >= LEAST_SCALE; scale--) {
        const UINT32 side = modules * scale, left = width - side;
        const bool top = side <= height && is_free(gop, left, 0, side);
        if (top || (side <= height && is_free(gop, left, height - side, side))) {
            draw(gop, qr, left, top ? 0 : height - side, scale);
            return;
        }
    }
}

/* On the console's screens, which the firmware may show as one beside each of them. */
void report_card_draw(void)
{
    static struct qr qr;
    EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
    if (EFI_ERROR(BS->HandleProtocol(ST->ConsoleOutHandle, &guid, (void **)&gop)) &&
        EFI_ERROR(BS->LocateProtocol(&guid, NULL, (void **)&gop)))
        return;
    if (gop->Mode && gop->Mode->Info && kcard_qr(&qr, card.text, card.size) == 0)
        draw_in_corner(gop, &qr);
}
