/* SPDX-License-Identifier: MIT */
/* tools/report/menu.c: what it says before it waits for a key, on machines whose memory a restart keeps or does not. */
#include <string.h>

#include "arch/arch.h"
#include "boot/loader.h"
#include "tests/unit/support/cmocka.h"
#include "tools/report/report.h"

EFI_BOOT_SERVICES *BS;
EFI_RUNTIME_SERVICES *RT;
EFI_SYSTEM_TABLE *ST;

static struct {
    bool guest, read; /* the hypervisor bit; the register could be read */
    bool loader;      /* is on the stick */
    uint64_t tme;
    CHAR16 key; /* is pressed; 0: none */
    unsigned stalls;
    bool off;
    char said[1024];
} fw;

UINTN Print(const CHAR16 *format, ...)
{
    char *to = fw.said + strlen(fw.said);
    for (; *format; format++)
        *to++ = (char)*format;
    return 0;
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t r[4])
{
    assert_true(leaf == 1 && subleaf == 0);
    r[2] = (uint32_t)fw.guest << 31;
}

bool report_msr(uint32_t number, uint64_t *value)
{
    assert_int_equal(number, 0x982);
    *value = fw.tme;
    return fw.read;
}

void report_card_draw(void)
{
}

EFI_DEVICE_PATH *FileDevicePath(EFI_HANDLE device, CHAR16 *name)
{
    (void)device, (void)name;
    fail();
    return NULL;
}

EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    (void)what, (void)reason;
    fail();
    return status;
}

EFI_STATUS boot_file_read(EFI_FILE_HANDLE root, const CHAR16 *name, uint64_t max, struct boot_file *file)
{
    (void)root, (void)name, (void)max, (void)file;
    fail();
    return EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI close_file(EFI_FILE_HANDLE handle)
{
    (void)handle;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE root, EFI_FILE_HANDLE *opened, CHAR16 *name, UINT64 mode,
                                   UINT64 attributes)
{
    static EFI_FILE file = {.Close = close_file};
    (void)root, (void)name, (void)mode, (void)attributes;
    *opened = &file;
    return fw.loader ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI read_key(SIMPLE_INPUT_INTERFACE *keys, EFI_INPUT_KEY *key)
{
    (void)keys;
    key->UnicodeChar = fw.key;
    return fw.key ? EFI_SUCCESS : EFI_NOT_READY;
}

static EFI_STATUS EFIAPI reset_keys(SIMPLE_INPUT_INTERFACE *keys, BOOLEAN extended)
{
    (void)keys, (void)extended;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI stall(UINTN us)
{
    fw.stalls += (unsigned)us;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI reset_system(EFI_RESET_TYPE type, EFI_STATUS status, UINTN size, CHAR16 *data)
{
    (void)size, (void)data;
    assert_int_equal(type, EfiResetShutdown);
    fw.off = true;
    return status;
}

/* What is said; without a key only where the machine is an emulated one. */
static const char *menu(CHAR16 key, bool whole, bool store)
{
    static SIMPLE_INPUT_INTERFACE keys = {.ReadKeyStroke = read_key, .Reset = reset_keys};
    static EFI_SYSTEM_TABLE table = {.ConIn = &keys};
    static EFI_BOOT_SERVICES services = {.Stall = stall};
    static EFI_RUNTIME_SERVICES runtime = {.ResetSystem = reset_system};
    static EFI_FILE root = {.Open = open_file};
    ST = &table, BS = &services, RT = &runtime;
    fw.key = key;
    memset(fw.said, 0, sizeof fw.said);
    report_menu(NULL, &root, whole, store);
    return fw.said;
}

static int begin(void **state)
{
    (void)state;
    memset(&fw, 0, sizeof fw);
    fw.read = fw.loader = true;
    return 0;
}

/* Bit 1: it encrypts; bit 2: with the key of before; bit 31: not what Cairn uses. */
static void test_memory_that_is_lost(void **state)
{
    static const struct {
        uint64_t tme;
        bool read, guest, loader, said;
    } cases[] = {
        {0x2, true, false, true, true},         {0x0, true, false, true, false},  {0x6, true, false, true, false},
        {0x80000002, true, false, true, false}, {0x2, false, false, true, false}, {0x2, true, true, true, false},
        {0x2, true, false, false, false},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fw.tme = cases[i].tme;
        fw.read = cases[i].read;
        fw.guest = cases[i].guest;
        fw.loader = cases[i].loader;
        const char *text = menu(L'x', true, true);
        assert_int_equal(strstr(text, "Cairn cannot save its log") != NULL, cases[i].said);
        assert_int_equal(strstr(text, "1: Cairn asks") != NULL, cases[i].loader);
    }
}

/* Key 1 goes back to the firmware. */
static void test_no_debug_store(void **state)
{
    (void)state;
    const char *text = menu(L'1', true, false);
    assert_null(strstr(text, "1: Cairn"));
    assert_non_null(strstr(text, "2: Cairn records a trace"));
}

static void test_nobody_is_there(void **state)
{
    (void)state;
    fw.guest = true;
    assert_non_null(strstr(menu(0, true, true), "switches off by itself"));
    assert_true(fw.off && fw.stalls == 5000000);
}

static void test_keys(void **state)
{
    (void)state;
    assert_null(strstr(menu(L'2', false, true), "2: Cairn")); /* no stick, no log: back to the firmware */
    assert_non_null(strstr(fw.said, "need a stick that can be written"));
    assert_false(fw.off || fw.stalls);
    fw.loader = false;
    assert_null(strstr(menu(L'2', false, true), "Cairn"));
    menu(L'O', true, true);
    assert_true(fw.off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_memory_that_is_lost, begin),
        cmocka_unit_test_setup(test_no_debug_store, begin),
        cmocka_unit_test_setup(test_nobody_is_there, begin),
        cmocka_unit_test_setup(test_keys, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
