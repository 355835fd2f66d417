# SPDX-License-Identifier: MIT
# Random programs, and what traces them, for the Linux guest: a program of its own, without libraries.
$(B)/linux-random: $(patsubst %.c,$(B)/host/%.o,$(sort $(wildcard tests/linux/random/*.c)))
	$(call say,LINK)
	$(Q)$(CC) -static -o $@ $^
test-linux test-ci test-all $(if $(T),test): $(B)/linux-random

# What comes to data breakpoints.
$(B)/linux-stepped: $(B)/host/tests/linux/stepped.o
	$(call say,LINK)
	$(Q)$(CC) -static -o $@ $^
test-linux test-ci test-all $(if $(T),test): $(B)/linux-stepped

# Programs for a memory system, each a file.
$(B)/linux-sharing $(B)/linux-chase: $(B)/linux-%: $(B)/host/tests/linux/memory/%.o
	$(call say,LINK)
	$(Q)$(CC) -static -o $@ $^ -pthread
test-linux test-ci test-all $(if $(T),test): $(B)/linux-sharing $(B)/linux-chase

# cairn-grab runs in the guest.
test-linux test-ci test-all $(if $(T),test): $(B)/cairn-grab

# Reads the registers that perf has set.
$(B)/linux-msrs: $(B)/host/tests/linux/msrs.o
	$(call say,LINK)
	$(Q)$(CC) -static -o $@ $^
test-linux test-ci test-all $(if $(T),test): $(B)/linux-msrs
