/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/snapshot/snapshot.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/qemu/exported.h"
#include "tools/qemu-ds/run/begin.h"
#include "tools/qemu-ds/run/run.h"

#define NAME    "qemu-ds"
#define VERSION 1
#define CR0_PE  1u
#define GDB_RIP 16 /* as gdb numbers the registers of i386:x86-64 */

struct handlers { /* of QEMU 11.1's struct SaveVMHandlers what is of use here */
    void (*save_state)(void *file, void *opaque);
    void *unused[11];
    int (*load_state)(void *file, void *opaque, int version);
    void *unused_too[16]; /* more than there are */
};

static struct {
    int (*register_savevm_live)(const char *name, uint32_t instance, int version, const struct handlers *handlers,
                                void *opaque);
    void (*qemu_put_buffer)(void *file, const uint8_t *from, size_t size);
    size_t (*qemu_get_buffer)(void *file, uint8_t *to, size_t size);
    void *(*qemu_get_cpu)(int index);
    int (*gdb_read_register)(void *cpu, GByteArray *to, int number);
    /* On the vCPU's own thread, while it stands between two blocks. */
    void (*run_on_cpu)(void *cpu, void (*function)(void *cpu, void *data), void *data);
} qemu;
static int vcpus;
static const char *why_not; /* of load_vcpu */
static atomic_bool begun;   /* the machine, from RESET or from a snapshot with the plugin's state */

struct saved {       /* a vCPU in the stream; behind the last there is a `layout` of 0 */
    uint32_t layout; /* what the rest looks like: that of another build is of no use */
    uint32_t index;
    char preset[24];
    uint8_t core_type; /* the two cores of a hybrid have the preset's one name */
    bool kvm, memory, reference;
    uint16_t cpi;
    struct qds_vcpu vcpu; /* whole; what is of a process or of QEMU's, such as pointers, is not loaded */
};

/* Outside of its callbacks a plugin's own function reads no register. */
static uint64_t rip_of(struct qds_vcpu *v, void *cpu)
{
    uint64_t rip = 0;
    g_byte_array_set_size(v->bytes, 0);
    if (qemu.gdb_read_register(cpu, v->bytes, GDB_RIP) == sizeof rip)
        memcpy(&rip, v->bytes->data, sizeof rip);
    return rip;
}

static void save_vcpu(void *cpu, void *data)
{
    struct saved *s = data;
    struct qds_vcpu *v = qds_vcpu(s->index);
    qds_run_stands(v, rip_of(v, cpu));
    s->layout = QDS_LAYOUT;
    snprintf(s->preset, sizeof s->preset, "%s", v->model.preset->name);
    s->core_type = v->model.preset->core_type;
    s->kvm = v->model.preset->kvm;
    s->memory = v->model.preset->memory != NULL;
    s->cpi = v->model.preset->cpi;
    s->reference = v->model.preset->reference;
    s->vcpu = *v;
}

static void save(void *file, void *opaque)
{
    struct saved *s = opaque;
    for (int i = 0; i < vcpus; i++) {
        void *cpu = qemu.qemu_get_cpu(i);
        memset(s, 0, sizeof *s);
        s->index = (uint32_t)i;
        if (!cpu)
            continue;
        qemu.run_on_cpu(cpu, save_vcpu, s);
        qemu.qemu_put_buffer(file, (const uint8_t *)s, sizeof *s);
    }
    memset(s, 0, sizeof *s);
    qemu.qemu_put_buffer(file, (const uint8_t *)&s->layout, sizeof s->layout);
}

/* What the model counts for itself since the plugin's start stays what it is here. */
static void load_model(struct ds_model *m, const struct ds_model *from)
{
    const struct ds_model here = *m;
    *m = *from;
    m->preset = here.preset;
    m->host = here.host;
    m->records = here.records;
    m->dropped = here.dropped;
    m->lost = here.lost;
    m->swallowed = here.swallowed;
    m->bts_records = here.bts_records;
    m->bts_dropped = here.bts_dropped;
    m->bts_lost = here.bts_lost;
}

/* Why this vCPU cannot go on from the one in the stream. NULL: it can. */
static const char *other(const struct saved *s, const struct qds_vcpu *v)
{
    if (strcmp(s->preset, v->model.preset->name) != 0 || s->kvm != v->model.preset->kvm)
        return "another preset, or kvm=";
    if (s->core_type != v->model.preset->core_type)
        return "another efficient=";
    if (s->memory != (v->model.preset->memory != NULL))
        return "another memory=";
    if (s->cpi != v->model.preset->cpi)
        return "another cpi=";
    if (s->reference != v->model.preset->reference)
        return "another ref=";
    return memcmp(&s->vcpu.model.policy, &v->model.policy, sizeof v->model.policy) == 0 ? NULL : "another policy";
}

static void load_vcpu(void *cpu, void *data)
{
    const struct saved *s = data;
    const struct qds_vcpu *from = &s->vcpu;
    struct qds_vcpu *v = qds_vcpu(s->index); /* known: its beginning was asked for before this */
    (void)cpu;
    why_not = other(s, v);
    if (why_not)
        return;
    qds_begin_anew(v);
    load_model(&v->model, &from->model);
    v->step = from->step;
    v->step.block = NULL;
    v->entered = from->entered;
    v->leave = from->leave;
    v->patch = from->patch;
    v->board->patch = from->patch.kind;
    v->max_leaf = from->max_leaf;
    v->fault = from->fault;
    v->x2apic = from->x2apic;
    v->stepped = from->stepped;
    v->fresh = false;
    begun = true;
    qds_run_loaded(v);
}

static int refuse(const char *why)
{
    fprintf(stderr, "qemu-ds: the snapshot cannot be loaded: it is of %s\n", why);
    return -EINVAL;
}

static void say_caches(void)
{
    if (qds_costs_modelled())
        fprintf(stderr, "qemu-ds: memory=model: caches are not in the snapshot: they stay as they are\n");
}

static int load(void *file, void *opaque, int version)
{
    struct saved *s = opaque;
    (void)version;
    for (;;) {
        uint8_t *bytes = (uint8_t *)s;
        if (qemu.qemu_get_buffer(file, bytes, sizeof s->layout) != sizeof s->layout)
            return -EIO;
        if (!s->layout)
            break;
        if (s->layout != QDS_LAYOUT)
            return refuse("another build of the plugin");
        bytes += sizeof s->layout;
        if (qemu.qemu_get_buffer(file, bytes, sizeof *s - sizeof s->layout) != sizeof *s - sizeof s->layout)
            return -EIO;
        void *cpu = qemu.qemu_get_cpu((int)s->index);
        why_not = "a machine with other vCPUs";
        if (cpu)
            qemu.run_on_cpu(cpu, load_vcpu, s);
        if (why_not)
            return refuse(why_not);
    }
    say_caches();
    return 0;
}

static bool available(void)
{
    qds_exported("register_savevm_live", &qemu.register_savevm_live);
    qds_exported("qemu_put_buffer", &qemu.qemu_put_buffer);
    qds_exported("qemu_get_buffer", &qemu.qemu_get_buffer);
    qds_exported("qemu_get_cpu", &qemu.qemu_get_cpu);
    qds_exported("gdb_read_register", &qemu.gdb_read_register);
    qds_exported("run_on_cpu", &qemu.run_on_cpu);
    return qemu.register_savevm_live && qemu.qemu_put_buffer && qemu.qemu_get_buffer && qemu.qemu_get_cpu &&
           qemu.gdb_read_register && qemu.run_on_cpu && qds_release() == QDS_RELEASE(11, 1);
}

void qds_snapshot_begin(int all)
{
    static const struct handlers handlers = {.save_state = save, .load_state = load};
    vcpus = all;
    if (!available()) {
        fprintf(stderr, "qemu-ds: not QEMU 11.1, or it lacks functions: snapshots have no state of the plugin\n");
        return;
    }
    struct saved *s = malloc(sizeof *s);
    if (!s)
        qds_out_of_memory();
    qemu.register_savevm_live(NAME, 0, VERSION, &handlers, s);
}

void qds_snapshot_expect(void)
{
    begun = false;
}

/* After RESET the first processor is in real mode. Those that it starts may find all they run there translated. */
void qds_snapshot_check(struct qds_vcpu *v)
{
    v->fresh = false;
    if (!(qds_read(v, QDS_CR0) & CR0_PE))
        begun = true;
    else if (!begun)
        fprintf(stderr,
                "qemu-ds: vCPU %u goes on from a snapshot without the plugin's state: what it counts is wrong until "
                "the guest sets up its counters anew\n",
                v->index);
}
