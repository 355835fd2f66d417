/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/kernel.h"

#include <bpf/btf.h>
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/grab/base/error.h"
#include "tools/grab/base/machine.h"

#define REFUSE(...) return grab_error(__VA_ARGS__), GRAB_REFUSED

static bool is_intel(void)
{
    unsigned a, b, c, d;
    __cpuid(0, a, b, c, d);
    return b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx;
}

/* CPUID.01H:EDX.DS */
static bool has_debug_store(void)
{
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    return d >> 21 & 1;
}

/* How precise an event can be: 0 without PEBS. */
static bool has_pebs(void)
{
    static const char *const pmus[] = {"cpu", "cpu_core", "cpu_atom"};
    bool precise = false;
    for (unsigned i = 0; i < sizeof pmus / sizeof pmus[0]; i++) {
        char path[80];
        unsigned most = 0;
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/caps/max_precise", pmus[i]);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        precise |= fscanf(file, "%u", &most) == 1 && most;
        fclose(file);
    }
    return precise;
}

/* What is in brackets there is in force. */
static bool is_confidential(void)
{
    char text[128] = "";
    FILE *file = fopen("/sys/kernel/security/lockdown", "re");
    if (!file)
        return false;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return read && strstr(text, "[confidentiality]");
}

/* In another PID namespace perf numbers the processes otherwise than the kernel, whose numbers BPF reads. */
static bool is_contained(void)
{
    struct stat is;
    return !stat("/proc/self/ns/pid", &is) && is.st_ino != 0xEFFFFFFC; /* PROC_PID_INIT_INO */
}

/* The arguments of a tracepoint, by the type of its probes: a pointer of its own comes first. */
static bool switch_tells_state(const struct btf *btf)
{
    const int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
    const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (unsigned)id);
    for (int i = 0; type && i < 2; i++) /* a typedef of a pointer to it */
        type = btf__type_by_id(btf, type->type);
    return type && btf_is_func_proto(type) && btf_vlen(type) >= 5;
}

static int find_symbols(struct grab_kernel *k)
{
    const int error = grab_symbols_read(&k->symbols);
    if (error)
        REFUSE("/proc/kallsyms: %s: the kernel must be built with CONFIG_KALLSYMS_ALL", strerror(error));
    if (!k->symbols.count || !k->symbols.items[k->symbols.count - 1].address)
        REFUSE("the kernel hides its addresses; run 'sysctl kernel.kptr_restrict=1', which shows them to root");
    k->offsets = grab_symbols_find(&k->symbols, "__per_cpu_offset");
    k->pmu = grab_symbols_find(&k->symbols, "x86_pmu");
    if (grab_machine_architectural() && !(k->direct_map = grab_symbols_find(&k->symbols, "page_offset_base")))
        REFUSE("/proc/kallsyms has no page_offset_base: to read architectural PEBS the kernel must be built with "
               "CONFIG_RANDOMIZE_MEMORY");
    for (size_t i = 0; i < k->symbols.count; i++) /* whose address may be 0: of per-CPU variables they are offsets */
        if (strcmp(grab_symbols_name(&k->symbols, &k->symbols.items[i]), "cpu_hw_events") == 0) {
            k->events = k->symbols.items[i].address;
            if (k->offsets && k->pmu)
                return GRAB_GOOD;
        }
    REFUSE("/proc/kallsyms has no cpu_hw_events, x86_pmu or __per_cpu_offset: the kernel must be built with "
           "CONFIG_KALLSYMS_ALL");
}

int grab_kernel_find(struct grab_kernel *k)
{
    struct utsname name;
    unsigned version[2]; /* 6, 12 */
    *k = (struct grab_kernel){0};
    if (!is_intel()) /* first: root cannot change it */
        REFUSE("this is not an Intel processor, and only those have a Debug Store; docs/how-to/qemu-ds.md runs Linux "
               "on an emulated one");
    if (geteuid())
        REFUSE("only root may read the kernel's memory; run it with sudo");
    if (is_contained())
        REFUSE("it runs in a PID namespace, such as a container's, whose numbers differ from the kernel's; run it on "
               "the host, or in a container with --pid=host");
    if (uname(&name) || sscanf(name.release, "%u.%u", &version[0], &version[1]) != 2)
        REFUSE("the kernel's version (uname) is not understood; Linux 5.8 or later is needed");
    snprintf(k->release, sizeof k->release, "%s", name.release);
    if (version[0] < 5 || (version[0] == 5 && version[1] < 8))
        REFUSE("Linux %s has no BPF ring buffer; Linux 5.8 or later is needed", k->release);
    k->bts = version[0] == 5 && version[1] < 10 ? 48 : 47; /* from 5.10 on TopDown has 48 */
    k->counts_missed = version[0] > 6 || (version[0] == 6 && version[1] >= 7);
    if (!grab_machine_architectural() && !has_debug_store())
        REFUSE("CPUID.01H:EDX.DS is 0, so there is no Debug Store; a hypervisor must expose it (docs/how-to/kvm.md)");
    if (access("/sys/bus/event_source/devices/cpu", F_OK) && access("/sys/bus/event_source/devices/cpu_core", F_OK))
        REFUSE("Linux has no PMU here; 'dmesg | grep -i pmu' says why");
    if (!has_pebs())
        REFUSE("Linux does not use PEBS here; 'dmesg | grep -i pebs' may say why; architectural PEBS needs Linux 6.19");
    if (is_confidential())
        REFUSE("lockdown is 'confidentiality', which forbids reading the kernel's memory; boot with "
               "lockdown=integrity, or without Secure Boot");
    struct btf *btf = btf__load_vmlinux_btf();
    if (!btf)
        REFUSE("/sys/kernel/btf/vmlinux does not exist; the kernel must be built with CONFIG_DEBUG_INFO_BTF");
    k->switch_state = switch_tells_state(btf);
    btf__free(btf);
    return find_symbols(k);
}
