/* SPDX-License-Identifier: MIT */
/* The playground's instructions: how they are written, and what each does. */
#include "tools/playground/program.h"

#include "ds/soft/retired.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define RFLAGS_ALWAYS UINT64_C(0x202) /* bit 1, and IF */
#define RFLAGS_ZF     (UINT64_C(1) << 6)

enum { LOADS = 1, STORES = 2 };

const struct play_op_row play_ops[PLAY_OPS] = {
    [PLAY_NOP] = {"nop", "NOP", "does nothing", false, DS_INSN_OTHER, 0},
    [PLAY_ADD] = {"add", "ADD RAX, 1", "adds 1 to RAX", false, DS_INSN_OTHER, 0},
    [PLAY_SET] = {"set", "MOV RBX,", "loads a number into RBX", true, DS_INSN_OTHER, 0},
    [PLAY_DEC] = {"dec", "DEC RBX", "subtracts 1 from RBX; sets ZF at 0", false, DS_INSN_OTHER, 0},
    [PLAY_LOAD] = {"load", "LODSQ", "loads RAX from [RSI], adds 8 to RSI", false, DS_INSN_OTHER, LOADS},
    [PLAY_STORE] = {"store", "STOSQ", "stores RAX to [RDI], adds 8 to RDI", false, DS_INSN_OTHER, STORES},
    [PLAY_JNZ] = {"jnz", "JNZ", "jumps if ZF is 0", true, DS_INSN_CONDITIONAL, 0},
    [PLAY_JMP] = {"jmp", "JMP", "jumps", true, DS_INSN_JUMP, 0},
    [PLAY_CALL] = {"call", "CALL", "pushes the return address, then jumps", true, DS_INSN_CALL, STORES},
    [PLAY_RET] = {"ret", "RET", "pops the return address; without a CALL: the first instruction", false, DS_INSN_RETURN,
                  LOADS},
    [PLAY_SYSCALL] = {"syscall", "SYSCALL", "calls the kernel at CPL 0", false, DS_INSN_SYSTEM, 0},
    [PLAY_SYSRET] = {"sysret", "SYSRET", "returns to the program", false, DS_INSN_SYSTEM, 0},
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

static int wrong(char *error, size_t size, const char *word, size_t n, const char *what)
{
    snprintf(error, size, "program: '%.*s': %s", n < 24 ? (int)n : 24, word, what);
    return -EINVAL;
}

/* One instruction; -EINVAL: *what is wrong with it. */
static int read_insn(struct play_insn *insn, const char *word, size_t n, const char **what)
{
    size_t name = 0;
    uint32_t number = 0;
    while (name < n && word[name] != ':')
        name++;
    for (insn->op = 0; insn->op < PLAY_SYSRET; insn->op++)
        if (strlen(play_ops[insn->op].name) == name && strncmp(play_ops[insn->op].name, word, name) == 0)
            break;
    *what = "no such instruction; there are nop, add, set:N, dec, load, store, jnz:N, jmp:N, call:N, ret, syscall";
    if (insn->op == PLAY_SYSRET)
        return -EINVAL;
    if (!play_ops[insn->op].operand) {
        *what = "this instruction has no operand";
        insn->operand = 0;
        return name == n ? 0 : -EINVAL;
    }
    *what = "a number from 0 to 9999 follows, as in set:5 or jnz:1";
    if (name + 1 >= n || n - name > 5)
        return -EINVAL;
    for (size_t i = name + 1; i < n; i++) {
        if (word[i] < '0' || word[i] > '9')
            return -EINVAL;
        number = 10 * number + (uint32_t)(word[i] - '0');
    }
    insn->operand = (uint16_t)number;
    return 0;
}

static void add(struct play_program *program, enum play_op op)
{
    program->insn[program->count++] = (struct play_insn){(uint8_t)op, 0};
}

int play_program_read(struct play_program *program, const char *text, size_t size, char *error, size_t error_size)
{
    const char *what;
    bool kernel = false;
    *program = (struct play_program){0};
    for (size_t at = 0; at <= size;) {
        size_t n = 0;
        while (at + n < size && text[at + n] != ',')
            n++;
        if (program->written == PLAY_PROGRAM_MAX)
            return wrong(error, error_size, text + at, n, "a program has at most 24 instructions");
        if (read_insn(&program->insn[program->written++], text + at, n, &what))
            return wrong(error, error_size, text + at, n, what);
        kernel |= program->insn[program->written - 1].op == PLAY_SYSCALL;
        at += n + 1;
    }
    for (uint32_t i = 0; i < program->written; i++) {
        const struct play_insn *insn = &program->insn[i];
        const char *name = play_ops[insn->op].name;
        if (play_ops[insn->op].operand && insn->op != PLAY_SET && insn->operand > program->written)
            return wrong(error, error_size, name, strlen(name), "its target is not in the program (0: the first)");
    }
    program->count = program->written;
    add(program, PLAY_JMP);
    if (kernel) {
        add(program, PLAY_NOP);
        add(program, PLAY_SYSRET);
    }
    return 0;
}

void play_program_write(const struct play_program *program, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < program->written && used < size; i++) {
        const struct play_op_row *op = &play_ops[program->insn[i].op];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", op->name);
        if (op->operand && used < size)
            used += (size_t)snprintf(text + used, size - used, ":%u", program->insn[i].operand);
    }
}

uint64_t play_program_address(const struct play_program *program, uint32_t at)
{
    return at <= program->written ? PLAY_CODE + PLAY_INSN_BYTES * (uint64_t)at
                                  : PLAY_KERNEL_CODE + PLAY_INSN_BYTES * (uint64_t)(at - program->written - 1);
}

void play_program_show(const struct play_program *program, uint32_t at, char *text, size_t size)
{
    const struct play_insn *insn = &program->insn[at];
    const char *mnemonic = play_ops[insn->op].mnemonic;
    if (insn->op == PLAY_SET)
        snprintf(text, size, "%s %u", mnemonic, insn->operand);
    else if (play_ops[insn->op].operand)
        snprintf(text, size, "%s %llXH", mnemonic, (unsigned long long)play_program_address(program, insn->operand));
    else
        snprintf(text, size, "%s", mnemonic);
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

void play_cpu_reset(struct play_cpu *cpu, const struct play_program *program, uint32_t cpl)
{
    memset(cpu, 0, sizeof *cpu);
    cpu->cpl = cpl;
    cpu->registers = (struct ds_model_registers){
        .rflags = RFLAGS_ALWAYS, .rip = PLAY_CODE, .rsi = PLAY_DATA, .rdi = PLAY_DATA, .rsp = PLAY_STACK};
    for (unsigned i = 0; i < PLAY_DATA_WORDS; i++)
        cpu->data[i] = UINT64_C(0x1000) + i;
    for (unsigned i = 0; i < PLAY_STACK_WORDS; i++)
        cpu->stack[i] = play_program_address(program, 0);
}

static uint64_t *data_at(struct play_cpu *cpu, uint64_t address)
{
    return &cpu->data[address / 8 % PLAY_DATA_WORDS];
}

static uint64_t *stack_at(struct play_cpu *cpu, uint64_t address)
{
    return &cpu->stack[address / 8 % PLAY_STACK_WORDS];
}

static void set_zf(struct ds_model_registers *r, uint64_t result)
{
    r->rflags = RFLAGS_ALWAYS | (result ? 0 : RFLAGS_ZF);
}

/* Everything but the data address and RIP's way on, which is returned: the place of the next instruction. */
static uint32_t effect(struct play_cpu *cpu, const struct play_program *program, const struct play_insn *insn,
                       uint64_t successor, struct ds_model_retired *access)
{
    struct ds_model_registers *r = &cpu->registers;
    switch (insn->op) {
    case PLAY_ADD:
        set_zf(r, ++r->rax);
        break;
    case PLAY_SET:
        r->rbx = insn->operand;
        break;
    case PLAY_DEC:
        set_zf(r, --r->rbx);
        break;
    case PLAY_LOAD:
        access->load_address = r->rsi;
        r->rax = *data_at(cpu, r->rsi);
        r->rsi += 8;
        break;
    case PLAY_STORE:
        access->store_address = r->rdi;
        *data_at(cpu, r->rdi) = r->rax;
        r->rdi += 8;
        break;
    case PLAY_JNZ:
        return r->rflags & RFLAGS_ZF ? cpu->at + 1 : insn->operand;
    case PLAY_JMP:
        return insn->operand;
    case PLAY_CALL:
        r->rsp -= 8;
        access->store_address = r->rsp;
        *stack_at(cpu, r->rsp) = successor;
        return insn->operand;
    case PLAY_RET:
        access->load_address = r->rsp;
        r->rsp += 8;
        return (uint32_t)((*stack_at(cpu, access->load_address) - PLAY_CODE) / PLAY_INSN_BYTES);
    case PLAY_SYSCALL:
        r->rcx = successor;
        r->r8_r15[3] = r->rflags;
        cpu->cpl = 0;
        return program->written + 1;
    case PLAY_SYSRET:
        cpu->cpl = 3;
        r->rflags = r->r8_r15[3];
        return (uint32_t)((r->rcx - PLAY_CODE) / PLAY_INSN_BYTES);
    default:
        break;
    }
    return cpu->at + 1;
}

void play_cpu_execute(struct play_cpu *cpu, const struct play_program *program, struct play_executed *executed)
{
    struct ds_model_registers *r = &cpu->registers;
    const struct play_insn *insn = &program->insn[cpu->at];
    const struct play_op_row *op = &play_ops[insn->op];
    const uint64_t ip = play_program_address(program, cpu->at), successor = ip + PLAY_INSN_BYTES;
    const uint64_t flags_before = r->rflags;
    const uint32_t cpl = cpu->cpl;
    struct ds_model_retired access = {0};
    executed->at = cpu->at;
    cpu->at = effect(cpu, program, insn, successor, &access);
    r->eventing_ip = ip;
    r->rip = play_program_address(program, cpu->at);

    /* What it is counted as, and what kind of branch it was, is for Cairn's own code to say. */
    const struct ds_insn as = {
        .kind = op->kind,
        .length = PLAY_INSN_BYTES,
        .direct = insn->op == PLAY_JNZ || insn->op == PLAY_JMP || insn->op == PLAY_CALL,
        .condition = 5, /* NZ */
        .displacement = (int32_t)(play_program_address(program, insn->operand) - successor),
    };
    ds_retired(&executed->retired, &executed->branch, &as, ip, r->rip, flags_before, 0);
    executed->retired.cpl = cpl;
    executed->retired.load_address = access.load_address;
    executed->retired.store_address = access.store_address;
    executed->retired.events |= (op->access & LOADS ? DS_BIT(DS_MODEL_LOAD) | DS_BIT(DS_MODEL_LOAD_OR_PREFETCH) : 0) |
                                (op->access & STORES ? DS_BIT(DS_MODEL_STORE) : 0);
    executed->branch.cpl = cpu->cpl;
}
