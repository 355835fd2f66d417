/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/kernel_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/etl/stack.h"

/*
 * The fields of an event, in their order, each NAME:KIND, or -N for N bytes that are not told. KIND:
 *   1 2 4 8  a number of so many bytes        x X y   hexadecimal, of 4, 8, 2 bytes
 *   u p      a number, an address of a pointer's bytes
 *   F        the same, which is the key of a file: its name is told behind it, as File, where the trace has it
 *   n q      a thread of 4, of a pointer's bytes  k   a process
 *   c        where the code is                S       all that is left: a stack
 *   @        a time of the session's clock    r       a time of the performance counter's units
 *   z Z wN   UTF-16, 8-bit text up to its 0; UTF-16 of N characters
 *   g t      a GUID, a FILETIME                       s  a user: TOKEN_USER and SID, or 4 bytes of 0
 *   a A P    an address of IPv4, of IPv6, a port      *K all that is left, each of kind K
 *   N G      a processor as group:number, a group's processors as group:mask
 */
#define DISK      "DiskNumber:4 IrpFlags:x TransferSize:4 -4 ByteOffset:8 FileObject:F Irp:p HighResResponseTime:r"
#define FLUSH     "DiskNumber:4 IrpFlags:x HighResResponseTime:r Irp:p"
#define BY        " IssuingThreadId:n"
#define CALLED    "MajorFunction:4 MinorFunction:4 RoutineAddr:c FileObject:p Irp:p UniqMatchId:4"
#define FAULT     "VirtualAddress:p ProgramCounter:c"
#define REGION    "BaseAddress:p RegionSize:u ProcessId:k Flags:x"
#define RANGE     "BaseAddress:p SizeInBytes:u Flags:x"
#define FILE_NAME "FileObject:p FileName:z"
#define VIEW      "ViewBase:p FileObject:F MiscInfo:X ViewSize:u ProcessId:k"
#define OPENED    " CreateOptions:x FileAttributes:x ShareAccess:x OpenPath:z"
#define FILE_V2   "IrpPtr:p TTID:q FileObject:p FileKey:F"
#define FILE_V3   "IrpPtr:p FileObject:p FileKey:F"
#define LISTED    " Length:4 InfoClass:4 FileIndex:4 FileName:z"
#define PATH      FILE_V3 " ExtraInfo:p TTID:n InfoClass:4 FileName:z"
#define TCPIP     "PID:k size:4 daddr:a saddr:a dport:P sport:P"
#define TCPIP6    "PID:k size:4 daddr:A saddr:A dport:P sport:P"
#define FAILED    "Proto:2 FailureCode:2"
#define CPU                                                                                                            \
    "MHz:4 NumberOfProcessors:4 MemSize:4 PageSize:4 AllocationGranularity:4 ComputerName:w256 "                       \
    "DomainName:w134 HyperThreadingFlag:p"
#define DEVICE    "DeviceID:z DeviceDescription:z FriendlyName:z PdoName:z"
#define PROCESS   "UniqueProcessKey:p ProcessId:k ParentId:4 SessionId:4 ExitStatus:x"
#define DIRECTORY " DirectoryTableBase:p"
#define NAMED     " UserSID:s ImageFileName:Z"
#define PROCESS4  PROCESS DIRECTORY " Flags:x" NAMED " CommandLine:z PackageFullName:z ApplicationId:z"
#define IMAGE     "ImageBase:p ImageSize:p ProcessId:k"
#define IMAGE_V2  IMAGE " ImageChecksum:x TimeDateStamp:x -4 DefaultBase:p -16 FileName:z"
#define IMAGE_V3                                                                                                       \
    IMAGE " ImageChecksum:x TimeDateStamp:x SignatureLevel:1 SignatureType:1 -2 DefaultBase:p -16 FileName:z"
#define COUNTERS                                                                                                       \
    "ProcessId:k PageFaultCount:4 HandleCount:4 -4 PeakVirtualSize:u PeakWorkingSetSize:u PeakPagefileUsage:u "        \
    "QuotaPeakPagedPoolUsage:u QuotaPeakNonPagedPoolUsage:u VirtualSize:u WorkingSetSize:u PagefileUsage:u "           \
    "QuotaPagedPoolUsage:u QuotaNonPagedPoolUsage:u PrivatePageCount:u"
#define SERVICE   "ProcessId:k ServiceState:4 SubProcessTag:4 ServiceName:z DisplayName:z ProcessName:z"
#define STACK_OF  "EventTimeStamp:@ StackProcess:k StackThread:n"
#define STACK_KEY "StackKey:p Stack:S"

static const struct row {
    uint16_t hook, last; /* all from `hook` to here */
    uint8_t first_version, last_version;
    const char *fields;
} rows[] = {
    {0x0040, 0x0040, 2, 2, "Guid:g Age:4 PdbName:Z"},
    {0x0042, 0x0042, 2, 2, "BuildString:Z"},
    {0x010A, 0x010B, 2, 2, DISK},
    {0x010A, 0x010B, 3, 3, DISK BY},
    {0x010C, 0x010D, 2, 2, "Irp:p"},
    {0x010C, 0x010D, 3, 3, "Irp:p" BY},
    {0x010E, 0x010E, 2, 2, FLUSH},
    {0x010E, 0x010E, 3, 3, FLUSH BY},
    {0x010F, 0x010F, 2, 2, "Irp:p"},
    {0x010F, 0x010F, 3, 3, "Irp:p" BY},
    {0x0122, 0x0122, 2, 2, CALLED},
    {0x0123, 0x0123, 2, 2, "Irp:p UniqMatchId:4"},
    {0x0125, 0x0125, 2, 2, "Routine:c IrpPtr:p UniqMatchId:4"},
    {0x0134, 0x0134, 2, 2, "RoutineAddr:c Irp:p UniqMatchId:4"},
    {0x0135, 0x0135, 2, 2, "Irp:p UniqMatchId:4"},
    {0x0137, 0x0138, 3, 3, DISK BY},
    {0x0139, 0x0139, 3, 3, FLUSH BY},
    {0x013A, 0x013C, 3, 3, "Irp:p" BY},
    {0x020A, 0x020F, 2, 2, FAULT},
    {0x0220, 0x0220, 2, 2, "InitialTime:@ ReadOffset:8 VirtualAddress:p FileObject:F TThreadId:n ByteCount:4"},
    {0x0262, 0x0263, 2, 2, REGION},
    {0x0269, 0x0269, 2, 2, "FileObject:p DeviceChar:x FileChar:y LoadFlags:y"},
    {0x027F, 0x027F, 2, 2, RANGE},
    {0x0280, 0x0281, 2, 2, REGION " CommitSizeInBytes:u"},
    {0x0286, 0x0286, 2, 2, RANGE},
    {0x0301, 0x0304, 1, 1, "PageDirectoryBase:p ProcessId:k ParentId:4 SessionId:4 ExitStatus:x" NAMED},
    {0x0301, 0x0304, 2, 2, PROCESS NAMED " CommandLine:z"},
    {0x0301, 0x0304, 3, 3, PROCESS DIRECTORY NAMED " CommandLine:z"},
    {0x0301, 0x0304, 4, 4, PROCESS4},
    {0x030A, 0x030A, 1, 1, IMAGE " FileName:z"},
    {0x030A, 0x030A, 2, 2, IMAGE_V2},
    {0x030A, 0x030A, 3, 3, IMAGE_V3},
    {0x030B, 0x030B, 2, 2, "ProcessId:k"},
    {0x0320, 0x0321, 2, 2, COUNTERS},
    {0x0327, 0x0327, 2, 2, PROCESS NAMED " CommandLine:z"},
    {0x0327, 0x0327, 3, 3, PROCESS DIRECTORY NAMED " CommandLine:z"},
    {0x0327, 0x0327, 4, 4, PROCESS4},
    {0x0327, 0x0327, 5, 5, PROCESS4 " ExitTime:t"},
    {0x0400, 0x0400, 0, 3, FILE_NAME},
    {0x0420, 0x0420, 1, 3, FILE_NAME},
    {0x0423, 0x0424, 2, 3, FILE_NAME},
    {0x0425, 0x0428, 2, 2, VIEW},
    {0x0440, 0x0440, 2, 2, "IrpPtr:p TTID:q FileObject:p" OPENED},
    {0x0440, 0x0440, 3, 3, "IrpPtr:p FileObject:p TTID:n" OPENED},
    {0x0441, 0x0442, 2, 2, FILE_V2},
    {0x0441, 0x0442, 3, 3, FILE_V3 " TTID:n"},
    {0x0443, 0x0444, 2, 2, "Offset:8 " FILE_V2 " IoSize:4 IoFlags:x"},
    {0x0443, 0x0444, 3, 3, "Offset:8 " FILE_V3 " TTID:n IoSize:4 IoFlags:x"},
    {0x0445, 0x0447, 2, 2, FILE_V2 " ExtraInfo:p InfoClass:4"},
    {0x0445, 0x0447, 3, 3, FILE_V3 " ExtraInfo:p TTID:n InfoClass:4"},
    {0x0448, 0x0448, 2, 2, FILE_V2 LISTED},
    {0x0448, 0x0448, 3, 3, FILE_V3 " TTID:n" LISTED},
    {0x0449, 0x0449, 2, 2, FILE_V2},
    {0x0449, 0x0449, 3, 3, FILE_V3 " TTID:n"},
    {0x044A, 0x044B, 2, 2, FILE_V2 " ExtraInfo:p InfoClass:4"},
    {0x044A, 0x044B, 3, 3, FILE_V3 " ExtraInfo:p TTID:n InfoClass:4"},
    {0x044C, 0x044C, 2, 3, "IrpPtr:p ExtraInfo:p NtStatus:x"},
    {0x044D, 0x044D, 2, 2, FILE_V2 LISTED},
    {0x044D, 0x044D, 3, 3, FILE_V3 " TTID:n" LISTED},
    {0x044F, 0x0451, 3, 3, PATH},
    {0x060A, 0x060F, 0, 0, "daddr:a saddr:a dport:P sport:P size:4 PID:k"},
    {0x060A, 0x0610, 1, 2, TCPIP},
    {0x0611, 0x0611, 2, 2, FAILED},
    {0x0612, 0x0612, 1, 2, TCPIP},
    {0x0613, 0x0616, 1, 1, TCPIP},
    {0x061A, 0x0620, 2, 2, TCPIP6},
    {0x0622, 0x0622, 2, 2, TCPIP6},
    {0x080A, 0x080B, 1, 2, TCPIP},
    {0x0811, 0x0811, 2, 2, FAILED},
    {0x081A, 0x081B, 2, 2, TCPIP6},
    {0x0B0A, 0x0B0A, 2, 2, CPU},
    {0x0B0A, 0x0B0A, 3, 3,
     CPU " HighestUserAddress:p ProcessorArchitecture:2 ProcessorLevel:2 ProcessorRevision:2 -2 "
         "MemorySpeed:4"},
    {0x0B0B, 0x0B0B, 0, 2,
     "DiskNumber:4 BytesPerSector:4 SectorsPerTrack:4 TracksPerCylinder:4 Cylinders:8 SCSIPort:4 SCSIPath:4 "
     "SCSITarget:4 SCSILun:4 Manufacturer:w256 PartitionCount:4 WriteCacheEnabled:1 -1 BootDriveLetter:w3"},
    {0x0B0C, 0x0B0C, 2, 2,
     "StartOffset:8 PartitionSize:8 DiskNumber:4 Size:4 DriveType:4 DriveLetterString:w4 -4 "
     "PartitionNumber:4 SectorsPerCluster:4 BytesPerSector:4 -4 NumberOfFreeClusters:8 "
     "TotalNumberOfClusters:8 FileSystem:w16 VolumeExt:4"},
    {0x0B0D, 0x0B0D, 2, 2,
     "PhysicalAddr:X PhysicalAddrLen:4 Ipv4Index:4 Ipv6Index:4 NICDescription:z IpAddresses:z "
     "DnsServerAddresses:z"},
    {0x0B0F, 0x0B0F, 2, 2, SERVICE},
    {0x0B0F, 0x0B0F, 3, 3, SERVICE " LoadOrderGroup:z SvchostGroup:z"},
    {0x0B10, 0x0B10, 0, 2, "S1:1 S2:1 S3:1 S4:1 S5:1"},
    {0x0B11, 0x0B11, 2, 2, "TcbTablePartitions:4 MaxHashTableSize:4 MaxUserPort:4 TcpTimedWaitDelay:4"},
    {0x0B12, 0x0B12, 2, 2,
     "DiskNumber:2 BusType:2 DeviceType:2 MediaType:2 StartingOffset:8 Size:8 NumberOfFreeBlocks:8 "
     "TotalNumberOfBlocks:8 NextWritableAddress:8 NumberOfSessions:4 NumberOfTracks:4 BytesPerSector:4 DiscStatus:2 "
     "LastSessionStatus:2 DriveLetter:z FileSystemName:z DeviceName:Z ManufacturerName:Z"},
    {0x0B15, 0x0B15, 3, 3, "IRQAffinity:X IRQGroup:2 -2 IRQNum:4 -4 DeviceDescription:z"},
    {0x0B16, 0x0B16, 3, 3, "-12 " DEVICE},
    {0x0B16, 0x0B16, 4, 4, "ClassGuid:g -8 " DEVICE " ServiceName:z"},
    {0x0B16, 0x0B16, 5, 5, "ClassGuid:g -8 DevStatus:x DevProblem:4 " DEVICE " ServiceName:z"},
    {0x0B18, 0x0B18, 2, 2, "NodeCount:4 NodeMap:*G"},
    {0x0B19, 0x0B19, 2, 2, "SystemManufacturer:z SystemProductName:z BiosDate:z BiosVersion:z"},
    {0x0B1A, 0x0B1A, 2, 2, "GroupCount:4 Affinity:*p"},
    {0x0B1B, 0x0B1B, 2, 2, "ProcessorCount:4 ProcessorNumber:*N"},
    {0x0B1C, 0x0B1C, 2, 2, "MachineDPI:4 UserDPI:4"},
    {0x0B23, 0x0B23, 2, 2,
     "ProcessorIndex:4 FeatureSet:x ProcessorSpeed:4 ProcessorName:w64 VendorIdentifier:w16 ProcessorIdentifier:w128"},
    {0x1402, 0x1404, 1, 1, IMAGE " FileName:z"},
    {0x1402, 0x1404, 2, 2, IMAGE_V2},
    {0x1402, 0x1404, 3, 3, IMAGE_V3},
    {0x1421, 0x1421, 2, 2, "ImageBase:p"},
    {0x1422, 0x1422, 2, 2, "HypercallPageVa:p"},
    {0x1820, 0x1820, 2, 2, STACK_OF " Stack:S"},
    {0x1822, 0x1824, 2, 2, STACK_KEY},
    {0x1825, 0x1826, 2, 2, STACK_OF " StackKey:p"},
};

#define FIELD_NAME_MOST 32u
#define LIST_MOST       64u /* elements of a list that are shown */

struct reading {
    const struct cairn_log *log;
    const struct cairn_event *event;
    struct cairn_bytes payload;
    uint8_t pointer; /* bytes of one in it */
    uint32_t pid;    /* whose addresses are in it, */
    int64_t time;    /* as they were then */
    cairn_tell_field *tell;
    void *to;
};

/* ---- values of more than their bytes ----------------------------------------------------------------------------- */

/* The performance counter's frequency is in the file's header, whatever clock the session has. */
static void show_response(char *out, const struct cairn_log *log, uint64_t units)
{
    const int64_t hz = log->etl ? log->etl->times.frequency : 0;
    if (hz > 0)
        snprintf(out, CAIRN_SHOWN, "%.1f us", (double)units * 1e6 / (double)hz);
    else
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 " units", units);
}

/* Those that need the log. False: the payload is too short. */
static bool take_told(struct reading *r, char out[CAIRN_VALUE_TEXT_MOST], char kind)
{
    char text[CAIRN_SHOWN];
    const bool wide = kind == '@' || kind == 'r' || ((kind == 'q' || kind == 'c') && r->pointer == 8);
    const uint8_t *p = cairn_bytes_take(&r->payload, wide ? 8 : 4);
    if (!p)
        return false;
    const uint64_t value = wide ? cairn_get64(p) : cairn_get32(p);
    switch (kind) {
    case '@':
        r->time = (int64_t)value;
        cairn_show_time(text, r->log, r->time);
        break;
    case 'r':
        show_response(text, r->log, value);
        break;
    case 'c':
        cairn_stack_place(text, r->log, r->pid, r->time, value);
        break;
    case 'k':
        r->pid = (uint32_t)value;
        snprintf(text, sizeof(text), "%" PRIu32, r->pid);
        break;
    default:
        cairn_show_thread(text, r->log, (uint32_t)value, (int)CAIRN_SHOWN - 1);
    }
    snprintf(out, CAIRN_VALUE_TEXT_MOST, "%s", text);
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static struct cairn_value_type type_of(char kind, unsigned pointer)
{
    switch (kind) {
    case 'x':
        return (struct cairn_value_type){CAIRN_VALUE_HEX, 4};
    case 'X':
        return (struct cairn_value_type){CAIRN_VALUE_HEX, 8};
    case 'y':
        return (struct cairn_value_type){CAIRN_VALUE_HEX, 2};
    case 'u':
        return (struct cairn_value_type){CAIRN_VALUE_UNSIGNED, (uint8_t)pointer};
    case 'p':
        return (struct cairn_value_type){CAIRN_VALUE_HEX, (uint8_t)pointer};
    case 'z':
        return (struct cairn_value_type){CAIRN_VALUE_TEXT, 2};
    case 'Z':
        return (struct cairn_value_type){CAIRN_VALUE_TEXT, 1};
    case 't':
        return (struct cairn_value_type){CAIRN_VALUE_FILETIME, 0};
    case 's':
        return (struct cairn_value_type){CAIRN_VALUE_TOKEN_SID, (uint8_t)pointer};
    case 'g':
        return (struct cairn_value_type){CAIRN_VALUE_GUID, 0};
    case 'a':
        return (struct cairn_value_type){CAIRN_VALUE_IPV4, 0};
    case 'A':
        return (struct cairn_value_type){CAIRN_VALUE_IPV6, 0};
    case 'P':
        return (struct cairn_value_type){CAIRN_VALUE_PORT, 0};
    default: /* a digit */
        return (struct cairn_value_type){CAIRN_VALUE_UNSIGNED, (uint8_t)(kind - '0')};
    }
}

/* PROCESSOR_NUMBER. Kernels of Cairn up to version 0.3.0 wrote the CPU's bare number, behind a SYSTEM header. */
static void show_processor(char *out, const struct reading *r, uint32_t number)
{
    const bool cairn = r->log->own || (r->log->etl && r->log->etl->cairn);
    if (cairn && r->event->header == ETL_SYSTEM64)
        number = ETW_PROCESSOR_NUMBER(number);
    snprintf(out, CAIRN_VALUE_TEXT_MOST, "%u:%u", number & 0xFFFF, number >> 16 & 0xFF);
}

/* An element of a list. False: the payload is too short. */
static bool take_element(char out[CAIRN_VALUE_TEXT_MOST], struct reading *r, char kind)
{
    const unsigned pointer = r->pointer;
    if (kind != 'N' && kind != 'G')
        return cairn_value_take(out, &r->payload, type_of(kind, pointer));
    const uint8_t *p = cairn_bytes_take(&r->payload, kind == 'N' ? 4 : pointer + 8); /* GROUP_AFFINITY: mask first */
    if (p && kind == 'N')
        show_processor(out, r, cairn_get32(p));
    else if (p)
        snprintf(out, CAIRN_VALUE_TEXT_MOST, "%u:0x%" PRIx64, cairn_get16(p + pointer),
                 pointer == 8 ? cairn_get64(p) : cairn_get32(p));
    return p;
}

static void tell_list(struct reading *r, const char *name, char kind)
{
    char all[CAIRN_VALUE_TEXT_MOST] = "", one[CAIRN_VALUE_TEXT_MOST];
    size_t n = 0;
    for (unsigned i = 0; i < LIST_MOST && n + 32 < sizeof(all) && take_element(one, r, kind); i++)
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%.24s", i ? " " : "", one);
    if (r->payload.size && n + 32 < sizeof(all))
        snprintf(all + n, sizeof(all) - n, " ...");
    r->tell(r->to, name, all);
}

static void tell_stack(struct reading *r, const char *name)
{
    char text[CAIRN_STACK_TEXT];
    r->tell(r->to, name, cairn_stack_text(text, r->log, r->pid, r->time, r->payload, r->pointer));
    r->payload.size = 0;
}

/* The key of a file, and the name that it had then. */
static bool tell_file(struct reading *r, const char *name)
{
    char text[CAIRN_VALUE_TEXT_MOST];
    const struct cairn_bytes key = r->payload;
    if (!cairn_value_take(text, &r->payload, (struct cairn_value_type){CAIRN_VALUE_HEX, r->pointer}))
        return false;
    r->tell(r->to, name, text);
    if (!r->log->etl)
        return true;
    const struct cairn_bytes file = cairn_file_names_find(
        &r->log->etl->files, r->pointer == 8 ? cairn_get64(key.at) : cairn_get32(key.at), r->event->time);
    if (file.at) {
        cairn_printable(text, sizeof(text), file.at, file.size, 2);
        r->tell(r->to, "File", text);
    }
    return true;
}

/* The field called `name`. False: the payload is too short. */
static bool tell_field(struct reading *r, const char *name, const char *kind)
{
    char text[CAIRN_VALUE_TEXT_MOST];
    const uint8_t *p;
    switch (*kind) {
    case 'S':
        tell_stack(r, name);
        return true;
    case 'F':
        return tell_file(r, name);
    case '*':
        tell_list(r, name, kind[1]);
        return true;
    case 'w': {
        const uint32_t bytes = 2 * (uint32_t)strtoul(kind + 1, NULL, 10);
        if (!(p = cairn_bytes_take(&r->payload, bytes)))
            return false;
        cairn_printable(text, sizeof(text), p, bytes, 2);
        break;
    }
    case '@':
    case 'r':
    case 'c':
    case 'k':
    case 'n':
    case 'q':
        if (!take_told(r, text, *kind))
            return false;
        break;
    default:
        if (!cairn_value_take(text, &r->payload, type_of(*kind, r->pointer)))
            return false;
    }
    r->tell(r->to, name, text);
    return true;
}

static const struct row *row_of(const struct cairn_event *e)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (e->hook >= rows[i].hook && e->hook <= rows[i].last && e->version >= rows[i].first_version &&
            e->version <= rows[i].last_version)
            return &rows[i];
    return NULL;
}

enum cairn_fit cairn_fields_tell(const struct cairn_log *log, const struct cairn_event *e, const char *fields,
                                 uint8_t pointer, cairn_tell_field *tell, void *to)
{
    struct reading r = {log, e, {e->payload, e->size}, pointer, e->pid, e->time, tell, to};
    for (const char *at = fields; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " "), before = strcspn(at, ":");
        char name[FIELD_NAME_MOST];
        if (*at == '-') {
            if (!cairn_bytes_take(&r.payload, (uint32_t)strtoul(at + 1, NULL, 10)))
                return CAIRN_FIT_SHORT;
        } else {
            snprintf(name, sizeof(name), "%.*s", (int)before, at);
            if (!tell_field(&r, name, at + before + 1))
                return CAIRN_FIT_SHORT;
        }
        at += length;
    }
    return CAIRN_FIT_WHOLE;
}

enum cairn_fit cairn_kernel_fields(const struct cairn_log *log, const struct cairn_event *e, cairn_tell_field *tell,
                                   void *to)
{
    const struct row *row = e->hook == CAIRN_NO_HOOK || e->unknown_items ? NULL : row_of(e);
    return row ? cairn_fields_tell(log, e, row->fields, e->pointer, tell, to) : CAIRN_FIT_UNKNOWN;
}
