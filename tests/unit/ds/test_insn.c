/* SPDX-License-Identifier: MIT */
/* The instruction decoder: by hand, against objdump over real programs, and against arbitrary bytes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/soft/insn.h"
#include "tests/unit/support/cmocka.h"

struct example {
    const char *bytes; /* hex */
    uint8_t kind;
    const char *text;
};

static const struct example examples[] = {
    {"90", DS_INSN_OTHER, "nop"},
    {"f390", DS_INSN_OTHER, "pause"},
    {"4889e5", DS_INSN_OTHER, "mov rbp,rsp"},
    {"48b8efcdab8967452301", DS_INSN_OTHER, "movabs rax,imm64"},
    {"b878563412", DS_INSN_OTHER, "mov eax,imm32"},
    {"66b83412", DS_INSN_OTHER, "mov ax,imm16"},
    {"48a1efcdab8967452301", DS_INSN_OTHER, "movabs rax,[moffs64]"},
    {"67a178563412", DS_INSN_OTHER, "mov eax,[moffs32]"},
    {"6648c7c078563412", DS_INSN_OTHER, "REX.W wins over 66"},
    {"66c70534120000cdab", DS_INSN_OTHER, "mov word [rip+..],imm16"},
    {"c7042578563412efbeadde", DS_INSN_OTHER, "SIB without base: disp32"},
    {"a0efcdab8967452301", DS_INSN_OTHER, "movabs al,[moffs64]"},
    {"a3efcdab8967452301", DS_INSN_OTHER, "movabs [moffs64],eax"},
    {"4866b83412", DS_INSN_OTHER, "mov ax,imm16: REX before 66 does not count"},
    {"2e2e6548c704251800000078563412", DS_INSN_OTHER, "mov qword gs:24,imm32: 15 bytes"},
    {"f6c001", DS_INSN_OTHER, "test al,1"},
    {"f6c801", DS_INSN_OTHER, "test al,1, its other code"},
    {"48f7c878563412", DS_INSN_OTHER, "test rax,imm32, its other code"},
    {"f6d0", DS_INSN_OTHER, "not al"},
    {"48f7c078563412", DS_INSN_OTHER, "test rax,imm32"},
    {"66f7c03412", DS_INSN_OTHER, "test ax,imm16"},
    {"48f7e1", DS_INSN_OTHER, "mul rcx"},
    {"c8100000", DS_INSN_OTHER, "enter 16,0"},
    {"0f20c0", DS_INSN_OTHER, "mov rax,cr0"},
    {"0f2000", DS_INSN_OTHER, "mov rax,cr0, mod ignored"},
    {"0fba6c240405", DS_INSN_OTHER, "bts [rsp+4],5"},
    {"0fa4c804", DS_INSN_OTHER, "shld"},
    {"660f3a0fc108", DS_INSN_OTHER, "palignr"},
    {"660f3800c1", DS_INSN_OTHER, "pshufb"},
    {"f20f38f0c1", DS_INSN_OTHER, "crc32"},
    {"c5f877", DS_INSN_OTHER, "vzeroupper"},
    {"c5f9efc0", DS_INSN_OTHER, "vpxor"},
    {"c5f970c0e4", DS_INSN_OTHER, "vpshufd"},
    {"c5f973f801", DS_INSN_OTHER, "vpslldq"},
    {"c5f8c2c101", DS_INSN_OTHER, "vcmpps"},
    {"c5f9c4c001", DS_INSN_OTHER, "vpinsrw"},
    {"c5f9c5c001", DS_INSN_OTHER, "vpextrw"},
    {"c5f9c6c101", DS_INSN_OTHER, "vshufpd"},
    {"c4e37d39c101", DS_INSN_OTHER, "vextracti128"},
    {"c4e279f7c1", DS_INSN_OTHER, "shlx"},
    {"62f17c48104001", DS_INSN_OTHER, "vmovups zmm0,[rax+64]"},
    {"62f3fd4825c0ff", DS_INSN_OTHER, "vpternlogq zmm"},
    {"62f57c4858c1", DS_INSN_OTHER, "vaddph zmm: EVEX map 5"},
    {"62f67d4898c1", DS_INSN_OTHER, "vfmadd132ph zmm: EVEX map 6"},
    {"8fe878c0c101", DS_INSN_OTHER, "vprotb: XOP map 8"},
    {"8fe978c1c1", DS_INSN_OTHER, "XOP map 9"},
    {"8fea7810c178563412", DS_INSN_OTHER, "bextr: XOP map 10"},
    {"0f78c8", DS_INSN_OTHER, "vmread"},
    {"660f78c00804", DS_INSN_OTHER, "extrq"},
    {"f20f78c10804", DS_INSN_OTHER, "insertq"},
    {"8f00", DS_INSN_OTHER, "pop [rax]"},
    {"0f0fc19e", DS_INSN_OTHER, "3DNow!"},
    {"f30fc7f8", DS_INSN_OTHER, "rdpid"},
    {"f00fb10b", DS_INSN_OTHER, "lock cmpxchg"},
    {"64488b042528000000", DS_INSN_OTHER, "mov rax,fs:0x28"},
    {"65c604251800000000", DS_INSN_OTHER, "mov byte gs:24,0"},
    {"d9eb", DS_INSN_OTHER, "fldpi"},
    {"dd4108", DS_INSN_OTHER, "fld [rcx+8]"},
    {"aa", DS_INSN_OTHER, "stosb, once"},
    {"f3aa", DS_INSN_REP_STRING, "rep stosb"},
    {"f348a5", DS_INSN_REP_STRING, "rep movsq"},
    {"f3a4", DS_INSN_REP_STRING, "rep movsb"},
    {"f2ae", DS_INSN_REP_STRING, "repne scasb"},
    {"f36c", DS_INSN_REP_STRING, "rep insb"},
    {"f30f1efa", DS_INSN_OTHER, "endbr64 is no REP"},
    {"8ed0", DS_INSN_SHADOW, "mov ss,ax"},
    {"8e542410", DS_INSN_SHADOW, "mov ss,[rsp+16]"},
    {"fb", DS_INSN_SHADOW, "sti"},
    {"fa", DS_INSN_OTHER, "cli"},
    {"8ed8", DS_INSN_OTHER, "mov ds,ax"},
    {"9c", DS_INSN_PUSHF, "pushfq"},
    {"669c", DS_INSN_PUSHF, "pushf, 16 bits"},
    {"9d", DS_INSN_POPF, "popfq"},
    {"f4", DS_INSN_OTHER, "hlt"},
    {"74fe", DS_INSN_CONDITIONAL, "je"},
    {"0f8400000000", DS_INSN_CONDITIONAL, "je rel32"},
    {"e2fe", DS_INSN_CONDITIONAL, "loop"},
    {"67e3fe", DS_INSN_CONDITIONAL, "jecxz"},
    {"ebfe", DS_INSN_JUMP, "jmp"},
    {"e900000000", DS_INSN_JUMP, "jmp rel32"},
    {"e800000000", DS_INSN_CALL, "call"},
    {"66e800000000", DS_INSN_CALL, "call: 66 ignored, as Intel does"},
    {"f2e800000000", DS_INSN_CALL, "bnd call"},
    {"c3", DS_INSN_RETURN, "ret"},
    {"f3c3", DS_INSN_RETURN, "rep ret"},
    {"c20800", DS_INSN_RETURN, "ret 8"},
    {"48cb", DS_INSN_FAR, "retfq"},
    {"ffd0", DS_INSN_CALL, "call rax"},
    {"3effe0", DS_INSN_JUMP, "notrack jmp rax"},
    {"ff2500000000", DS_INSN_JUMP, "jmp [rip]"},
    {"48ff6c2408", DS_INSN_FAR, "jmp far [rsp+8]"},
    {"ff1c24", DS_INSN_FAR, "call far [rsp]"},
    {"ca0800", DS_INSN_FAR, "retf 8"},
    {"ff30", DS_INSN_OTHER, "push [rax]"},
    {"ffc0", DS_INSN_OTHER, "inc eax"},
    {"48cf", DS_INSN_IRET, "iretq"},
    {"cc", DS_INSN_INTERRUPT, "int3"},
    {"cd80", DS_INSN_INTERRUPT, "int 80h"},
    {"0f05", DS_INSN_SYSTEM, "syscall"},
    {"480f07", DS_INSN_SYSTEM, "sysretq"},
    {"0f34", DS_INSN_SYSTEM, "sysenter"},
};

static size_t from_hex(const char *hex, uint8_t *to, size_t size)
{
    size_t n = 0;
    unsigned v;
    while (n < size && sscanf(hex + 2 * n, "%2x", &v) == 1)
        to[n++] = (uint8_t)v;
    return n;
}

static void by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        uint8_t bytes[DS_INSN_MAX];
        struct ds_insn insn;
        size_t n = from_hex(examples[i].bytes, bytes, sizeof bytes);
        unsigned length = ds_insn_decode(bytes, n, &insn);
        if (length != n || insn.length != n || insn.kind != examples[i].kind)
            fail_msg("%s (%s): length %u, kind %u", examples[i].text, examples[i].bytes, length, insn.kind);
        for (size_t cut = 0; cut < n; cut++) /* nothing beyond `size` is read: ASan sees the exact allocation */
        {
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, bytes, cut);
            if (ds_insn_decode(exact, cut, &insn) != 0)
                fail_msg("%s cut to %zu bytes: accepted", examples[i].text, cut);
            free(exact);
        }
    }
}

static void targets(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool direct;
        int32_t displacement;
    } rows[] = {
        {"74fe", true, -2},
        {"eb7f", true, 127},
        {"e380", true, -128},
        {"0f8500000080", true, INT32_MIN},
        {"e8ffffff7f", true, INT32_MAX},
        {"2ee978563412", true, 0x12345678},
        {"ffe0", false, 0},
        {"c3", false, 0},
        {"0f05", false, 0},
        {"e420", false, 0},
        {"90", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[DS_INSN_MAX];
        struct ds_insn insn;
        assert_true(ds_insn_decode(bytes, from_hex(rows[i].bytes, bytes, sizeof bytes), &insn) > 0);
        if (insn.direct != rows[i].direct || insn.displacement != rows[i].displacement)
            fail_msg("%s: displacement %d", rows[i].bytes, insn.displacement);
    }
}

/* Every conditional branch under every value of the flags it may test, against the processor's own answer. */
#define TAKEN(cc) __asm__ volatile("push %1\n\tpopfq\n\tset" cc " %0" : "=r"(holds) : "r"(flags) : "cc", "memory")

static void conditions(void **state)
{
    (void)state;
    for (unsigned f = 0; f < 32; f++) {
        uint64_t flags = 2 | (f & 1) | (f & 2) << 1 | (f & 4) << 4 | (f & 8) << 4 | (f & 16) << 7; /* C P Z S O */
        uint8_t holds, all[16];
        TAKEN("o");
        all[0] = holds;
        TAKEN("no");
        all[1] = holds;
        TAKEN("b");
        all[2] = holds;
        TAKEN("ae");
        all[3] = holds;
        TAKEN("e");
        all[4] = holds;
        TAKEN("ne");
        all[5] = holds;
        TAKEN("be");
        all[6] = holds;
        TAKEN("a");
        all[7] = holds;
        TAKEN("s");
        all[8] = holds;
        TAKEN("ns");
        all[9] = holds;
        TAKEN("p");
        all[10] = holds;
        TAKEN("np");
        all[11] = holds;
        TAKEN("l");
        all[12] = holds;
        TAKEN("ge");
        all[13] = holds;
        TAKEN("le");
        all[14] = holds;
        TAKEN("g");
        all[15] = holds;
        for (unsigned c = 0; c < 16; c++) {
            const uint8_t near8[] = {(uint8_t)(0x70 + c), 0}, near32[] = {0x0F, (uint8_t)(0x80 + c), 0, 0, 0, 0};
            struct ds_insn insn;
            assert_int_equal(ds_insn_decode(near8, sizeof near8, &insn), 2);
            if (ds_insn_taken(&insn, flags, 0) != all[c])
                fail_msg("condition %u, flags %x", c, (unsigned)flags);
            assert_int_equal(ds_insn_decode(near32, sizeof near32, &insn), 6);
            assert_int_equal(ds_insn_taken(&insn, flags, 0), all[c]);
        }
    }
}

#define HIGH (UINT64_C(1) << 32) /* ECX is 0 */

static void counted_conditions(void **state)
{
    (void)state;
    enum { ZF = 1 << 6 };
    static const struct {
        const char *bytes;
        uint64_t rflags, rcx;
        bool taken;
    } rows[] = {
        {"e000", 0, 1, true},    {"e000", ZF, 1, false},     {"e000", 0, 0, false},  /* LOOPNE */
        {"e100", ZF, 1, true},   {"e100", 0, 1, false},      {"e100", ZF, 0, false}, /* LOOPE */
        {"e200", 0, 1, true},    {"e200", ZF, 1, true},      {"e200", 0, 0, false},  /* LOOP */
        {"e300", 0, 0, true},    {"e300", 0, 1, false},                              /* JRCXZ */
        {"e200", 0, HIGH, true}, {"67e200", 0, HIGH, false}, {"e300", 0, HIGH, false}, {"67e300", 0, HIGH, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[DS_INSN_MAX];
        struct ds_insn insn;
        assert_true(ds_insn_decode(bytes, from_hex(rows[i].bytes, bytes, sizeof bytes), &insn) > 0);
        if (ds_insn_taken(&insn, rows[i].rflags, rows[i].rcx) != rows[i].taken)
            fail_msg("row %zu: %s", i, rows[i].bytes);
    }
}

static void nonsense(void **state)
{
    (void)state;
    static const char *const none[] = {
        "06", "d6",         "62f07c48",     "0f04",       "66666666666666666666666666666690", "c4e0", "9a",
        "82", "c4e479f7c1", "62f77c4858c1", "8feb78c1c1", "2e2e2e6548c704251800000078563412"};
    struct ds_insn insn;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        uint8_t bytes[24];
        size_t n = from_hex(none[i], bytes, sizeof bytes);
        if (ds_insn_decode(bytes, n, &insn) != 0)
            fail_msg("%s: accepted", none[i]);
        assert_int_equal(insn.length, 0);
    }
    uint8_t bytes[32];
    uint32_t x = 1;
    for (unsigned round = 0; round < 200000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
        unsigned n = ds_insn_decode(bytes, sizeof bytes, &insn);
        assert_true(n <= DS_INSN_MAX);
        if (n)
            assert_int_equal(ds_insn_decode(bytes, n - 1, &insn), 0); /* all n bytes were needed */
    }
}

/* ---- against objdump --------------------------------------------------------------------------------------------- */

static bool one_of(const char *word, const char *list)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return n > 0;
    return false;
}

/* The kind that objdump's text stands for. */
static uint8_t kind_of(const char *text)
{
    char word[24];
    bool rep = false;
    int n;
    while (sscanf(text, "%23s %n", word, &n) == 1 &&
           (strncmp(word, "rex", 3) == 0 ||
            one_of(word, "bnd notrack cs ds es ss fs gs data16 addr32 lock rep repz repnz"))) {
        rep |= strncmp(word, "rep", 3) == 0;
        text += n;
    }
    char string[5] = "";
    memcpy(string, word, strlen(word) < 4 ? strlen(word) : 4);
    if (rep && (one_of(string, "movs stos lods scas cmps outs") || strncmp(word, "ins", 3) == 0))
        return DS_INSN_REP_STRING;
    char m[16] = "";
    sscanf(text, "%15s", m);
    if (strncmp(m, "lcall", 5) == 0 || strncmp(m, "ljmp", 4) == 0 || strncmp(m, "lret", 4) == 0)
        return DS_INSN_FAR;
    if (strncmp(m, "jmp", 3) == 0)
        return DS_INSN_JUMP;
    if (m[0] == 'j' || strncmp(m, "loop", 4) == 0)
        return DS_INSN_CONDITIONAL;
    if (strncmp(m, "call", 4) == 0)
        return DS_INSN_CALL;
    if (strcmp(m, "ret") == 0 || strncmp(m, "retq", 4) == 0)
        return DS_INSN_RETURN;
    if (strncmp(m, "iret", 4) == 0)
        return DS_INSN_IRET;
    if (strcmp(m, "int") == 0 || strcmp(m, "int3") == 0 || strcmp(m, "int1") == 0)
        return DS_INSN_INTERRUPT;
    if (strncmp(m, "sysc", 4) == 0 || strncmp(m, "sysr", 4) == 0 || strncmp(m, "syse", 4) == 0)
        return DS_INSN_SYSTEM;
    if (strncmp(m, "pushf", 5) == 0)
        return DS_INSN_PUSHF;
    if (strncmp(m, "popf", 4) == 0)
        return DS_INSN_POPF;
    if (strcmp(m, "sti") == 0)
        return DS_INSN_SHADOW;
    const char *ss = strstr(text, "%ss");
    if (m[0] == 'm' && m[1] == 'o' && ss && ss[3] == '\0')
        return DS_INSN_SHADOW;
    return DS_INSN_OTHER;
}

/* One line "  401000:\t48 89 e5\tmov ...". Returns false where the line holds none, or one objdump itself doubts. */
static bool parse_line(char *line, uint8_t *bytes, size_t *n, char **text)
{
    char *hex = strchr(line, '\t');
    if (!hex || line[0] != ' ')
        return false;
    *text = strchr(++hex, '\t');
    if (!*text)
        return false;
    *(*text)++ = '\0';
    (*text)[strcspn(*text, "\n#<")] = '\0';
    size_t last = strlen(*text);
    while (last && (*text)[last - 1] == ' ')
        (*text)[--last] = '\0';
    for (*n = 0; *n < 24; (*n)++) {
        char *end;
        unsigned long v = strtoul(hex, &end, 16);
        if (end == hex)
            break;
        bytes[*n] = (uint8_t)v;
        hex = end;
    }
    if (strstr(*text, "(bad)") || strstr(*text, ".byte"))
        return false;
    /* a prefix that objdump shows alone, before bytes it cannot make sense of */
    static const char *const lone[] = {"lock", "rep", "repz", "repnz", "data16", "addr32", "cs",
                                       "ds",   "es",  "ss",   "fs",    "gs",     "bnd"};
    for (size_t i = 0; i < sizeof lone / sizeof lone[0]; i++)
        if (strcmp(*text, lone[i]) == 0)
            return false;
    return strncmp(*text, "rex", 3) != 0 || strchr(*text, ' ');
}

/* Where objdump says a direct branch goes is where it goes. */
static bool same_target(const struct ds_insn *insn, uint64_t ip, const char *text)
{
    const char *operand = strrchr(text, ' ');
    return !insn->direct || !operand ||
           strtoul(operand, NULL, 16) == ip + insn->length + (uint64_t)(int64_t)insn->displacement;
}

static unsigned long compare_file(const char *path, unsigned long limit, unsigned long *wrong)
{
    char command[256], line[512];
    snprintf(command, sizeof command, "objdump -d -w '%s' 2>/dev/null", path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned long compared = 0;
    while (compared < limit && fgets(line, sizeof line, f)) {
        uint8_t bytes[24];
        size_t n;
        char *text;
        struct ds_insn insn;
        if (!parse_line(line, bytes, &n, &text))
            continue;
        unsigned length = ds_insn_decode(bytes, n, &insn);
        compared++;
        if (bytes[0] == 0x9B && n > 1 && length == 1)
            continue; /* objdump joins FWAIT with the instruction after it; the processor runs two */
        bool target = bytes[0] == 0x66 || same_target(&insn, strtoul(line, NULL, 16), text);
        if ((length != n || insn.kind != kind_of(text) || !target) && ++*wrong <= 20) {
            print_error("%s: %s: ", path, text);
            for (size_t i = 0; i < n; i++)
                print_error("%02x", bytes[i]);
            print_error(": length %u not %zu, kind %u not %u\n", length, n, insn.kind, kind_of(text));
        }
    }
    pclose(f);
    return compared;
}

static void against_objdump(void **state)
{
    (void)state;
    if (system("command -v objdump >/dev/null") != 0) {
        print_message("SKIP: objdump is not installed\n");
        skip();
    }
    /* DS_INSN_FILES="..." DS_INSN_LIMIT=10000000 look at more than this sample */
    const char *files = getenv("DS_INSN_FILES"), *max = getenv("DS_INSN_LIMIT");
    unsigned long limit = max ? strtoul(max, NULL, 0) : 150000, total = 0, wrong = 0;
    char list[8192];
    snprintf(list, sizeof list, "%s", files ? files : "/bin/bash /lib/x86_64-linux-gnu/libc.so.6 /lib64/libc.so.6");
    for (char *save, *path = strtok_r(list, " ", &save); path; path = strtok_r(NULL, " ", &save))
        if (access(path, R_OK) == 0)
            total += compare_file(path, limit, &wrong);
    print_message("%lu instructions compared with objdump\n", total);
    assert_int_equal(wrong, 0);
    assert_true(total > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),    cmocka_unit_test(targets),
        cmocka_unit_test(conditions), cmocka_unit_test(counted_conditions),
        cmocka_unit_test(nonsense),   cmocka_unit_test(against_objdump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
