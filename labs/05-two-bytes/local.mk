# SPDX-License-Identifier: MIT
# The scoreboard of lab 5: your encoder and Cairn's, compiled as for the kernel; -no-pie, since kernel objects are not
# position independent. The switches are those of `make bench`.
$(OUT)/score: $(B)/host/labs/05-two-bytes/score.o $(OUT)/kernel/code.o \
              $(patsubst %,$(B)/kernel/%.o,trace/ccswap kernel/lib/string)
	$(Q)$(CC) -no-pie -o $@ $^
lab-program: $(OUT)/score
