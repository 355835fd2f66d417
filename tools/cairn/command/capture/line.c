/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/capture/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kernel/lib/line_rate.h"

int64_t cairn_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

#define SPEED(rate) {rate, B##rate},
static const struct {
    uint32_t baud;
    speed_t speed;
} speeds[] = {{9600, B9600}, {19200, B19200}, {38400, B38400}, {57600, B57600}, {115200, B115200}, LINE_RATES(SPEED)};
#define SPEEDS (sizeof(speeds) / sizeof(speeds[0]))

/* Which of `speeds`; SPEEDS: none. */
static size_t find_speed(uint32_t baud)
{
    size_t i = 0;
    while (i < SPEEDS && speeds[i].baud != baud)
        i++;
    return i;
}

/* 0: no number. */
static uint32_t baud_of(const char *text)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && value <= LINE_RATE_MOST ? (uint32_t)value : 0;
}

static int open_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    const int e = -errno;
    if (fd >= 0)
        close(fd);
    return e;
}

int cairn_serial_open(struct cairn_serial *serial, char *operand)
{
    struct stat s;
    struct termios t;
    uint32_t baud = 115200;
    char *comma = stat(operand, &s) == 0 ? NULL : strchr(operand, ',');
    *serial = (struct cairn_serial){.fd = STDIN_FILENO, .to = -1};
    if (comma && find_speed(baud = baud_of(comma + 1)) == SPEEDS)
        return -EINVAL;
    if (comma)
        *comma = '\0';
    if (strcmp(operand, "-") == 0)
        return 0;
    const bool socket = stat(operand, &s) == 0 && S_ISSOCK(s.st_mode);
    serial->fd = socket ? open_socket(operand) : open(operand, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (serial->fd < 0)
        return socket ? serial->fd : -errno;
    if (!isatty(serial->fd))
        return 0;
    if (tcgetattr(serial->fd, &t) == 0) {
        serial->old = t;
        serial->changed = true;
        cfmakeraw(&t);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
        cfsetspeed(&t, speeds[find_speed(baud)].speed);
        serial->baud = baud;
        if (tcsetattr(serial->fd, TCSANOW, &t) == 0) {
            serial->to = open(operand, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
            return 0;
        }
    }
    const int e = -errno;
    close(serial->fd);
    return e;
}

bool cairn_serial_set_baud(struct cairn_serial *serial, uint32_t baud)
{
    struct termios t, is;
    const size_t i = find_speed(baud);
    if (i == SPEEDS || tcgetattr(serial->fd, &t) != 0)
        return false;
    cfsetspeed(&t, speeds[i].speed);
    if (tcsetattr(serial->fd, TCSADRAIN, &t) != 0 || tcgetattr(serial->fd, &is) != 0 ||
        cfgetospeed(&is) != speeds[i].speed || cfgetispeed(&is) != speeds[i].speed)
        return false;
    serial->baud = baud;
    return true;
}

void cairn_serial_close(struct cairn_serial *serial)
{
    if (serial->to >= 0)
        close(serial->to);
    if (serial->changed)
        tcsetattr(serial->fd, TCSANOW, &serial->old);
    if (serial->fd != STDIN_FILENO)
        close(serial->fd);
}
