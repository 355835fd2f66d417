/* SPDX-License-Identifier: MIT */
/* boot/firmware.c under a firmware that has next to nothing: what it says of Secure Boot, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "boot/firmware.c"

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

static EFI_STATUS EFIAPI locate_nothing(EFI_LOCATE_SEARCH_TYPE type, EFI_GUID *protocol, void *key, UINTN *count,
                                        EFI_HANDLE **handles)
{
    (void)type, (void)protocol, (void)key, (void)count, (void)handles;
    return EFI_NOT_FOUND;
}

static EFI_BOOT_SERVICES boot_services = {.LocateHandleBuffer = locate_nothing};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secure_boot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
