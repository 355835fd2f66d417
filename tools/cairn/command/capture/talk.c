/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/capture/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define END_KEY 0x1D /* Ctrl-] */

void cairn_talk_begin(struct cairn_talk *t, int to)
{
    struct termios raw;
    *t = (struct cairn_talk){.to = to};
    signal(SIGPIPE, SIG_IGN);
    fcntl(to, F_SETFL, O_NONBLOCK);
    if (tcgetattr(STDIN_FILENO, &t->old) != 0)
        return;
    raw = t->old;
    cfmakeraw(&raw);
    raw.c_oflag = t->old.c_oflag;
    t->terminal = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    if (t->terminal)
        fprintf(stderr, "capture: what you type goes to the machine; Ctrl-] ends this\n");
}

void cairn_talk_wait(const struct cairn_talk *t, struct pollfd p[2])
{
    const bool full = t->begin < t->end;
    p[0] = (struct pollfd){.fd = t->to >= 0 && !t->over && !full ? STDIN_FILENO : -1, .events = POLLIN};
    p[1] = (struct pollfd){.fd = t->to >= 0 && full ? t->to : -1, .events = POLLOUT};
}

static void hang_up(struct cairn_talk *t)
{
    close(t->to);
    t->to = -1;
}

bool cairn_talk_go_on(struct cairn_talk *t, const struct pollfd p[2])
{
    if (p[0].fd >= 0 && p[0].revents) {
        const ssize_t n = read(STDIN_FILENO, t->data, sizeof(t->data));
        t->begin = 0;
        t->end = n > 0 ? (size_t)n : 0;
        t->over = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
        if (t->terminal && memchr(t->data, END_KEY, t->end))
            return false;
    }
    if (p[1].fd >= 0 && p[1].revents) {
        const ssize_t n = write(t->to, t->data + t->begin, t->end - t->begin);
        if (n > 0)
            t->begin += (size_t)n;
        else if (n < 0 && errno != EINTR && errno != EAGAIN)
            hang_up(t);
    }
    if (t->to >= 0 && t->over && t->begin == t->end)
        hang_up(t);
    return true;
}

void cairn_talk_end(struct cairn_talk *t)
{
    if (t->terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &t->old);
    if (t->to >= 0)
        hang_up(t);
}
