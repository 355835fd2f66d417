# SPDX-License-Identifier: MIT
# cairn-grab: a program of its own, as only it needs libbpf, and clang for what runs in the kernel.
GRAB_O := $(patsubst %.c,$(B)/host/%.o,$(call c_of,tools/grab tools/grab/base tools/grab/report)) $(B)/grab/object.o \
          $(B)/grab/known.o
$(B)/grab/grab.bpf.o: tools/grab/bpf/grab.bpf.c tools/grab/bpf/events.h
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)clang --target=bpf -mcpu=v2 -O2 -g -ffile-prefix-map=$(CURDIR)=. -Wall -Werror -D__TARGET_ARCH_x86 -I. \
	    -isystem $(GRAB_ASM) -c $< -o $@
# Where <asm/types.h> is: clang does not know it for a target without a system.
GRAB_ASM = $(firstword $(patsubst %/asm,%,$(wildcard /usr/include/$(shell $(CC) -dumpmachine)/asm /usr/include/asm)))
$(B)/grab/object.o: tools/grab/base/object.S $(B)/grab/grab.bpf.o
	$(Q)$(CC) -DGRAB_OBJECT='"$(B)/grab/grab.bpf.o"' -c $< -o $@
$(B)/grab/known.o: tools/grab/report/known.S
	@mkdir -p $(@D)
	$(Q)$(CC) -c $< -o $@
$(B)/cairn-grab: $(GRAB_O) $(B)/host/libcairn.a $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ -Wl,-Bstatic -lbpf -Wl,-Bdynamic -lelf -lz
grab: $(B)/cairn-grab
.PHONY: grab

# Its unit tests link what needs no kernel. The program is for those that see only what it refuses.
$(filter $(B)/unit/grab/%,$(UNIT)): $(B)/grab/known.o $(patsubst %,$(B)/san/tools/grab/%.o,order threads \
    $(addprefix base/,clock error index memory store) $(addprefix report/,ask history known latency record rows \
    sampled samples seen spacing switches)) $(B)/san/libcairn.a
$(B)/unit/grab/test_why: $(patsubst %,$(B)/san/tools/grab/%.o,advice uses why base/names)
$(B)/unit/grab/test_command: $(patsubst %,$(B)/san/tools/grab/%.o,command base/limits)
$(B)/unit/grab/test_session: $(B)/san/tools/grab/session.o
$(B)/unit/grab/test_programs: $(patsubst %,$(B)/san/tools/grab/%.o,programs base/functions base/machine base/maps)
$(B)/unit/grab/test_counted: $(patsubst %,$(B)/san/tools/grab/%.o,counted base/names)
$(B)/unit/grab/test_programs: UNIT_LIBS := -lelf
test-products: $(B)/cairn-grab
