/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/provider.h"
#include "tools/cairn/log/etl/class_events.h"
#include "tools/cairn/log/etl/described/event_info.h"
#include "tools/cairn/log/etl/etl.h"

bool cairn_provider_read(struct cairn_provider *o, const struct cairn_log *log, const struct cairn_event *e)
{
    if (!cairn_provider_header(o, e))
        return false;
    o->class_event = cairn_class_event_name(e);
    if (log->etl && o->guid && !o->schema.at && !o->about && !o->damaged)
        o->info = cairn_description_of(&log->etl->descriptions, o->guid, !o->described, e->id, e->version);
    if (o->info.at && !o->name[0])
        cairn_event_info_text(o->name, sizeof(o->name), o->info, offsetof(struct event_info, provider_name));
    return true;
}
