# SPDX-License-Identifier: MIT
# Cairn: make help
MAKEFLAGS += -rR
.SUFFIXES:
.DEFAULT_GOAL := all
SHELL := /bin/bash

# ---- user settable: make CC=gcc-13 EXTRA_CFLAGS=...
CC      := gcc
LD      := ld
NASM    := nasm
OBJCOPY := objcopy
OBJDUMP := objdump
AR      := ar
EXTRA_CFLAGS :=

# ---- internal
B := build
VERSION := 0.1.0
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-declarations -Wmissing-prototypes -Wundef -Wvla \
        -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
KCFLAGS := -std=gnu17 -O2 -g -ffreestanding -fno-pie -mcmodel=kernel -mno-red-zone -mgeneral-regs-only \
           -fno-omit-frame-pointer -fstack-protector-strong -mstack-protector-guard=global -fno-strict-aliasing \
           -fno-asynchronous-unwind-tables -fcf-protection=none -fno-tree-loop-distribute-patterns \
           -I. -I$(B)/gen $(WARN) $(EXTRA_CFLAGS)
HCFLAGS := -std=gnu17 -O2 -g -I. -I$(B)/gen $(WARN) $(EXTRA_CFLAGS)
SAN     := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1
DEPFLAGS = -MMD -MP -MF $(@:.o=.d)

KERNEL_C   := $(sort $(wildcard arch/*.c kernel/*.c kernel/workload/*.c ds/*.c ds/model/*.c trace/*.c))
KERNEL_ASM := $(sort $(wildcard arch/*.asm ds/*.asm kernel/*.asm))
KERNEL_O   := $(KERNEL_C:%.c=$(B)/kernel/%.o) $(KERNEL_ASM:%.asm=$(B)/kernel/%.asm.o)
# the parts of the kernel that also run on the host, in tests and tools
SHARED_C := $(sort $(wildcard trace/*.c ds/*.c ds/model/*.c) $(wildcard kernel/options.c boot/elf.c))
CAIRN_C  := $(sort $(wildcard tools/cairn/*.c))
UNIT_C   := $(sort $(wildcard tests/unit/test_*.c))
UNIT_SUPPORT_C := $(sort $(filter-out $(UNIT_C),$(wildcard tests/unit/*.c)))

all: kernel loader tools

# ---- kernel
kernel: $(B)/kernel.elf
$(B)/kernel.elf: $(KERNEL_O) arch/kernel.ld
	$(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack --build-id=sha1 -T arch/kernel.ld -Map=$(B)/kernel.map -o $@.full $(KERNEL_O)
	$(OBJDUMP) -d -S --no-show-raw-insn $@.full > $(B)/kernel.lst
	$(OBJCOPY) --strip-debug $@.full $@
$(B)/kernel/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(KCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/kernel/%.asm.o: %.asm
	@mkdir -p $(@D)
	$(NASM) -f elf64 -g -F dwarf -Wall -Werror -I. -MD $(@:.o=.d) -o $@ $<

# ---- loader: an ELF shared object of GNU-EFI's making, turned into a PE image. Paths of Debian, Fedora and Arch.
EFI_ROOTS := $(addprefix /usr/,lib lib/gnuefi/x64 lib64/gnuefi/x64 lib/gnuefi lib64/gnuefi lib64 local/lib)
EFI_INC   := $(firstword $(wildcard /usr/include/efi /usr/local/include/efi))
EFI_CRT0  := $(firstword $(wildcard $(addsuffix /crt0-efi-x86_64.o,$(EFI_ROOTS)) $(addsuffix /crt0-efi-x64.o,$(EFI_ROOTS))))
EFI_LDS   := $(firstword $(wildcard $(addsuffix /elf_x86_64_efi.lds,$(EFI_ROOTS)) $(addsuffix /elf_x64_efi.lds,$(EFI_ROOTS))))
EFI_LIBS  := $(addprefix -L,$(EFI_ROOTS)) -lefi -lgnuefi
LCFLAGS := -std=gnu17 -O2 -g -ffreestanding -fpic -fshort-wchar -fno-stack-protector -mno-red-zone -mgeneral-regs-only \
           -maccumulate-outgoing-args -fno-strict-aliasing -fcf-protection=none -DGNU_EFI_USE_MS_ABI \
           -isystem $(EFI_INC) -isystem $(EFI_INC)/x86_64 -DCAIRN_VERSION='"$(VERSION)"' -I. $(WARN) $(EXTRA_CFLAGS)
LOADER_O := $(patsubst %.c,$(B)/loader/%.o,$(sort $(wildcard boot/*.c))) \
            $(patsubst %.asm,$(B)/loader/%.asm.o,$(sort $(wildcard boot/*.asm)))

loader: $(B)/BOOTX64.EFI
$(B)/BOOTX64.EFI: $(LOADER_O)
	$(if $(and $(EFI_INC),$(EFI_CRT0),$(EFI_LDS)),,$(error GNU-EFI is not there: run 'make deps'))
	$(LD) -nostdlib -znocombreloc -shared -Bsymbolic --no-undefined --no-warn-rwx-segments -T $(EFI_LDS) \
	    -Map=$(B)/loader.map -o $(B)/loader.so $(EFI_CRT0) $(LOADER_O) $(EFI_LIBS)
	$(OBJCOPY) $(addprefix -j ,.text .rodata .sdata .data .dynamic .dynsym .rel .rela .rel.* .rela.* .reloc) \
	    --output-target=efi-app-x86_64 --subsystem=10 $(B)/loader.so $@
$(B)/loader/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(LCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/loader/%.asm.o: %.asm
	@mkdir -p $(@D)
	$(NASM) -f elf64 -g -F dwarf -Wall -Werror -I. -MD $(@:.o=.d) -o $@ $<

# ---- host: shared code and tools, plain (build/host) and sanitized (build/san)
$(B)/host/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HCFLAGS) $(SAN) $(DEPFLAGS) -c $< -o $@
$(B)/host/libshared.a: $(SHARED_C:%.c=$(B)/host/%.o)
	@rm -f $@; $(AR) rcs $@ $^
$(B)/san/libshared.a: $(SHARED_C:%.c=$(B)/san/%.o)
	@rm -f $@; $(AR) rcs $@ $^
CAIRN_LIBS := -ldw -lelf
$(B)/cairn: $(CAIRN_C:%.c=$(B)/host/%.o) $(B)/host/libshared.a
	$(CC) -o $@ $^ $(CAIRN_LIBS)
$(B)/san/cairn: $(CAIRN_C:%.c=$(B)/san/%.o) $(B)/san/libshared.a
	$(CC) $(SAN) -o $@ $^ $(CAIRN_LIBS)
tools: $(B)/cairn

# ---- unit tests (cmocka, ASan, UBSan): one program per tests/unit/test_*.c; other files there are shared support
UNIT := $(UNIT_C:tests/unit/%.c=$(B)/unit/%)
$(B)/unit/%: $(B)/san/tests/unit/%.o $(UNIT_SUPPORT_C:%.c=$(B)/san/%.o) $(B)/san/libshared.a
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ -lcmocka -lm
unit: $(UNIT)
	@set -e; for t in $(UNIT); do echo "== $$t"; $$t; done
.SECONDARY:

clean:
	rm -rf $(B)
-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all kernel tools unit clean
