/* SPDX-License-Identifier: MIT */
/*
 * build/playground-native: the playground's machine as a program of this host, for the tests that compare the page
 * with it.
 *
 *     playground-native SETTINGS...           for each: the digest of all its steps, or the error
 *     playground-native --state SETTINGS...   the same, and the bytes of the state after each line
 *     playground-native --layout              the fields of the state, as JSON
 *     playground-native --catalog             what can be chosen, as JSON
 *     playground-native -                     settings from standard input, one a line; also after --state
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/playground/playground.h"

static bool want_state;

static void show(const char *settings)
{
    strncpy(play_input(), settings, play_input_size()); /* the rest is 0; a longer text has none, and is refused */
    if (play_open()) {
        printf("error %s\n", play_error());
        return;
    }
    printf("%016llx\n", (unsigned long long)play_digest());
    if (want_state)
        fwrite(play_state(), 1, sizeof(struct play_state), stdout);
}

static void show_lines(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        show(line);
    }
    free(line);
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--layout") == 0)
        return puts(play_layout()) < 0;
    if (count == 2 && strcmp(words[1], "--catalog") == 0)
        return puts(play_catalog()) < 0;
    int i = 1;
    want_state = count > 1 && strcmp(words[1], "--state") == 0;
    i += want_state;
    if (i == count) {
        fputs("usage: playground-native [--state] SETTINGS... | [--state] - | --layout | --catalog\n", stderr);
        return 2;
    }
    if (strcmp(words[i], "-") == 0)
        show_lines();
    else
        for (; i < count; i++)
            show(words[i]);
    return fflush(stdout) != 0;
}
