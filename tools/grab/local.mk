# SPDX-License-Identifier: MIT
# cairn-grab: a program of its own, as only it needs libbpf, and clang for what runs in the kernel.
GRAB_O := $(patsubst %.c,$(B)/host/%.o,$(call c_of,tools/grab tools/grab/known)) $(B)/grab/object.o \
          $(B)/grab/known.o
$(B)/grab/grab.bpf.o: tools/grab/bpf/grab.bpf.c tools/grab/bpf/events.h
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)clang --target=bpf -mcpu=v2 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 -I. -isystem $(GRAB_ASM) -c $< -o $@
# Where <asm/types.h> is: clang does not know it for a target without a system.
GRAB_ASM = $(firstword $(patsubst %/asm,%,$(wildcard /usr/include/$(shell $(CC) -dumpmachine)/asm /usr/include/asm)))
$(B)/grab/object.o: tools/grab/object.S $(B)/grab/grab.bpf.o
	$(Q)$(CC) -DGRAB_OBJECT='"$(B)/grab/grab.bpf.o"' -c $< -o $@
$(B)/grab/known.o: tools/grab/known/known.S
	@mkdir -p $(@D)
	$(Q)$(CC) -c $< -o $@
$(B)/cairn-grab: $(GRAB_O) $(B)/host/libcairn.a $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ -Wl,-Bstatic -lbpf -Wl,-Bdynamic -lelf -lz
grab: $(B)/cairn-grab
.PHONY: grab

# Of it what needs no kernel, for its unit tests; and the program, for those that see only what it refuses.
$(filter $(B)/unit/grab/%,$(UNIT)): $(B)/grab/known.o \
    $(patsubst %,$(B)/san/tools/grab/%.o,clock error known/known memory order rows seen store threads why) \
    $(B)/san/libcairn.a
test-products: $(B)/cairn-grab
