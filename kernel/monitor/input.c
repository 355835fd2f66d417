/* SPDX-License-Identifier: MIT */
#include "kernel/monitor/input.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/keys.h"

static enum kmonitor_source source = KMONITOR_NOBODY;

/* ---- the script -------------------------------------------------------------------------------------------------- */

static const char *script;
static size_t left;

bool kmonitor_input_script(char *line, size_t size)
{
    if (!left)
        return false;
    const char *end = memchr(script, '\n', left);
    const size_t n = end ? (size_t)(end - script) : left, used = n + (end != NULL);
    size_t kept = n < size - 1 ? n : size - 1;
    memcpy(line, script, kept);
    kept -= kept && line[kept - 1] == '\r';
    line[kept] = '\0';
    script += used;
    left -= used;
    return true;
}

/* ---- the keyboard: i8042. IBM PS/2 Technical Reference, "Keyboard and Auxiliary Device Controller" ------------------
 */

#define I8042_DATA          0x60u
#define I8042_STATUS        0x64u /* write: a command to the controller */
#define STATUS_OUTPUT       0x01u /* there is a byte to read */
#define STATUS_INPUT        0x02u /* the last byte written has not been taken */
#define STATUS_AUXILIARY    0x20u /* that byte is a mouse's */
#define COMMAND_READ        0x20u
#define COMMAND_WRITE       0x60u
#define COMMAND_KEYBOARD_ON 0xAEu
#define CONFIG_INTERRUPTS   0x03u
#define CONFIG_KEYBOARD_OFF 0x10u
#define CONFIG_TRANSLATE    0x40u
#define KEYBOARD_SCAN       0xF4u /* send scan codes */
#define NOTHING_THERE       0xFFu
#define POLLS               20000u

static bool await(uint8_t bit, bool set)
{
    for (unsigned i = 0; i < POLLS; i++) {
        if (((arch_in8(I8042_STATUS) & bit) != 0) == set)
            return true;
        arch_pause();
    }
    return false;
}

static bool send(uint16_t port, uint8_t value)
{
    if (!await(STATUS_INPUT, false))
        return false;
    arch_out8(port, value);
    return true;
}

/* The firmware may have left the keyboard off, and interrupts on, which nobody takes here. */
static bool begin_keyboard(void)
{
    if (arch_in8(I8042_STATUS) == NOTHING_THERE)
        return false;
    for (unsigned i = 0; i < 64 && arch_in8(I8042_STATUS) & STATUS_OUTPUT; i++)
        (void)arch_in8(I8042_DATA);
    if (!send(I8042_STATUS, COMMAND_READ) || !await(STATUS_OUTPUT, true))
        return false;
    const uint8_t config = arch_in8(I8042_DATA);
    return send(I8042_STATUS, COMMAND_WRITE) &&
           send(I8042_DATA, (config | CONFIG_TRANSLATE) & (uint8_t) ~(CONFIG_INTERRUPTS | CONFIG_KEYBOARD_OFF)) &&
           send(I8042_STATUS, COMMAND_KEYBOARD_ON) && send(I8042_DATA, KEYBOARD_SCAN);
}

static int keyboard(void)
{
    static struct kmonitor_keys keys;
    static const char *text = ""; /* of a key that stands for several characters */
    if (!*text) {
        const uint8_t status = arch_in8(I8042_STATUS);
        if (!(status & STATUS_OUTPUT) || status == NOTHING_THERE)
            return -1;
        const uint8_t code = arch_in8(I8042_DATA);
        text = status & STATUS_AUXILIARY ? "" : kmonitor_keys_code(&keys, code);
    }
    return *text ? (unsigned char)*text++ : -1;
}

/* ---- one of them ------------------------------------------------------------------------------------------------- */

enum kmonitor_source kmonitor_input_begin(const struct boot_info *info)
{
    script = arch_phys_to_virt(info->script);
    left = info->script ? info->script_size : 0;
    source = info->script       ? KMONITOR_SCRIPT
             : kserial_there()  ? KMONITOR_SERIAL
             : begin_keyboard() ? KMONITOR_KEYBOARD
                                : KMONITOR_NOBODY;
    return source;
}

const char *kmonitor_input_words(void)
{
    static const char *const words[] = {"the script", "the serial port", "the keyboard", "nobody"};
    return words[source];
}

int kmonitor_input(void)
{
    return source == KMONITOR_SERIAL ? arch_serial_read() : source == KMONITOR_KEYBOARD ? keyboard() : -1;
}
