# SPDX-License-Identifier: MIT
# Figures of the emit path. The program is linked with the kernel's objects: -no-pie, since they are not position
# independent.
BENCH_KERNEL_O := $(patsubst %,$(B)/kernel/%.o,trace/session_counts trace/ccswap trace/session trace/hub trace/clock \
                    trace/pmc/pmc_items kernel/lib/string)

$(B)/bench/bench: $(B)/host/tests/bench/bench.o $(BENCH_KERNEL_O)
	@mkdir -p $(@D)
	$(CC) -no-pie -o $@ $^
$(B)/bench/bench-locks: $(B)/host/tests/bench/locks.o $(patsubst %,$(B)/kernel/%.o,kernel/locks/traced_spinlock \
                       kernel/locks/lock_trace trace/locks/lock_sampling) $(BENCH_KERNEL_O)
	@mkdir -p $(@D)
	$(CC) -no-pie -o $@ $^
$(B)/bench/make-dump: $(B)/host/tests/bench/make_dump.o $(B)/host/tests/golden/make/streams.o \
                      $(B)/host/libshared.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^
$(B)/bench/read-dump: $(addprefix $(B)/host/,tests/bench/read_dump.o tests/bench/plain.o libcairn.a libshared.a)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(CAIRN_LIBS)
$(B)/bench/wire: $(addprefix $(B)/host/,tests/bench/wire.o libcairn.a libshared.a)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(CAIRN_LIBS)
$(B)/bench/pebs: $(B)/host/tests/bench/pebs.o $(B)/libcairn-pebs.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^
bench-pebs: $(B)/bench/pebs
	@$<
$(B)/bench/workload.bin: $(B)/bench/bench
	@$< generate $@.new 1000000 && mv $@.new $@ # a CPU, of four
bench: bench-figures
bench-figures: $(B)/bench/workload.bin $(B)/bench/bench-locks $(B)/bench/wire $(B)/bench/pebs \
               bench-read-products bench-qemu-ds-guests
	@tests/bench/run.sh $(B) $(CC)
bench-gate: $(B)/bench/workload.bin bench-read-products
	@tests/bench/run.sh $(B) $(CC) --gate

# What the plugin costs: a guest that is nothing but what is timed, and Linux' first program.
BENCH_GUEST_O := $(B)/kernel/tests/bench/qemu_ds/start.asm.o $(B)/bench/guest.o
$(B)/bench/guest.o: tests/bench/qemu_ds/guest.c $(B)/flags
	$(call compile,guest)
FLAGS_guest = $(UCFLAGS) -fno-pie
$(B)/bench/guest.bin: $(BENCH_GUEST_O) tests/bench/qemu_ds/guest.ld
	@mkdir -p $(@D)
	$(Q)$(LD) -nostdlib -static -T tests/bench/qemu_ds/guest.ld --oformat binary -o $@ $(BENCH_GUEST_O)
$(B)/bench/init: $(B)/kernel/tests/bench/qemu_ds/init.asm.o
	@mkdir -p $(@D)
	$(Q)$(LD) -nostdlib -static -o $@ $<
bench-qemu-ds-guests: $(B)/bench/guest.bin $(B)/bench/init
bench-qemu-ds: bench-qemu-ds-guests all
	@tests/bench/qemu_ds/run.sh $(B)
bench-callgrind: all
	@tests/bench/callgrind.py $(B)
# What a call of its guest.py takes, with a boot and without.
bench-guest: all
	@tests/bench/guest_calls.py $(B)
bench-grab: all $(B)/cairn-grab
	@tests/bench/grab.py
bench-read-products: $(B)/bench/make-dump $(B)/bench/read-dump $(B)/cairn $(B)/make_golden
bench-read: bench-read-products
	@tests/bench/read.sh $(B)
.PHONY: bench-callgrind bench-grab bench-guest bench-pebs \
        bench-read bench-read-products bench-figures bench-qemu-ds bench-qemu-ds-guests
