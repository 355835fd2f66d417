/* SPDX-License-Identifier: MIT */
/* JSON, one object on each line (RFC 8259). Numbers are whole, and below 2^53 unless a log is wrong; what may be larger
 * is text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/cairn/frame/text_streams.h"

struct cairn_json {
    FILE *to;
    bool more;      /* a member was written into the innermost object */
    bool in_markup; /* it stands in a script element of HTML: nothing in it may end that */
};

/* Members of the innermost object, `name` plain ASCII without quotes and backslashes; of the innermost list, `name`
 * NULL. Text is taken for UTF-8; bytes that are none become U+FFFD. */
void cairn_json_text(struct cairn_json *j, const char *name, const char *text);
void cairn_json_slice(struct cairn_json *j, const char *name, struct cairn_slice text);
void cairn_json_key(struct cairn_json *j, struct cairn_slice name, struct cairn_slice text); /* `name`: any, too */
void cairn_json_number(struct cairn_json *j, const char *name, int64_t value);
void cairn_json_count(struct cairn_json *j, const char *name, uint64_t value);
void cairn_json_hex(struct cairn_json *j, const char *name, uint64_t value); /* "0x..." */
void cairn_json_bool(struct cairn_json *j, const char *name, bool value);

/* An object: the line itself (`name` NULL), or a member. */
void cairn_json_open(struct cairn_json *j, const char *name);
void cairn_json_close(struct cairn_json *j);
void cairn_json_open_list(struct cairn_json *j, const char *name);
void cairn_json_close_list(struct cairn_json *j);
void cairn_json_end(struct cairn_json *j); /* of the line */
