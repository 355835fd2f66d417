# SPDX-License-Identifier: MIT
# Random programs, and what traces them, for the Linux guest: a program of its own, without libraries.
$(B)/linux-random: $(patsubst %.c,$(B)/host/%.o,$(sort $(wildcard tests/linux/random/*.c)))
	$(call say,LINK)
	$(Q)$(CC) -static -o $@ $^
test-linux test-ci test-all: $(B)/linux-random
