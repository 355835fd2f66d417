# SPDX-License-Identifier: MIT
# The host tool's reader as a part of test programs: all of tools/cairn but the commands.
CAIRN_READER_C := $(filter-out tools/cairn/main.c tools/cairn/command.c tools/cairn/elf.c tools/cairn/disassemble.c \
                    tools/cairn/cmd_%.c tools/cairn/export.c tools/cairn/out_%.c,$(CAIRN_C))
CAIRN_UNIT     := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_cairn_*.c))
# trace/'s own beside them: what comes behind libshared.a in the rule of tests/unit finds nothing in it any more
$(CAIRN_UNIT): $(patsubst %.c,$(B)/san/%.o,$(CAIRN_READER_C) tests/cairn/writer.c trace/crc32c.c trace/base64.c \
                 trace/groups.c trace/spinlock.c)

# Damage: plain for the many, sanitized for the few.
$(B)/cairn-damage: $(B)/host/tests/cairn/damage.o $(CAIRN_READER_C:%.c=$(B)/host/%.o) $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^
$(B)/cairn-damage-san: $(B)/san/tests/cairn/damage.o $(CAIRN_READER_C:%.c=$(B)/san/%.o) $(B)/san/libshared.a
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^
test-products: $(B)/cairn-damage $(B)/cairn-damage-san $(B)/san/cairn $(B)/make_golden
