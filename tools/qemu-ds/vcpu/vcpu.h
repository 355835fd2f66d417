/* SPDX-License-Identifier: MIT */
/* One vCPU as the plugin sees it: its model of the processor, its registers and memory through QEMU, and its unfinished
 * operations. Everything here runs on the vCPU's own thread, in QEMU's callbacks. */
#pragma once

#include <stdatomic.h>

#include "ds/model/model.h"
#include "ds/soft/insn.h"
#include "tools/qemu-ds/counting/counting.h"
#include "tools/qemu-ds/modelled/access_decode.h"
#include "tools/qemu-ds/qemu/qemu_api.h"
#include "tools/qemu-ds/zeros/silent.h"

#define QDS_VCPUS 255u /* APIC IDs that an interrupt's message can name */

#define QDS_RFLAGS_TF (1u << 8)
#define QDS_RFLAGS_RF (1u << 16)
#define QDS_RFLAGS_VM (1u << 17)

/* clang-format off */
enum qds_register {
    QDS_RAX, QDS_RCX, QDS_RDX, QDS_RBX, QDS_RSP, QDS_RBP, QDS_RSI, QDS_RDI, /* as instructions number them */
    QDS_R8, QDS_R15 = QDS_R8 + 7,
    QDS_RIP, QDS_EFLAGS, /* without its arithmetic flags, which QEMU computes when it needs them */
    QDS_ES, QDS_CS, QDS_SS, QDS_DS, QDS_FS, QDS_GS, /* as QEMU's own state has them */
    QDS_FS_BASE, QDS_GS_BASE, QDS_CR0, QDS_CR4,
    QDS_REGISTERS
};
/* clang-format on */

struct qds_block { /* a translated block, as long as QEMU keeps it, or longer */
    struct qds_block *next;
    uint64_t vaddr;              /* as translated: at run time it may be an alias in another page */
    uint64_t physical;           /* QDS_NOWHERE: unknown */
    uint64_t wanted[QDS_GROUPS]; /* events it adds to the groups, as bits of enum ds_model_event */
    uint32_t *events;            /* how often it causes each event, at most */
    uint16_t length;             /* instructions */
    uint8_t ring;                /* 0: CPL 0, 1: others */
    bool kept;                   /* a vCPU may go back to it, though QEMU no longer does */
    bool branches;               /* its last instruction is a branch; then of that: */
    uint8_t branch_type;         /* enum ds_model_branch_type */
    bool unclear;                /* where it leads does not say whether it is taken */
    bool packs[QDS_GROUPS];      /* it counts its branches in the lead */
    struct qds_block_insn {
        struct qds_block *block;
        uint16_t offset;     /* from vaddr */
        uint8_t special;     /* enum qds_special */
        bool remaps;         /* qds_memory_changes */
        bool accesses_later; /* its loads and stores are counted when it does them: not in `causes` */
        uint64_t causes;     /* events that are counted with the block, as bits of enum ds_model_event */
        struct qds_access_decoded access;
        struct ds_insn insn;
        struct qds_lazy {
            atomic_bool known; /* set last: vCPUs share the block */
            uint8_t at;        /* which 32 bits from v->env_rip on; 0: none */
            uint32_t value;
        } lazy; /* what restoring QEMU's state at the instruction sets, for its flags */
    } insns[];
};

/* What translated code itself touches, one for each vCPU. What most blocks store is in one cache line. */
struct qds_board {
    uint64_t block;         /* struct qds_block * of the last block begun, while blocks count */
    struct qds_numbers now; /* the leads first */
    uint64_t patch;         /* not 0: see struct qds_vcpu */
    uint64_t accessed[2];   /* struct qds_block_insn * of the last whose load (0), store (1) has been counted */
    uint64_t pages_known;   /* 0: struct qds_vcpu's pages are no longer what they were */
    uint64_t next;          /* in a block with RF: index of the next instruction to look at */
};
#define QDS_LINE       64u   /* bytes */
#define QDS_BOARD_SIZE 2048u /* of a scoreboard's elements: a power of 2, translated code finds a vCPU's by a shift */
_Static_assert(sizeof(struct qds_board) <= QDS_BOARD_SIZE - QDS_LINE, "no cache line is two vCPUs'");

#define QDS_FRAME 40u /* bytes that 64-bit mode pushes: RIP, CS, RFLAGS, RSP, SS */

#define QDS_PAGES   64u /* more than those of a usual buffer */
#define QDS_NOWHERE UINT64_MAX

/* HISTORY: events, and where branches lead is noted in struct qds_vcpu's history. */
enum qds_through { QDS_THROUGH_EVENTS, QDS_THROUGH_HISTORY, QDS_THROUGH_BRANCHES, QDS_THROUGH_ALL };

enum qds_patch { QDS_PATCH_NONE, QDS_PATCH_CPUID, QDS_PATCH_RDMSR };

struct qds_vcpu {
    unsigned index;
    struct ds_model model;
    struct qds_counting counting;
    struct qds_board *board;
    struct qemu_plugin_register *handle[QDS_REGISTERS], *xmm[16];
    GByteArray *bytes; /* what passes between QEMU and us */
    uint64_t *env;     /* QEMU's own state of the vCPU, see flags.h; NULL: unknown */
    unsigned env_rip;  /* where RIP is in there, and behind it EFLAGS */
    unsigned env_cs;   /* where CS's limit and attributes are; 0: unknown */
    bool env_looked_for;
    struct qds_page { /* where a page of DS memory lies, see memory.h */
        bool known;
        uint64_t linear, physical;
    } pages[QDS_PAGES];

    struct { /* the instruction that runs now and goes through the model when it has */
        bool on;
        struct ds_insn insn;
        uint64_t ip;
        unsigned cpl;
        bool compatibility;      /* CS.L was 0 */
        uint64_t events;         /* that it is asked for; the others have been counted */
        struct qds_block *block; /* whose last it is, where the block is one without RF */
        uint64_t memory;         /* events it has caused by reading and writing data, and where first */
        uint64_t load_address, store_address;
        struct ds_model_access load, store;
        struct qds_amounts amounts;
    } step;
    struct {                           /* branches that are for branch history alone, see qds_settle_note() */
        const struct qds_block *block; /* the last that ran whose branch may lead to what runs next; NULL: none */
        uint64_t rip;                  /* where it began */
        uint32_t noted;                /* branches that the model has not got yet; the newest of them are here: */
        struct qds_noted {
            uint64_t from, to;
            uint8_t type, from_cpl, cpl;
        } of[DS_MODEL_LBR_DEPTH];
    } history;
    struct { /* where the board has no block: instructions of one that have been counted, and run now; NULL: none */
        const struct qds_block_insn *from, *to; /* to: behind the last */
    } counted;
    struct { /* an interrupt or exception has been taken, and is a branch */
        bool on;
        uint64_t from;
        unsigned cpl;
    } entered;
    struct {             /* an exception is on its way, or has just been delivered; the state before that */
        unsigned raised; /* 0: none; more than one while it was being delivered */
        bool tf;
        unsigned cpl;
        uint64_t rsp;
    } exception;
    struct {     /* a single step's #DB has just been delivered, see again_stepped() in run/exceptions.c */
        bool tf; /* an exception is on its way, raised with RFLAGS.TF */
        bool on; /* it has been delivered, and nothing has since */
        uint64_t handler, rsp;
        uint8_t frame[QDS_FRAME];
    } stepped;
    uint8_t through[2];   /* enum qds_through, by ring: what goes through the model */
    uint8_t noted[2];     /* of branches to a ring: those to note, as bits of enum ds_model_branch_type */
    uint32_t branches[2]; /* of a ring: those that do, as bits of enum ds_insn_kind */
    uint64_t alias;       /* of the block with RF: how far it runs from where it was translated */
    uint64_t retired_rip; /* where execution goes on after the instruction that retires */
    struct {              /* it is in the middle of a block that goes on */
        void *at;         /* a callback's return address; NULL: no */
        struct qds_lazy *lazy;
    } passing;
    bool delivered; /* and an interrupt or exception has been delivered since */
    bool leave;     /* a PMI is on its way: the block that begins now must not run first */

    struct { /* what CPUID or RDMSR, which has run, should have returned */
        enum qds_patch kind;
        uint32_t leaf, subleaf;
        uint64_t value, mask; /* of RDMSR; mask: bits that are not QEMU's */
    } patch;
    uint32_t max_leaf;    /* QEMU's last of CPUID; 0: nobody has asked */
    uint64_t accessed[2]; /* events of the load (0) and the store (1) of board->accessed */
    struct {              /* RDMSR or WRMSR has been made to fault */
        bool on;
        uint64_t rcx;
    } fault;

    struct { /* while in x2APIC mode, see pmi.h */
        uint32_t id, lvtpc;
        bool enabled;
    } x2apic;
    const void *stale;    /* the INT3 that was not in memory, see qds_run_int3(): only compared, it may be gone */
    bool fresh;           /* has never run, or a snapshot is about to be loaded: its next block is translated */
    bool wants;           /* something counts */
    uint64_t pmis, steps; /* totals */
    struct qds_silent silent;
    uint64_t late; /* WRMSRs that turned something on in blocks that may not count it, see qds_instruments_change */
    uint64_t rdpmcs_refused; /* left to QEMU, whose #UD is not the guest's fault */
};

extern struct qds_vcpu *qds_vcpus[QDS_VCPUS]; /* NULL: not initialised yet */
static inline struct qds_vcpu *qds_vcpu(unsigned index)
{
    return qds_vcpus[index];
}
/* QEMU drops its blocks, and boards may have moved: sets `kept` of blocks that vCPUs have been in last. All vCPUs stand
 * still. */
void qds_vcpus_keep_blocks(void);
/* Blocks no longer tell where vCPUs have been. All stand still. */
void qds_vcpus_forget_blocks(void);
/* Makes the boards. */
void qds_boards_new(void);
/* Where translated code finds a member of a board. */
qemu_plugin_u64 qds_boards_entry(size_t offset);
/* Finds the vCPU's board and registers. False: QEMU lacks a register we need. */
bool qds_vcpu_attach(struct qds_vcpu *v);

uint64_t qds_read_slowly(struct qds_vcpu *v, enum qds_register reg); /* through QEMU's interface */
static inline uint64_t qds_read(struct qds_vcpu *v, enum qds_register reg)
{
    if (!v->env || reg > QDS_EFLAGS)
        return qds_read_slowly(v, reg);
    return v->env[reg < QDS_RIP ? reg : v->env_rip + (reg - QDS_RIP)];
}
void qds_write(struct qds_vcpu *v, enum qds_register reg, uint64_t value);
unsigned qds_cpl(struct qds_vcpu *v);
/* The same, if v->delivered of before. */
unsigned qds_cpl_before_delivery(struct qds_vcpu *v);
/* Physical memory, 4 bytes, of devices as well. */
uint32_t qds_read_device(struct qds_vcpu *v, uint64_t address);
void qds_write_device(struct qds_vcpu *v, uint64_t address, uint32_t value);
