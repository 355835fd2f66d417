/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/capture/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int64_t cairn_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static bool find_speed(const char *text, speed_t *speed)
{
    static const struct {
        const char *text;
        speed_t speed;
    } table[] = {
        {"9600", B9600},       {"19200", B19200},     {"38400", B38400},     {"57600", B57600},
        {"115200", B115200},   {"230400", B230400},   {"460800", B460800},   {"921600", B921600},
        {"1000000", B1000000}, {"1500000", B1500000}, {"2000000", B2000000}, {"3000000", B3000000},
    };
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(text, table[i].text) == 0) {
            *speed = table[i].speed;
            return true;
        }
    return false;
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
    speed_t speed = B115200;
    char *comma = stat(operand, &s) == 0 ? NULL : strchr(operand, ',');
    *serial = (struct cairn_serial){.fd = STDIN_FILENO};
    if (comma && !find_speed(comma + 1, &speed))
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
        cfsetspeed(&t, speed);
        if (tcsetattr(serial->fd, TCSANOW, &t) == 0)
            return 0;
    }
    const int e = -errno;
    close(serial->fd);
    return e;
}

void cairn_serial_close(struct cairn_serial *serial)
{
    if (serial->changed)
        tcsetattr(serial->fd, TCSANOW, &serial->old);
    if (serial->fd != STDIN_FILENO)
        close(serial->fd);
}
