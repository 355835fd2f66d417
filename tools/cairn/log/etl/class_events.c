/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/class_events.h"

#include <string.h>

#include "tools/cairn/event/etl_layout.h"

#define GUID_BYTES 16u
static const uint8_t image_id[GUID_BYTES] = {0xD7, 0x75, 0xE6, 0xB3, 0x54, 0x25, 0x18, 0x4F,
                                             0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE};
static const uint8_t system_config[GUID_BYTES] = {0x91, 0xEE, 0x79, 0x9B, 0xFD, 0xB5, 0xC0, 0x41,
                                                  0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0};

#define PDB "ImageBase:p ProcessId:k GuidSig:g Age:4 PdbFileName:Z"

static const struct row {
    const uint8_t *class;
    uint8_t type;
    const char *name, *fields;
} rows[] = {
    {image_id, 0x00, "Info", "ImageBase:p ImageSize:p ProcessId:4 TimeDateStamp:x OriginalFileName:z"},
    {image_id, 0x24, "DbgID_RSDS", PDB},
    {image_id, 0x25, "DbgID_ILRSDS", PDB},
    {image_id, 0x40, "FileVersion",
     "ImageSize:4 TimeDateStamp:x OrigFileName:z FileDescription:z FileVersion:z BinFileVersion:z VerLanguage:z "
     "ProductName:z CompanyName:z ProductVersion:z FileId:z ProgramId:z"},
    {system_config, 0x20, "BuildInfo", "InstallDate:t BuildLab:z ProductName:z"},
    {system_config, 0x21, "SystemPaths", "SystemDirectory:z SystemWindowsDirectory:z"},
    {system_config, 0x22, "UnknownVolume", "Value:z"},
    {system_config, 0x23, "VolumeMapping", "NtPath:z DosPath:z"},
};

static const struct row *row_of(const struct cairn_event *e)
{
    if ((e->header != ETL_FULL32 && e->header != ETL_FULL64) || !e->provider)
        return NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (e->id == rows[i].type && memcmp(e->provider, rows[i].class, GUID_BYTES) == 0)
            return &rows[i];
    return NULL;
}

const char *cairn_class_event_name(const struct cairn_event *e)
{
    const struct row *row = row_of(e);
    return row ? row->name : NULL;
}

enum cairn_fit cairn_class_event_fields(const struct cairn_log *log, const struct cairn_event *e,
                                        cairn_tell_field *tell, void *to)
{
    const struct row *row = row_of(e);
    return row ? cairn_fields_tell(log, e, row->fields, e->header == ETL_FULL64 ? 8 : 4, tell, to) : CAIRN_FIT_UNKNOWN;
}
