/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/disassemble.h"
#include "tools/cairn/base/error.h"

#if !__has_include(<capstone/capstone.h>)
#error capstone is not there: run 'make deps'
#endif
#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

const char *cairn_disassemble(char out[CAIRN_SHOWN], const uint8_t *code, size_t size, uint64_t address)
{
    csh handle;
    cs_insn *insn;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) {
        cairn_error("capstone, the disassembler, does not start");
        exit(3);
    }
    size_t count = cs_disasm(handle, code, size, address, 1, &insn);
    bool whole = count == 1 && insn->size == size;
    if (whole)
        snprintf(out, CAIRN_SHOWN, "%.32s%s%.80s", insn->mnemonic, *insn->op_str ? " " : "", insn->op_str);
    if (count)
        cs_free(insn, count);
    cs_close(&handle);
    return whole ? out : NULL;
}
