/* SPDX-License-Identifier: MIT */
/* What the header of a provider's event says, and what the file says of such events, as members of a JSON object. */
#pragma once

#include "tools/cairn/export/json.h"
#include "tools/cairn/log/log.h"

/* Whose event it is, what its provider calls it, and its level, opcode, task, keyword and activities with their names.
 * Nothing where it is none of a provider's. */
void cairn_json_provider(struct cairn_json *json, const struct cairn_log *log, const struct cairn_event *event);
/* "payload": its bytes, base64. */
void cairn_json_payload(struct cairn_json *json, const struct cairn_event *event);
