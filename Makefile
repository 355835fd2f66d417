# SPDX-License-Identifier: MIT
# `make help` lists the targets. Products, sources, flags, run and test are here; the rest is in tools/*.mk and in the
# local.mk of tests/* and tools/*.
MAKEFLAGS += -rR
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
SHELL := /bin/bash

# ---- What you can set: make CC=gcc-13 EXTRA_CFLAGS=...
CC      := gcc
LD      := ld
NASM    := nasm
OBJCOPY := objcopy
OBJDUMP := objdump
AR      := ar
EXTRA_CFLAGS :=
V       :=# V=1 shows the commands
B       := build# another build directory: git ignores every name that begins with build
override B := $(patsubst $(CURDIR)/%,%,$(B))# spelled in one way: the commands of its products are among their inputs
FONT    :=# a PSF console font for the kernel's screen; empty: the first one that tools/font.py finds
# What `make run` boots.
RUN_ARGS := --smp 4 workload=mix switches=5000 truth=1

include tools/deps.mk
ifndef ASKED_DEPS
$(if $(strip $(B)),,$(error B= is empty: name a build directory, as in B=build-gcc13))
VERSION := 0.3.0

# ---- Flags
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-declarations -Wmissing-prototypes -Wundef -Wvla \
        -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
# Debug information names no folder of this machine: two clones build the same bytes.
COMMON := -std=gnu17 -O2 -g -ffile-prefix-map=$(CURDIR)=. -I. -DCAIRN_VERSION='"$(VERSION)"' $(WARN) $(EXTRA_CFLAGS)
BARE   := $(COMMON) -ffreestanding -mgeneral-regs-only -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
          -fcf-protection=none -fno-tree-loop-distribute-patterns
KCFLAGS := $(BARE) -fno-pie -mcmodel=kernel -mno-red-zone -fstack-protector-strong -mstack-protector-guard=global \
           -fno-strict-aliasing
# Programs of ring 3 are linked with the kernel, but are part of it only as bytes.
UCFLAGS := $(BARE) -fpie -fvisibility=hidden -fno-stack-protector -fno-jump-tables
HCFLAGS := $(COMMON) -I$(B)/gen
SAN     := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -fno-var-tracking -O1
include tools/events.mk tools/gnu-efi.mk # LCFLAGS, and what the loader is linked with

# ---- Sources, by room
c_of   = $(sort $(wildcard $(addsuffix /*.c,$(1))))
asm_of = $(sort $(wildcard $(addsuffix /*.asm,$(1))))
RING3    := $(patsubst %/,%,$(wildcard kernel/*/ring3/))
MODEL    := $(patsubst %/,%,ds/policy/table $(wildcard ds/model/ ds/model/*/))
DS_ROOMS := $(filter-out ds/model/memory ds/model/variant,$(patsubst %/,%,$(wildcard ds/*/ ds/*/*/)))# the host's
KERNEL   := arch kernel trace $(DS_ROOMS) $(patsubst %/,%,$(wildcard arch/*/ arch/*/*/ kernel/*/ trace/*/))
KERNEL_C := $(call c_of,$(KERNEL)) boot/save/save_check.c $(EVENT_C)
KERNEL_O := $(patsubst %,$(B)/kernel/%.o,$(KERNEL_C:.c=) $(addsuffix .asm,$(basename $(call asm_of,$(KERNEL))))) \
            $(patsubst %,$(B)/ring3/%.o,$(basename $(call c_of,$(RING3))) \
              $(addsuffix .asm,$(basename $(call asm_of,$(RING3))))) $(B)/kernel/kernel/screen/font.o
LOADER_O := $(patsubst %,$(B)/loader/%.o,$(addsuffix .asm,$(basename $(call asm_of,boot))) arch/page_map \
              kernel/lib/crc32c kernel/lib/number $(basename $(call c_of,boot arch/firmware/smbios $(wildcard boot/*))))
# Pure C of kernel and loader: it runs on the host, too, in tools and tests.
SHARED_C := $(call c_of,$(DS_ROOMS) $(MODEL) $(filter trace% arch/firmware%,$(KERNEL)) kernel/options tools/pebs) \
            arch/page_map.c $(addprefix kernel/,$(addprefix lib/,base64.c crc32c.c number.c) card/qr.c card/words.c \
              line8/line8.c memory/boot_memory.c memory/page_bitmap.c selftest/paper.c screen/pixels.c screen/screen.c \
            $(addprefix monitor/,line.c words.c names.c show.c command.c registers.c area.c records.c batch.c keys.c)) \
            $(addprefix boot/,config/config.c elf.c memory.c paging.c save/middle.c save/save_check.c) $(EVENT_C)
CAIRN_C  := $(call c_of,tools/cairn $(patsubst %/,%,$(wildcard tools/cairn/*/ tools/cairn/*/*/ tools/cairn/*/*/*/)))

all: kernel loader tools
.PHONY: all kernel loader tools run gdb image clean help FORCE

# ---- Rules: build/PRODUCT/FILE.o from FILE.c, here or in build/gen, or FILE.asm, with FLAGS_PRODUCT
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '%-8s%s\n' $(1) $@)
# One shell for each object, not one for each line: its start takes time, too.
define compile
$(Q)[ -d $(@D) ] || mkdir -p $(@D); $(if $(V),,printf 'CC      %s\n' $@;) \
    $(or $(CC_$(1)),$(CC)) $(FLAGS_$(1)) -MMD -MP -MF $(@:.o=.d) -c $< -o $@
endef
define product
$(B)/$(1)/%.o: %.c $(B)/flags
	$$(call compile,$(1))
$(B)/$(1)/%.o: $(B)/gen/%.c $(B)/flags
	$$(call compile,$(1))
$(B)/$(1)/%.asm.o: %.asm $(B)/flags
	@mkdir -p $$(@D)
	$$(call say,NASM)
	$$(Q)$$(NASM) -f elf64 -g -F dwarf $$(NASM_WARNINGS) -I. -MD $$(@:.o=.d) -o $$@ $$<
endef
# -Wall of nasm 2.16.03 names each reference to another section; 2.16.01 does not know that warning.
NASM_WARNINGS = -Wall -w-unknown-warning -w-reloc -Werror
FLAGS_kernel = $(KCFLAGS)
FLAGS_ring3  = $(UCFLAGS)
FLAGS_loader = $(LCFLAGS)
FLAGS_host   = $(HCFLAGS)
FLAGS_san    = -Itests/unit/fake $(HCFLAGS) $(SAN)
$(foreach p,kernel ring3 loader host san,$(eval $(call product,$p)))
# What everything is compiled with is an input, too, but not the folder, so that it can be moved. So is the list of what
# is linked: a source that is gone leaves no newer object behind.
define changed
@mkdir -p $(@D)
@new=$@.$$$$; printf '%s\n' '$(subst ','\'',$(1))' > $$new; \
    if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi # two makes at a time have one each
endef
$(B)/flags: FORCE
	$(call changed,$(subst $(CURDIR),.,$(CC) $(KCFLAGS) $(UCFLAGS) $(LCFLAGS) $(HCFLAGS) $(SAN) $(NASM) $(FONT)))
$(B)/%.objects: FORCE
	$(call changed,$(OBJECTS))

# ---- Kernel
kernel: $(B)/kernel.elf
$(B)/kernel.objects: OBJECTS = $(KERNEL_O)
$(B)/kernel.elf: $(KERNEL_O) arch/kernel.ld $(B)/kernel.objects
	$(call say,LINK)
	$(call link_kernel,$@,$(KERNEL_O))
	$(Q)$(OBJDUMP) -d -S --no-show-raw-insn $@.full > $(B)/kernel.lst 2>/dev/null # dislikes nasm's line tables
# FILE, objects; for kernels of tests, too. FILE.full has the debug information, with nasm's names of this machine's
# folders; the build ID is a digest of what is left without it.
define link_kernel
$(Q)link() { $(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack -T arch/kernel.ld -Map=$(1:.elf=.map) \
        -o $(1).full $(2) --build-id=$$1 && $(OBJCOPY) --strip-debug $(1).full $(1); } && \
    link none && link 0x$$(sha1sum < $(1) | cut -d ' ' -f 1)
endef
$(B)/gen/kernel/screen/font.c: tools/font.py $(FONT) $(B)/flags
	@mkdir -p $(@D)
	$(call say,FONT)
	$(Q)font='$(FONT)'; [ -n "$$font" ] || font=$$(tools/font.py --which) && tools/font.py "$$font" > $@

# ---- Loader: an ELF shared object of GNU-EFI's making, turned into a PE image
loader: $(B)/BOOTX64.EFI
$(B)/loader.objects: OBJECTS = $(LOADER_O)
$(B)/BOOTX64.EFI: $(LOADER_O) $(B)/loader.objects $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/loader,$(LOADER_O))
$(LOADER_O): | gnu-efi

# ---- Run
run: all
	CAIRN_BUILD=$(B) ./run-qemu.sh $(RUN_ARGS)
	@echo; echo '== the trace, its first lines (build/cairn dump)'
	@$(B)/cairn dump $(B)/last.log | sed -n '1,24p'
	@echo; echo '== the totals (build/cairn stat)'
	@$(B)/cairn stat --no-pager $(B)/last.log
gdb: all ; CAIRN_BUILD=$(B) ./run-qemu.sh --gdb $(RUN_ARGS)
help: ; @cat tools/help.txt
clean: ; rm -rf $(B)

# ---- Host tools, installing, stick, tests
include tools/host.mk tools/wings.mk tools/install.mk tools/image.mk tools/tests.mk
-include labs/local.mk $(sort $(wildcard tests/*/local.mk tools/*/local.mk))
-include $(shell find $(B) \( -name qemu11 -o -name linux \) -prune -o -name '*.d' -type f -print 2>/dev/null)
endif
