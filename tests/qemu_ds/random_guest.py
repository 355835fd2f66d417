# SPDX-License-Identifier: MIT
"""Random code for guest/random.asm: pieces of a few blocks, strewn over pages so that the page offset of one is often
that of an instruction of another; and what a processor that runs a piece does, instruction by instruction."""

import random
import subprocess
from dataclasses import dataclass

CODE, CODE_SIZE, PAGE = 0x500000, 0x30000, 0x1000
TABLES = 2 * PAGE  # at CODE: what guest/random.asm reads
ABSENT, NX_CODE = 0xA00000, 0xC00000


@dataclass
class Insn:
    """One instruction; `loads`, `stores`: whether it is one that does. `how` it goes on: "", to the next; "jump",
    "far", "call", to `to`; "return"; "if", to `to` if taken; "loop", there until it has been run `times` times;
    "fault" and "interrupt", to the next after the handler `to`; "fetch", to the page at `times`, at the page offset of
    `to`, where fetching faults, and then to the next."""
    text: str  # {0}: the name of `to`
    loads: int = 0
    stores: int = 0
    how: str = ""
    to: object = None  # an instruction, or a label of guest/random.asm
    times: int = 0
    taken: bool = True
    name: str = ""
    length: int = 0
    at: int = 0


def plain(*lines):
    """Each: (text, loads, stores), or a text that does neither."""
    return [Insn(line) if isinstance(line, str) else Insn(*line) for line in lines]


# What runs anywhere. R8 points to data that begin as zeros, R9 to others, R12 is CR4, R13 where nothing is; RSP stays.
ORDINARY = [
    ("nop",), ("add eax, ecx",), ("imul eax, edx",), ("lea eax, [r8 + rcx]",), ("nop dword [rax + rax + 8]",),
    ("mov eax, 0x12345678",), ("cmp eax, ecx",), ("shl eax, 3",), ("mfence",), ("pxor xmm0, xmm1",), ("setc al",),
    (("mov eax, [r8]", 1, 0),), (("mov [r8 + 8], eax", 0, 1),), (("add [r8 + 16], eax", 1, 1),),
    (("cmp byte [r8], 1", 1, 0),), (("push rax", 0, 1), ("pop rcx", 1, 0)), (("movups xmm1, [r8 + 3]", 1, 0),),
    (("movups [r8 + 0x41], xmm1", 0, 1),), (("mov eax, [r8 + 0xFFE]", 1, 0),), (("xchg [r8 + 4], eax", 1, 1),),
    (("push qword [r8]", 1, 1), ("pop rax", 1, 0)), ("cld",), ("xor ebx, ebx", ("cmpxchg [r8 + 5], ebx", 1, 1)),
    ("pcmpeqd xmm1, xmm1", "mov rdi, r8", ("maskmovdqu xmm1, xmm1", 0, 1)), (("shl dword [r8], 1", 1, 1),),
    (("movsxd rax, dword [r8]", 1, 0),), (("bts dword [r8], 3", 1, 1),),
]
# What the plugin counts with the block it is in, without looking: qds_access_decoded.certain.
for text, loads, stores in [
        *((f"{name} [r8 + 1], cl", 1, 1) for name in ("or", "adc", "sbb", "and", "sub", "xor")),
        *((f"{name} [r8 + 2], ecx", 1, 1) for name in ("or", "adc", "sbb", "and", "sub", "xor")),
        *((f"{name} rcx, [r8 + 3]", 1, 0) for name in ("add", "or", "adc", "sbb", "and", "sub", "xor", "cmp")),
        ("cmp [r8], rcx", 1, 0), ("cmp dword [r8], 1000", 1, 0), ("cmp word [r8], 1000", 1, 0),
        ("add qword [r8], 1000", 1, 1), ("xor byte [r8], 7", 1, 1), ("test [r8], cl", 1, 0), ("test [r8], ecx", 1, 0),
        ("test byte [r8], 9", 1, 0), ("test dword [r8], 9", 1, 0), ("not byte [r8]", 1, 1), ("neg qword [r8]", 1, 1),
        ("mul byte [r8]", 1, 0), ("imul dword [r8]", 1, 0), ("imul ecx, [r8], 3", 1, 0),
        ("imul ecx, [r8], 1000", 1, 0), ("imul rcx, [r8]", 1, 0), ("inc byte [r8]", 1, 1), ("dec qword [r8]", 1, 1),
        ("mov cl, [r8]", 1, 0), ("mov [r8], cl", 0, 1), ("mov byte [r8], 1", 0, 1), ("mov qword [r8], 1", 0, 1),
        ("mov al, [abs qword code]", 1, 0), ("mov rax, [abs qword code]", 1, 0), ("movzx ecx, byte [r8]", 1, 0),
        ("movzx ecx, word [r8]", 1, 0), ("movsx rcx, byte [r8]", 1, 0), ("movsx ecx, word [r8]", 1, 0),
        *((f"cmov{c} ecx, [r8]", 1, 0) for c in ("o", "no", "c", "nc", "z", "nz", "le", "g")),
        *((f"set{c} [r8]", 0, 1) for c in ("o", "no", "c", "nc", "z", "nz", "le", "g")), ("movnti [r8], ecx", 0, 1),
        ("movss xmm1, [r8]", 1, 0), ("movsd [r8], xmm1", 0, 1), ("movaps xmm1, [r8]", 1, 0),
        ("movaps [r8], xmm1", 0, 1), ("movd xmm1, [r8]", 1, 0), ("movd [r8], xmm1", 0, 1), ("movq xmm1, [r8]", 1, 0),
        ("movq [r8], xmm1", 0, 1), ("movdqa xmm1, [r8]", 1, 0), ("movdqu [r8 + 0xFF9], xmm1", 0, 1),
        ("movntdq [r8], xmm1", 0, 1), ("xorps xmm1, [r8]", 1, 0), ("addsd xmm1, [r8]", 1, 0)]:
    ORDINARY.append(((text, loads, stores),))
ORDINARY += [((f"push {what}", 0, 1), (back, 1, 0)) for what, back in (
    ("byte 1", "pop rax"), ("dword 1000", "pop rcx"))]
ORDINARY += [(("push rcx", 0, 1), ("pop qword [r8]", 1, 1)), (("push rcx", 0, 1), "mov rbp, rsp", ("leave", 1, 0)),
             (("push rcx", 0, 1), ("db 0x8F, 0xC1", 1, 0))]
# Those after which QEMU's blocks end, or that it runs in ways of their own.
SPECIAL = [
    ("cli", "sti"), ("sti",), ("mov cr4, r12",), ("in al, 0x80",), ("out 0x80, al",), ("cpuid",), ("pause",),
    ("mov rax, cr3", "mov cr3, rax"), ("invlpg [r8]",), ("rdtsc",),
    ("mov ecx, 0xC0000102", "rdmsr"), ("mov ecx, 0x186", "rdmsr"),
    ("mov ecx, 0xC0000102", "xor eax, eax", "xor edx, edx", "wrmsr"), ("xor ecx, ecx", "rdpmc"),
    ("mov ecx, 1 << 30", "rdpmc"), (("pushfq", 0, 1), ("popfq", 1, 0)), (("fxsave [r9 + 0x400]", 0, 1),),
    ("mov eax, 0x18", ("mov ss, eax", 1, 0)),
]
LOCKED = [((f"lock {text}", 1, 1),) for at in (0, 1, 0x3D, 0xFFD) for text in (
    f"inc dword [r8 + {at}]", f"add [r8 + {at}], eax", f"xadd [r8 + {at}], edx", f"not dword [r8 + {at}]")]
# Accesses of a device, the local APIC: QEMU leaves the block there, and does each in one of its own.
READ, WRITTEN = "mov esi, 0xFEE00020", "mov edi, 0xFEE000B0"
FROM, TO = "lea rsi, [r9 + 0x1000]", "lea rdi, [r9 + 0x1003]"
DEVICE = [
    (READ, ("mov eax, [rsi]", 1, 0)), (WRITTEN, ("mov [rdi], eax", 0, 1)), (WRITTEN, ("xor [rdi], eax", 1, 1)),
    (WRITTEN, ("push rax", 0, 1), ("pop qword [rdi]", 1, 1)), (READ, ("push qword [rsi]", 1, 1), ("pop rax", 1, 0)),
    (FROM, WRITTEN, ("movsd", 1, 1)), (FROM, WRITTEN, ("movsb", 1, 1)), (READ, TO, ("movsd", 1, 1)),
    (READ, TO, ("cmpsd", 1, 0)), (READ, WRITTEN, ("movsd", 1, 1)), (WRITTEN, ("lock inc dword [rdi]", 1, 1)),
    (FROM, WRITTEN, "mov ecx, 3", ("rep movsd", 1, 1)), (WRITTEN, "mov ecx, 3", ("rep stosb", 0, 1)),
]
STRINGS = {"movs": (1, 1), "stos": (0, 1), "lods": (1, 0), "repe cmps": (1, 0), "repe scas": (1, 0),
           "repne cmps": (1, 0), "repne scas": (1, 0)}
COUNTS = (0, 0, 1, 2, 3, 9, 200, 5000)


class Generator:
    def __init__(self, seed, pieces, changes):
        self.rng = random.Random(seed)
        self.changes = changes  # whether code may store into itself
        self.ordinary = []
        self.insns = []
        self.blocks = []  # lists of instructions, each to be placed as a whole
        self.entries = [self.piece() for _ in range(pieces)]

    def add(self, insn):
        insn.name = f"i{len(self.insns)}"
        self.insns.append(insn)
        return insn

    # ---- what blocks are made of ----

    def any_ordinary(self):
        """Each of them, before one comes again."""
        if not self.ordinary:
            self.ordinary = self.rng.sample(ORDINARY, len(ORDINARY))
        return plain(*self.ordinary.pop())

    def string(self):
        kind, (loads, stores) = self.rng.choice(list(STRINGS.items()))
        count = 100000 if self.rng.random() < 0.02 else self.rng.choice(COUNTS)
        unit = self.rng.choice("bd")
        some = count > 0
        repeat = kind if kind.startswith("rep") else f"rep {kind}"
        lines = [f"mov ecx, {count}", "lea rsi, [r9 + 0x1000]", "lea rdi, [r9 + 0x1003]"]
        if self.rng.random() < 0.3:
            self.rng.shuffle(lines)
        return plain(*lines, (repeat + unit, loads * some, stores * some))

    def changes_code(self):
        """Stores into an instruction of its own block."""
        target = Insn("mov sil, 0")
        kind = self.rng.choice(("store", "lock", "string"))
        if kind == "store":
            store = [Insn(f"mov byte [abs dword {{0}} + 2], {self.rng.randrange(256)}", 0, 1, to=target)]
        elif kind == "lock":
            store = [Insn("lock add byte [abs dword {0} + 2], 1", 1, 1, to=target)]
        else:
            store = [*plain(FROM), Insn("mov edi, {0} + 2", to=target), *plain(("movsb", 1, 1))]
        between = [insn for _ in range(self.rng.randrange(3)) for insn in plain(*self.rng.choice(ORDINARY))]
        return [*store, *between, target]

    def fault(self):
        resume = Insn("nop")
        kind = self.rng.choice(("ud2", "load", "store", "divide", "string", "device", "fetch", "far_fetch",
                                "wrmsr"))
        lines = [Insn("mov r14d, {0}", to=resume)]
        handler = "fault_with_code"
        if kind == "ud2":
            what, handler = "ud2", "fault"
        elif kind == "load":
            what = "mov eax, [r13]"
        elif kind == "store":
            what = self.rng.choice(("mov [r13], eax", "lock inc dword [r13 - 1]", "push qword [r13]"))
        elif kind == "divide":
            lines += plain("xor ecx, ecx")
            what, handler = "div ecx", "fault"
        elif kind == "string":
            lines += plain("lea rdi, [r13 - 20]", "mov ecx, 100", "mov esi, edi")
            what = self.rng.choice(("rep stosb", "rep movsb", "repe cmpsb", "rep stosd"))
        elif kind == "device":  # which it has read by then
            lines += plain(READ, "mov rdi, r13")
            what = "movsd"
        elif kind == "wrmsr":
            lines += plain("mov ecx, 0x3F1", "mov eax, -1", "mov edx, -1")
            what = "wrmsr"
        else:  # a jump to what must not be fetched, at the page offset of an instruction of the block
            page = NX_CODE if kind == "fetch" else ABSENT
            like = self.rng.choice(lines)
            lines += [Insn(f"mov eax, {page} + (({{0}} - code) & 0xFFF)", to=like),
                      Insn("jmp rax", how="fetch", to=like, times=page)]
            return [*lines, resume]
        return [*lines, Insn(what, how="fault", to=handler), resume]

    def interrupt(self):
        return [Insn(self.rng.choice(("int 0x81", "int3")), how="interrupt", to="returns")]

    def short_loop(self):
        first = Insn("nop")
        times = self.rng.choice((1, 2, 5))
        return plain(f"mov ecx, {times}") + [first, Insn("loop {0}", how="loop", to=first, times=times)]

    def straight_on(self):
        """A branch that is not taken, or that leads to its successor."""
        to = Insn("nop")
        if self.rng.random() < 0.5:
            return [Insn("clc"), Insn("jc strict near {0}", how="if", to=to, taken=False), *plain("nop"), to]
        return [Insn("stc"), Insn("jc strict near {0}", how="if", to=to), to]

    def part(self):
        return self.rng.choices((
            self.any_ordinary, lambda: plain(*self.rng.choice(SPECIAL)),
            lambda: plain(*self.rng.choice(LOCKED)), lambda: plain(*self.rng.choice(DEVICE)), self.string,
            self.changes_code, self.fault, self.interrupt, self.short_loop, self.straight_on),
            (10, 6, 3, 3, 3, int(self.changes), 3, 1, 1, 1))[0]()

    def leads(self, to):
        """What ends a block and goes on at another's beginning."""
        way = self.rng.choice(("near", "near", "register", "memory", "if", "return", "far", "iret"))
        if way == "near":
            return [Insn("jmp strict near {0}", how="jump", to=to)]
        if way == "register":
            return [Insn("mov ebp, {0}", to=to), Insn("jmp rbp", how="jump", to=to)]
        if way == "memory":
            return [Insn("mov qword [r8 + 0x800], {0}", 0, 1, to=to), Insn("jmp [r8 + 0x800]", 1, 0, how="jump", to=to)]
        if way == "if":
            return [Insn("stc"), Insn("jc strict near {0}", how="if", to=to)]
        if way == "return":
            return [Insn("push strict dword {0}", 0, 1, to=to), Insn("ret", 1, 0, how="jump", to=to)]
        if way == "far":
            return [Insn("push strict byte 8", 0, 1), Insn("push strict dword {0}", 0, 1, to=to),
                    Insn("retfq", 1, 0, how="far", to=to)]
        return [Insn("mov rax, rsp"), Insn("push strict byte 0x18", 0, 1), Insn("push rax", 0, 1),
                Insn("push strict byte 2", 0, 1), Insn("push strict byte 8", 0, 1),
                Insn("push strict dword {0}", 0, 1, to=to), Insn("iretq", 1, 0, how="far", to=to)]

    def piece(self):
        """Its first instruction. Blocks follow one another; some of them several times."""
        count = self.rng.randrange(2, 8)
        bodies = []
        for _ in range(count):
            body = [insn for _ in range(self.rng.choice((1, 1, 1, 2, 3, 5))) for insn in self.part()]
            if self.rng.random() < 0.3:  # begins with what is a block of its own
                body[:0] = plain(self.rng.choice(("sti", "mov cr4, r12", "in al, 0x80", "pause", "invlpg [r8]")))
            bodies.append(body)
        times = self.rng.choice((1, 1, 2, 3, 8))
        long = any("100000" in insn.text for body in bodies for insn in body)
        if times > 1 and not long:
            first, last = sorted(self.rng.sample(range(count), 2))
            bodies.insert(0, plain(f"mov r10d, {times}"))
            bodies[last + 1] += [Insn("dec r10d"),
                                 Insn("jnz strict near {0}", how="loop", to=bodies[first + 1][0], times=times)]
        if self.rng.random() < 0.5:  # the last is a procedure
            callee = bodies[-1]
            bodies[-1] = callee + [Insn("ret", 1, 0, how="return")]
            bodies[-2] += [Insn("call {0}", 0, 1, how="call", to=callee[0])]
            chain = bodies[:-1]
        else:
            chain = bodies
        for body, following in zip(chain, chain[1:]):
            body += self.leads(following[0])
        chain[-1].append(Insn("ret", 1, 0, how="return"))
        self.blocks += bodies
        for body in bodies:
            for insn in body:
                self.add(insn)
        return bodies[0][0]

    # ---- where they lie ----

    def place(self):
        used = [(0, TABLES)]
        before = None
        for block in self.blocks:
            size = sum(insn.length for insn in block)
            while True:
                at = self.rng.randrange(TABLES, CODE_SIZE - size)
                how = self.rng.random()
                if how < 0.5 and before:  # at the page offset of an instruction of the one before
                    at = at // PAGE * PAGE + (self.rng.choice(before).at % PAGE)
                elif how < 0.7:  # an instruction ends where its page does, or lies on two
                    ends = self.rng.randrange(1, len(block) + 1)
                    over = self.rng.choice((0, 0, 0, 1, 2))
                    at = at // PAGE * PAGE - sum(insn.length for insn in block[:ends]) + over
                if all(at + size <= first or last <= at for first, last in used) and TABLES <= at < CODE_SIZE - size:
                    break
            used.append((at, at + size))
            for insn in block:
                insn.at = CODE + at
                at += insn.length
            before = block

    def following(self):
        """The instruction after each but the last of a block, by name."""
        return {insn.name: after for block in self.blocks for insn, after in zip(block, block[1:])}

    # ---- as text, and assembled ----

    @staticmethod
    def line(insn):
        return f"{insn.name}: {insn.text.format(getattr(insn.to, 'name', ''))}\n"

    def measure(self, folder):
        lines = "".join(self.line(insn) for insn in self.insns)
        names = [insn.name for insn in self.insns] + ["last"]
        lengths = "".join(f"db {after} - {name}\n" for name, after in zip(names, names[1:]))
        code = assemble(folder, "lengths", f"bits 64\norg {CODE}\ncode:\n{lines}last:\n{lengths}")
        for insn, length in zip(self.insns, code[-len(self.insns):]):
            insn.length = length

    def image(self, folder, modes):
        """`modes`: lists of numbers, in the order of guest/random.asm's."""
        self.measure(folder)
        self.place()
        table = [len(modes), *(number for mode in modes for number in mode), len(self.entries),
                 *(insn.at for insn in self.entries)]
        text = f"bits 64\norg {CODE}\ncode:\ndq {', '.join(map(str, table))}\n"
        for block in sorted(self.blocks, key=lambda block: block[0].at):
            text += f"times {block[0].at - CODE} - ($ - $$) db 0xCC\n" + "".join(map(self.line, block))
        return assemble(folder, "code", text + f"times {CODE_SIZE} - ($ - $$) db 0xCC\n")


def assemble(folder, name, text):
    (folder / f"{name}.asm").write_text(text, encoding="ascii")
    subprocess.run(["nasm", "-f", "bin", "-o", folder / f"{name}.bin", folder / f"{name}.asm"], check=True)
    return (folder / f"{name}.bin").read_bytes()


@dataclass
class Step:
    """An instruction that retires."""
    ip: int
    loads: int
    stores: int
    branch: str = ""  # "near", "conditional" (and near) or "far"
    to: int = None    # where it is taken


def steps(first, following, labels):
    """What retires from the CALL at labels["begin"] to the WRMSR that is the last to count, and (from, to) of each
    taken branch, faults among them: two lists. `following`: the instruction after each, by name."""
    retired, taken = [], []

    def retire(ip, loads=0, stores=0, branch="", to=None):
        retired.append(Step(ip, loads, stores, branch, to))
        if to is not None:
            taken.append((ip, to))

    def handle(ip, handler, back):
        taken.append((ip, labels[handler]))
        at = labels[handler]
        if handler == "fault_with_code":
            retire(at)
            at = labels["fault"]
        if handler != "returns":
            retire(at, 0, 1)
            at = labels["returns"]
        retire(at, 1, 0, "far", back)

    retire(labels["begin"], 1, 1, "near", first.at)
    stack, been = [None], {}
    insn = first
    while insn:
        after = following.get(insn.name)
        on = after.at if after else None
        goes = after
        if not insn.how:
            retire(insn.at, insn.loads, insn.stores)
        elif insn.how in ("jump", "far", "call"):
            retire(insn.at, insn.loads, insn.stores, "far" if insn.how == "far" else "near", insn.to.at)
            if insn.how == "call":
                stack.append(after)
            goes = insn.to
        elif insn.how == "return":
            goes = stack.pop()
            retire(insn.at, insn.loads, insn.stores, "near", goes.at if goes else labels["end"])
        elif insn.how in ("if", "loop"):
            jumps = insn.taken
            if insn.how == "loop":
                been[insn.name] = been.get(insn.name, 0) + 1
                jumps = been[insn.name] % insn.times != 0
            retire(insn.at, insn.loads, insn.stores, "conditional", insn.to.at if jumps else None)
            goes = insn.to if jumps else after
        elif insn.how == "fault":
            handle(insn.at, insn.to, on)
        elif insn.how == "interrupt":
            retire(insn.at, branch="far")
            handle(insn.at, insn.to, on)
        elif insn.how == "fetch":
            target = insn.times + insn.to.at % PAGE
            retire(insn.at, 0, 0, "near", target)
            handle(target, "fault_with_code", on)
        insn = goes
    at = labels["end"]
    for length in (5, 2, 2, 2):
        retire(at)
        at += length
    return retired, taken
