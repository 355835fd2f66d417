/* SPDX-License-Identifier: MIT */
/* Passes standard input to a machine that we run. A terminal sends each key at once, unseen (the machine echoes), and
 * Ctrl-] ends the conversation. Nothing is passed before the machine listens: its firmware would take it. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct cairn_talk {
    int to; /* the machine's standard input; -1: the conversation is over, or there is none */
    bool terminal, over;
    char data[4096];
    size_t begin, end; /* of `data`: what is still to be passed */
    struct termios old;
};

/* `to`: a pipe. From now on SIGPIPE is ignored. */
void cairn_talk_begin(struct cairn_talk *talk, int to);
/* What to wait for. */
void cairn_talk_wait(const struct cairn_talk *talk, struct pollfd p[2]);
/* Does what is possible now. False: the user wants to end it. */
bool cairn_talk_go_on(struct cairn_talk *talk, const struct pollfd p[2]);
/* The terminal is as it was. */
void cairn_talk_end(struct cairn_talk *talk);
