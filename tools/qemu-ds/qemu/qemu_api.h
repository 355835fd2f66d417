/* SPDX-License-Identifier: MIT */
/*
 * The parts of QEMU's plugin interface, version 7 (QEMU 11.1), that are used here, and of the GLib types in it. Names,
 * numbers and signatures are those of QEMU's include/plugins/qemu-plugin.h, which distributions do not package; QEMU
 * itself resolves the functions when it loads the plugin. versions.h has what is otherwise in version 6.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- GLib ---- */

typedef struct {
    uint8_t *data;
    unsigned len;
} GByteArray;

typedef struct {
    char *data;
    unsigned len;
} GArray;

GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned size);
char *g_array_free(GArray *array, int free_data);

/* ---- the plugin ---- */

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

typedef struct {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
} qemu_info_t;

typedef void (*qemu_plugin_udata_cb_t)(void *userdata);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu, void *userdata);

void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void *userdata);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback, void *userdata);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback, void *userdata);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb_t callback, void *userdata);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void *userdata);

/* how a vCPU goes on elsewhere but by an instruction */
enum qemu_plugin_discon_type {
    QEMU_PLUGIN_DISCON_INTERRUPT = 1,
    QEMU_PLUGIN_DISCON_EXCEPTION = 2,
};
typedef void (*qemu_plugin_vcpu_discon_cb_t)(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
                                             uint64_t to_pc, void *userdata);
void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
                                         qemu_plugin_vcpu_discon_cb_t callback, void *userdata);

/* ---- translation ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

typedef struct { /* 8 bytes of each vCPU's element of a scoreboard */
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

enum qemu_plugin_cb_flags {
    QEMU_PLUGIN_CB_NO_REGS,
    QEMU_PLUGIN_CB_R_REGS,
    QEMU_PLUGIN_CB_RW_REGS,
    QEMU_PLUGIN_CB_RW_REGS_PC,
};
/* unsigned */
enum qemu_plugin_cond {
    QEMU_PLUGIN_COND_NE = 3,
    QEMU_PLUGIN_COND_LT = 4,
    QEMU_PLUGIN_COND_LE = 5,
    QEMU_PLUGIN_COND_GE = 7,
};
enum qemu_plugin_op {
    QEMU_PLUGIN_INLINE_ADD_U64,
    QEMU_PLUGIN_INLINE_STORE_U64,
};
enum qemu_plugin_mem_rw {
    QEMU_PLUGIN_MEM_R = 1,
    QEMU_PLUGIN_MEM_W = 2,
    QEMU_PLUGIN_MEM_RW = 3,
};
typedef uint32_t qemu_plugin_meminfo_t;

typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(struct qemu_plugin_tb *tb, void *userdata);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t callback,
                                           void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t callback,
                                          enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t callback,
                                               enum qemu_plugin_cb_flags flags, enum qemu_plugin_cond condition,
                                               qemu_plugin_u64 entry, uint64_t operand, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
                                                       qemu_plugin_u64 entry, uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, enum qemu_plugin_op op,
                                                         qemu_plugin_u64 entry, uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t callback,
                                            enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t callback,
                                                 enum qemu_plugin_cb_flags flags, enum qemu_plugin_cond condition,
                                                 qemu_plugin_u64 entry, uint64_t operand, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t callback,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *userdata);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned vcpu);

/* ---- registers and memory of the current vCPU ---- */

struct qemu_plugin_register;
typedef struct {
    struct qemu_plugin_register *handle;
    const char *name, *feature;
    bool is_readonly;
} qemu_plugin_reg_descriptor;

GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *handle, GByteArray *to);
bool qemu_plugin_write_register(struct qemu_plugin_register *handle, GByteArray *from);
__attribute__((noreturn)) void qemu_plugin_set_pc(uint64_t vaddr); /* leaves the block at once */

bool qemu_plugin_read_memory_vaddr(uint64_t vaddr, GByteArray *to, size_t size);
bool qemu_plugin_translate_vaddr(uint64_t vaddr, uint64_t *address);
int qemu_plugin_read_memory_hwaddr(uint64_t address, GByteArray *to, size_t size); /* 0: done */
int qemu_plugin_write_memory_hwaddr(uint64_t address, GByteArray *from);

/* An older QEMU loads the plugin without these, sees its version and says which of its own it has. */
#pragma weak qemu_plugin_register_vcpu_discon_cb
#pragma weak qemu_plugin_register_vcpu_tb_exec_cond_cb
#pragma weak qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu
#pragma weak qemu_plugin_register_vcpu_insn_exec_cond_cb
#pragma weak qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu
#pragma weak qemu_plugin_scoreboard_new
#pragma weak qemu_plugin_scoreboard_find
#pragma weak qemu_plugin_get_registers
#pragma weak qemu_plugin_read_register
#pragma weak qemu_plugin_write_register
#pragma weak qemu_plugin_set_pc
#pragma weak qemu_plugin_read_memory_vaddr
#pragma weak qemu_plugin_translate_vaddr
#pragma weak qemu_plugin_read_memory_hwaddr
#pragma weak qemu_plugin_write_memory_hwaddr
