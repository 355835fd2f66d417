/* SPDX-License-Identifier: MIT */
/* The card (docs/reference/format.md) of a report: the last words on the screen, for a photograph; with a screen of
 * pixels its QR code at the right edge, too. Source: UEFI specification, "Graphics Output Protocol". */
#include "kernel/card/card.h"

#include "arch/instructions.h"
#include "boot/loader.h"
#include "kernel/card/qr.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

static struct card card;

static void put(const char *name, const char *value)
{
    kcard_put(&card, name, value);
}

static void put_number(const char *name, const char *format, unsigned long value)
{
    char text[24];
    snprintf(text, sizeof text, format, value);
    put(name, text);
}

static void put_processor(void)
{
    char hypervisor[13];
    uint64_t microcode;
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    put_number("sig", "%lx", r[0]);
    if (report_microcode(&microcode))
        put_number("ucode", "0x%lx", (unsigned long)microcode);
    if (r[2] & CPUID_01H_ECX_HYPERVISOR) {
        arch_cpuid(CPUID_HYPERVISOR, 0, r);
        snprintf(hypervisor, sizeof hypervisor, "%.12s", (const char *)&r[1]);
        put("hv", hypervisor);
    }
    put("brand", report_brand());
}

static void put_store(const struct ds_caps *caps)
{
    put("ds", caps->pebs || caps->bts ? "hw" : "off");
    if (caps->pebs)
        put_number("pebs", "%lu", caps->format);
    else
        put("pebs", "none");
    put("bts", caps->bts ? "yes" : "no");
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

/* Draws it as large as the right quarter of the screen lets it be; a module has one pixel at least. */
static void draw(EFI_GRAPHICS_OUTPUT_PROTOCOL *gop, const struct qr *qr)
{
    const UINT32 width = gop->Mode->Info->HorizontalResolution, height = gop->Mode->Info->VerticalResolution;
    const UINT32 modules = qr->size + 2 * QR_QUIET;
    UINT32 scale = width / 4 / modules;
    scale = scale ? scale : 1;
    if (modules * scale > width || modules * scale > height)
        return;
    const UINT32 left = width - modules * scale;
    for (UINT32 y = 0; y < modules; y++)
        for (UINT32 x = 0; x < modules; x++) {
            const UINT32 row = y - QR_QUIET, column = x - QR_QUIET;
            const bool dark = row < qr->size && column < qr->size && qr->module[row][column] & 1;
            const UINT8 shade = dark ? 0 : 0xFF;
            EFI_GRAPHICS_OUTPUT_BLT_PIXEL pixel = {shade, shade, shade, 0};
            gop->Blt(gop, &pixel, EfiBltVideoFill, 0, 0, left + x * scale, y * scale, scale, scale, 0);
        }
}

void report_card_draw(void)
{
    static struct qr qr;
    EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_HANDLE *handles;
    UINTN count;
    if (kcard_qr(&qr, card.text, card.size) ||
        EFI_ERROR(BS->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles)))
        return;
    for (UINTN i = 0; i < count; i++) {
        EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
        if (!EFI_ERROR(BS->HandleProtocol(handles[i], &guid, (void **)&gop)) && gop->Mode && gop->Mode->Info)
            draw(gop, &qr);
    }
    FreePool(handles);
}
