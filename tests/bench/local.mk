# SPDX-License-Identifier: MIT
# Figures of the emit path. The program is linked with the kernel's objects: -no-pie, since they are not position
# independent.
BENCH_KERNEL_O := $(patsubst %,$(B)/kernel/%.o,trace/account trace/ccswap trace/session trace/hub trace/clock \
                    kernel/string)

$(B)/bench/bench: $(B)/host/tests/bench/bench.o $(BENCH_KERNEL_O)
	@mkdir -p $(@D)
	$(CC) -no-pie -o $@ $^
$(B)/bench/bench-locks: $(B)/host/tests/bench/locks.o $(patsubst %,$(B)/kernel/%.o,kernel/spinlock kernel/locktrace \
                       trace/spinlock) $(BENCH_KERNEL_O)
	@mkdir -p $(@D)
	$(CC) -no-pie -o $@ $^
$(B)/bench/workload.bin: $(B)/bench/bench
	@$< generate $@.new 1000000 && mv $@.new $@ # a CPU, of four
bench: bench-figures
bench-figures: $(B)/bench/workload.bin $(B)/bench/bench-locks
	@tests/bench/run.sh $(B) $(CC)
bench-gate: $(B)/bench/workload.bin
	@tests/bench/run.sh $(B) $(CC) --gate
.PHONY: bench-figures
