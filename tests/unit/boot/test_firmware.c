/* SPDX-License-Identifier: MIT */
/* boot/firmware.c under a firmware that has next to nothing: what it says of Secure Boot, and what it does not. */
#include <string.h>

#include "arch/page_tables.h"
#include "boot/loader.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

static struct {
    EFI_STATUS status;
    UINTN size;
    UINT8 value;
    unsigned asked;
} variable;

static EFI_STATUS EFIAPI get_variable(CHAR16 *name, EFI_GUID *guid, UINT32 *attributes, UINTN *size, void *data)
{
    static const char wanted[] = "SecureBoot";
    static const EFI_GUID global = EFI_GLOBAL_VARIABLE;
    for (size_t i = 0; i < sizeof(wanted); i++)
        assert_int_equal(name[i], wanted[i]);
    assert_memory_equal(guid, &global, sizeof(global));
    (void)attributes;
    variable.asked++;
    const UINTN room = *size;
    *size = variable.size;
    if (EFI_ERROR(variable.status))
        return variable.status;
    if (variable.size > room)
        return EFI_BUFFER_TOO_SMALL;
    memset(data, variable.value, variable.size);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI get_time(EFI_TIME *time, EFI_TIME_CAPABILITIES *capabilities)
{
    (void)time, (void)capabilities;
    return EFI_UNSUPPORTED;
}

/* One adapter, or none. */
static EFI_GRAPHICS_OUTPUT_MODE_INFORMATION mode_information;
static EFI_GRAPHICS_OUTPUT_PROTOCOL_MODE mode = {.Info = &mode_information};
static EFI_GRAPHICS_OUTPUT_PROTOCOL adapter = {.Mode = &mode};
static EFI_HANDLE adapters[] = {&adapter};
static bool has_adapter;

static EFI_STATUS EFIAPI locate(EFI_LOCATE_SEARCH_TYPE type, EFI_GUID *protocol, void *key, UINTN *count,
                                EFI_HANDLE **handles)
{
    (void)type, (void)protocol, (void)key;
    *count = 1;
    *handles = adapters;
    return has_adapter ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI handle_protocol(EFI_HANDLE handle, EFI_GUID *protocol, void **interface)
{
    static const EFI_GUID gop = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    *interface = handle;
    return memcmp(protocol, &gop, sizeof(gop)) == 0 ? EFI_SUCCESS : EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI free_pool(void *memory)
{
    assert_ptr_equal(memory, adapters);
    return EFI_SUCCESS;
}

static EFI_BOOT_SERVICES boot_services = {
    .LocateHandleBuffer = locate, .HandleProtocol = handle_protocol, .FreePool = free_pool};
static EFI_RUNTIME_SERVICES runtime_services = {.GetVariable = get_variable, .GetTime = get_time};
static EFI_SYSTEM_TABLE system_table; /* no vendor, no tables */
EFI_BOOT_SERVICES *BS = &boot_services;
EFI_RUNTIME_SERVICES *RT = &runtime_services;
EFI_SYSTEM_TABLE *ST = &system_table;

static void test_secure_boot(void **state)
{
    (void)state;
    static const struct {
        EFI_STATUS status;
        UINTN size;
        UINT8 value;
        enum boot_secure_boot is;
    } cases[] = {
        {EFI_SUCCESS, 1, 1, BOOT_SECURE_BOOT_ON},
        {EFI_SUCCESS, 1, 0, BOOT_SECURE_BOOT_OFF},
        {EFI_SUCCESS, 1, 2, BOOT_SECURE_BOOT_OFF}, /* the specification's 1 is the only word for on */
        {EFI_NOT_FOUND, 0, 0, BOOT_SECURE_BOOT_UNKNOWN},
        {EFI_DEVICE_ERROR, 1, 1, BOOT_SECURE_BOOT_UNKNOWN},
        {EFI_SUCCESS, 0, 1, BOOT_SECURE_BOOT_UNKNOWN},
        {EFI_SUCCESS, 4, 1, BOOT_SECURE_BOOT_UNKNOWN}, /* does not fit: nothing is written */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct boot_info info = {0};
        variable.status = cases[i].status;
        variable.size = cases[i].size;
        variable.value = cases[i].value;
        variable.asked = 0;
        boot_firmware_describe(&info);
        assert_int_equal(variable.asked, 1);
        assert_int_equal(info.secure_boot, cases[i].is);
        assert_true(info.rsdp == 0 && info.framebuffer.base == 0 && info.time.year == 0);
        assert_int_equal(info.firmware_vendor[0], 0);
    }
}

/* The kernel gets the mode in which the loader's last words leave the console: the first line may change it. */
static unsigned lines;

UINTN Print(const CHAR16 *format, ...)
{
    (void)format;
    if (lines++ == 0)
        mode_information.HorizontalResolution = 101;
    return 0;
}

static struct {
    uint64_t from, to; /* of what is mapped */
    unsigned fails;    /* of the next calls */
    int error;
} mapped;

int arch_map_range(uint64_t virt, uint64_t phys, uint64_t size, unsigned flags)
{
    assert_true(virt == BOOT_DIRECT_MAP + phys && size && (phys | size) % 4096 == 0);
    assert_true(phys >> 30 == (phys + size - 1) >> 30); /* a GiB as a whole may be mapped already */
    assert_int_equal(flags, ARCH_MAP_WRITE | ARCH_MAP_UNCACHED);
    if (mapped.fails) {
        mapped.fails--;
        return mapped.error;
    }
    if (mapped.from == mapped.to)
        mapped.from = mapped.to = phys;
    assert_true(phys == mapped.to);
    mapped.to += size;
    return 0;
}

/* Wherever the direct map can reach it, and nothing beside it. */
static void test_framebuffer_is_mapped(void **state)
{
    static const uint64_t gib = UINT64_C(1) << 30;
    static const struct {
        uint64_t base, size;
        int error; /* of the first call */
        uint64_t from, to, direct;
    } cases[] = {
        {0x4000000000, 0x800000, 0, 0x4000000000, 0x4000800000, 0x4000800000},
        {0x4000000F00, 0x200, 0, 0x4000000000, 0x4000002000, 0x4000002000},
        {0x407FFFF000, 0x41000000, 0, 0x407FFFF000, 0x40C0FFF000, 0x40C0FFF000}, /* in three GiBs */
        {0x407FFFF000, 0x2000, -EEXIST, 0x4080000000, 0x4080001000, 0x4080001000},
        {0x407FFFF000, 0x2000, -ENOMEM, 0, 0, 0x4080001000},
        {0xC0000000, 0x300000, -EEXIST, 0, 0, 4 * gib},
        {BOOT_END - 0x800000, 0x800000, 0, BOOT_END - 0x800000, BOOT_END, BOOT_END},
        {BOOT_END - 0x800000, 0x800001, 0, 0, 0, 4 * gib},
        {BOOT_END, 0x1000, 0, 0, 0, 4 * gib},
        {UINT64_MAX - 0xFFF, 0x2000, 0, 0, 0, 4 * gib},
        {0, 0, 0, 0, 0, 4 * gib},
    };
    static char config[] = "";
    (void)state;
    has_adapter = true;
    mode_information.PixelFormat = PixelBlueGreenRedReserved8BitPerColor;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct boot_info info = {.config = (uintptr_t)config, .direct_map_size = 4 * gib};
        memset(&mapped, 0, sizeof(mapped));
        mapped.fails = cases[i].error != 0;
        mapped.error = cases[i].error;
        mode.FrameBufferBase = cases[i].base;
        mode.FrameBufferSize = cases[i].size;
        boot_say_more(&info);
        assert_true(mapped.from == cases[i].from && mapped.to == cases[i].to);
        assert_true(info.direct_map_size == cases[i].direct);
    }
    lines = 0;
}

static void test_framebuffer(void **state)
{
    static char config[] = "screen=on\n", off[] = "screen=off\n";
    struct boot_info info = {.config = (uintptr_t)config};
    struct boot_framebuffer *fb = &info.framebuffer;
    (void)state;
    has_adapter = true;
    mapped.fails = 3; /* it is below 4 GiB */
    mapped.error = -EEXIST;
    mode.FrameBufferBase = 0xC0000000;
    mode.FrameBufferSize = 0x300000;
    mode_information.HorizontalResolution = mode_information.PixelsPerScanLine = 1024;
    mode_information.VerticalResolution = 768;
    mode_information.PixelFormat = PixelBitMask;
    mode_information.PixelInformation.RedMask = 0xFF;
    Print(L"the first of the last words\n");
    boot_say_more(&info);
    assert_true(lines == 2 && fb->base == 0xC0000000 && fb->width == 101 && fb->masks[0] == 0xFF);
    mode_information.PixelFormat = PixelBlueGreenRedReserved8BitPerColor;
    info.config = (uintptr_t)off;
    boot_say_more(&info);
    assert_true(lines == 2 && fb->base == 0xC0000000 && fb->pixels_per_line == 1024 && fb->masks[0] == 0);
    has_adapter = false;
    info.config = (uintptr_t)config;
    boot_say_more(&info);
    assert_true(lines == 2 && fb->base == 0 && fb->width == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secure_boot),
        cmocka_unit_test(test_framebuffer_is_mapped),
        cmocka_unit_test(test_framebuffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
