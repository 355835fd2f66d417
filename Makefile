# SPDX-License-Identifier: MIT
# Cairn: make help
MAKEFLAGS += -rR
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
SHELL := /bin/bash

# ---- user settable: make CC=gcc-13 EXTRA_CFLAGS=...
CC      := gcc
LD      := ld
NASM    := nasm
OBJCOPY := objcopy
OBJDUMP := objdump
AR      := ar
# the first Python with pytest: a package manager gives it to its own one
PYTHON = $(or $(shell for p in python3 /usr/bin/python3; do \
                          $$p -c 'import pytest, xdist' 2>&- && echo $$p && break; done),\
           $(error no python3 with pytest and its xdist: run 'make deps'))
EXTRA_CFLAGS :=
V :=
# a PSF console font for the kernel's screen; empty: the first that tools/font.py finds
FONT :=
# what 'make run' boots, and the options 'make image' writes into the stick's cairn.cfg: a processor retires some
# thousand million instructions a second, so a stick needs a longer period than an emulator
RUN_ARGS := --smp 4 workload=mix switches=20000 truth=1
CONFIG   := workload=mix switches=5000 pebs=INST_RETIRED.ANY:10000019 end=halt
# one's own key and certificate (PEM), to sign the loader for Secure Boot: docs/hardware.md, section 2
SIGN_KEY  :=
SIGN_CERT :=

# ---- 'make deps GOALS...': first deps, alone, then a new make for the rest, which looks for tools and headers anew
ifneq ($(filter deps,$(MAKECMDGOALS)),)
GOALS := $(filter-out deps,$(MAKECMDGOALS))
# goals for which nothing of the tests' need be there
BUILD_GOALS := all kernel loader tools manual install uninstall docs run gdb image
deps:
	@tools/deps.sh $(and $(GOALS),$(if $(filter-out $(BUILD_GOALS),$(GOALS)),,build))
ifneq ($(GOALS),)
goals: deps
	@+$(MAKE) --no-print-directory $(GOALS)
$(GOALS): goals ;
endif
.PHONY: deps goals $(GOALS)
else

# ---- internal
B := build
$(if $(strip $(B)),,$(error B= is empty: name a build directory, as in B=build-gcc13))
VERSION := 0.1.0
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-declarations -Wmissing-prototypes -Wundef -Wvla \
        -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
COMMON := -std=gnu17 -O2 -g -I. -DCAIRN_VERSION='"$(VERSION)"' $(WARN) $(EXTRA_CFLAGS)
KCFLAGS := $(COMMON) -ffreestanding -fno-pie -mcmodel=kernel -mno-red-zone -mgeneral-regs-only \
           -fno-omit-frame-pointer -fstack-protector-strong -mstack-protector-guard=global -fno-strict-aliasing \
           -fno-asynchronous-unwind-tables -fcf-protection=none -fno-tree-loop-distribute-patterns
# programs that run in ring 3: linked with the kernel, but part of it only as bytes
UCFLAGS := $(COMMON) -ffreestanding -fpie -fvisibility=hidden -mgeneral-regs-only -fno-omit-frame-pointer \
           -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
           -fno-tree-loop-distribute-patterns -fno-jump-tables
HCFLAGS := $(COMMON) -I$(B)/perfetto
SAN     := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1
Q := $(if $(V),,@)
say = $(if $(V),,@printf '%-8s%s\n' $(1) $@)
DEPFLAGS = -MMD -MP -MF $(@:.o=.d)
ASFLAGS  = -g -F dwarf -Wall -Werror -I. -MD $(@:.o=.d)

KERNEL_C   := $(sort $(wildcard arch/*.c kernel/*.c kernel/workload/*.c ds/*.c ds/model/*.c ds/probe/*.c trace/*.c) \
                boot/save_check.c)
USER_C     := $(sort $(wildcard kernel/user/*.c))
KERNEL_ASM := $(sort $(wildcard arch/*.asm kernel/workload/*.asm kernel/user/*.asm))
KERNEL_O   := $(KERNEL_C:%.c=$(B)/kernel/%.o) $(USER_C:%.c=$(B)/kernel/%.o) $(KERNEL_ASM:%.asm=$(B)/kernel/%.asm.o) \
              $(B)/kernel/font.o
# the parts of kernel and loader that also run on the host, in tests and tools
SHARED_C := $(sort $(wildcard trace/*.c ds/*.c ds/model/*.c ds/probe/*.c) \
              $(wildcard kernel/options*.c kernel/workload/paper.c kernel/pixels.c kernel/screen.c boot/config.c \
                boot/elf.c boot/memory.c boot/paging.c boot/save_check.c arch/acpi_parse.c arch/acpi_serial.c \
                arch/pci_uart.c arch/reset.c arch/uart.c))
PF_C     := $(B)/perfetto/perfetto.pb-c.c
CAIRN_C  := $(sort $(wildcard $(addsuffix /*.c,tools/cairn tools/cairn/check tools/cairn/export))) $(PF_C)
OPTIONS_C := $(sort $(wildcard tools/options/*.c)) tools/cairn/wrap.c
UNIT_C   := $(sort $(wildcard tests/unit/test_*.c))
UNIT_SUPPORT_C := $(sort $(filter-out $(UNIT_C),$(wildcard tests/unit/*.c)))

all: kernel loader tools

# What everything is compiled with is an input, too: another compiler or option makes everything anew.
BUILT_WITH = $(CC) $(KCFLAGS) $(UCFLAGS) $(LCFLAGS) $(SAN) $(NASM) $(FONT)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(BUILT_WITH))' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# So is the list of what is linked: a source that is gone leaves no newer object behind. One list for each product.
$(B)/%.objects: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(OBJECTS) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/kernel.objects:         OBJECTS = $(KERNEL_O)
$(B)/loader.objects:         OBJECTS = $(LOADER_O)
$(B)/cairn.objects:          OBJECTS = $(CAIRN_C)
$(B)/host/libshared.objects: OBJECTS = $(SHARED_C)
$(B)/san/libshared.objects:  OBJECTS = $(SHARED_C)

# ---- kernel
kernel: $(B)/kernel.elf
$(B)/kernel.elf: $(KERNEL_O) arch/kernel.ld $(B)/kernel.objects
	$(call say,LINK)
	$(Q)$(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack --build-id=sha1 -T arch/kernel.ld \
	    -Map=$(B)/kernel.map -o $@.full $(KERNEL_O)
	$(Q)$(OBJDUMP) -d -S --no-show-raw-insn $@.full > $(B)/kernel.lst 2>/dev/null # dislikes nasm's line tables
	$(Q)$(OBJCOPY) --strip-debug $@.full $@
$(B)/kernel/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(KCFLAGS) $(DEPFLAGS) -c $< -o $@
# the letters of its screen, from a font of this system's
$(B)/font.c: tools/font.py $(FONT) $(B)/flags
	@mkdir -p $(@D)
	$(call say,FONT)
	$(Q)font='$(FONT)'; [ -n "$$font" ] || font=$$(tools/font.py --which) && tools/font.py "$$font" > $@
$(B)/kernel/font.o: $(B)/font.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(KCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/kernel/kernel/user/%.o: kernel/user/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(UCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/kernel/%.asm.o: %.asm $(B)/flags
	@mkdir -p $(@D)
	$(call say,NASM)
	$(Q)$(NASM) -f elf64 $(ASFLAGS) -o $@ $<

# ---- loader: an ELF shared object of GNU-EFI's making, turned into a PE image. Paths of Debian, Fedora, Arch and SUSE.
EFI_ROOTS := $(addprefix /usr/,lib lib/gnuefi/x64 lib64/gnuefi/x64 lib/gnuefi lib64/gnuefi lib64 local/lib)
EFI_INC   := $(firstword $(wildcard /usr/include/efi /usr/local/include/efi))
efi_file   = $(firstword $(wildcard $(foreach name,$(1),$(addsuffix /$(name),$(EFI_ROOTS)))))
EFI_CRT0  := $(call efi_file,crt0-efi-x86_64.o crt0-efi-x64.o)
EFI_LDS   := $(call efi_file,elf_x86_64_efi.lds elf_x64_efi.lds)
EFI_LIBS  := $(addprefix -L,$(EFI_ROOTS)) -lefi -lgnuefi
efi_there  = $(if $(and $(EFI_INC),$(EFI_CRT0),$(EFI_LDS)),,$(error GNU-EFI is not there: run 'make deps'))
LCFLAGS   := $(COMMON) -ffreestanding -fpic -fshort-wchar -fno-stack-protector -mno-red-zone -mgeneral-regs-only \
             -maccumulate-outgoing-args -fno-strict-aliasing -fcf-protection=none -DGNU_EFI_USE_MS_ABI \
             -isystem $(EFI_INC) -isystem $(EFI_INC)/x86_64
LOADER_O  := $(patsubst %.c,$(B)/loader/%.o,$(sort $(wildcard boot/*.c)) trace/crc32c.c) \
             $(patsubst %.asm,$(B)/loader/%.asm.o,$(sort $(wildcard boot/*.asm)))

loader: $(B)/BOOTX64.EFI
# Who signs it is an input, too.
$(B)/loader.signer: FORCE
	@mkdir -p $(@D)
	@{ echo '$(SIGN_KEY) $(SIGN_CERT)'; cat '$(or $(SIGN_CERT),/dev/null)' 2>/dev/null || true; } > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/BOOTX64.EFI: $(LOADER_O) $(B)/loader.objects $(B)/loader.signer
	$(call say,LINK)
	$(Q)$(LD) -nostdlib -znocombreloc -shared -Bsymbolic --no-undefined -T $(EFI_LDS) \
	    -Map=$(B)/loader.map -o $(B)/loader.so $(EFI_CRT0) $(LOADER_O) $(EFI_LIBS)
	$(Q)$(OBJDUMP) -d -S --no-show-raw-insn $(B)/loader.so > $(B)/loader.lst 2>/dev/null
	$(Q)$(OBJCOPY) $(addprefix -j ,.text .rodata .sdata .data .dynamic .dynsym .rel .rela .rel.* .rela.* .reloc) \
	    --output-target=efi-app-x86_64 --subsystem=10 $(B)/loader.so $@
	$(if $(SIGN_KEY)$(SIGN_CERT),@tools/sign.sh '$(SIGN_KEY)' '$(SIGN_CERT)' $@)
$(B)/loader/%.o: %.c $(B)/flags
	$(efi_there)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(LCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/loader/%.asm.o: %.asm $(B)/flags
	@mkdir -p $(@D)
	$(call say,NASM)
	$(Q)$(NASM) -f elf64 $(ASFLAGS) -o $@ $<

# ---- host: shared code and tools, plain (build/host) and sanitized (build/san)
$(B)/host/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(HCFLAGS) $(DEPFLAGS) -c $< -o $@
$(B)/san/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(HCFLAGS) $(SAN) $(DEPFLAGS) -c $< -o $@
$(B)/host/libshared.a: $(SHARED_C:%.c=$(B)/host/%.o) $(B)/host/libshared.objects
	@rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(B)/san/libshared.a: $(SHARED_C:%.c=$(B)/san/%.o) $(B)/san/libshared.objects
	@rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
# The host tool but its main: what links with it takes what it needs.
$(B)/host/libcairn.a: $(patsubst %.c,$(B)/host/%.o,$(filter-out tools/cairn/main.c,$(CAIRN_C))) $(B)/cairn.objects
	@rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(B)/san/libcairn.a: $(patsubst %.c,$(B)/san/%.o,$(filter-out tools/cairn/main.c,$(CAIRN_C))) $(B)/cairn.objects
	@rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
CAIRN_LIBS := -ldw -lelf -lcapstone -lprotobuf-c -lm
# the messages of a Perfetto trace, made into C
$(PF_C) $(PF_C:.c=.h) &: tools/cairn/export/perfetto.proto
	@mkdir -p $(@D)
	$(call say,PROTOC)
	$(Q)protoc-c --proto_path=tools/cairn/export --c_out=$(@D) perfetto.proto
PF_USERS := $(wildcard tools/cairn/export/out_perfetto*.c)
$(foreach d,host san fuzz/o,$(PF_USERS:%.c=$(B)/$(d)/%.o)): | $(PF_C:.c=.h)
# it takes in the page of `cairn export --to html`
$(addprefix $(B)/,$(addsuffix /tools/cairn/export/html_page.o,host san fuzz/o)): $(wildcard tools/cairn/export/html/*)
$(B)/cairn: $(CAIRN_C:%.c=$(B)/host/%.o) $(B)/host/libshared.a $(B)/cairn.objects
	$(call say,LINK)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(CAIRN_LIBS)
$(B)/san/cairn: $(CAIRN_C:%.c=$(B)/san/%.o) $(B)/san/libshared.a $(B)/cairn.objects
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o %.a,$^) $(CAIRN_LIBS)
$(B)/cairn-options: $(OPTIONS_C:%.c=$(B)/host/%.o) $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^
# What is installed beside the tool, made from its tables.
MANUAL_C := $(sort $(wildcard tools/manual/*.c))
$(B)/cairn-manual: $(MANUAL_C:%.c=$(B)/host/%.o) $(B)/host/libcairn.a $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ $(CAIRN_LIBS)
$(B)/cairn.1: $(B)/cairn-manual
	$(Q)$< man > $@
$(B)/cairn.bash: $(B)/cairn-manual
	$(Q)$< bash > $@
$(B)/_cairn: $(B)/cairn-manual
	$(Q)$< zsh > $@
$(B)/cairn.fish: $(B)/cairn-manual
	$(Q)$< fish > $@
manual: $(B)/cairn.1 $(B)/cairn.bash $(B)/_cairn $(B)/cairn.fish
tools: $(B)/cairn $(B)/cairn-options manual

# ---- install: the host tool, for all of this machine's users or, with PREFIX=$HOME/.local, for one
PREFIX  := /usr/local
DESTDIR :=
INSTALLED := $(addprefix $(DESTDIR)$(PREFIX)/,bin/cairn share/man/man1/cairn.1 \
               share/bash-completion/completions/cairn share/zsh/site-functions/_cairn \
               share/fish/vendor_completions.d/cairn.fish)
# the documents that the manual page names, and those that they do
INSTALLED_DOCS := $(DESTDIR)$(PREFIX)/share/doc/cairn
install: tools
	@set -e; set -- $(addprefix $(B)/,cairn cairn.1 cairn.bash _cairn cairn.fish); mode=755; \
	for to in $(INSTALLED); do install -D -m $$mode $$1 $$to; echo $$to; shift; mode=644; done
	@install -d $(INSTALLED_DOCS) && install -m 644 docs/*.md $(INSTALLED_DOCS) && echo $(INSTALLED_DOCS)
uninstall:
	rm -f $(INSTALLED) $(addprefix $(INSTALLED_DOCS)/,$(notdir $(wildcard docs/*.md)))
	-rmdir $(INSTALLED_DOCS)
docs: $(B)/cairn-options
	$< docs > docs/options.md

# ---- run
run: all
	CAIRN_BUILD=$(B) ./run-qemu.sh $(RUN_ARGS)
	@echo; echo '== the trace, its first lines (build/cairn dump)'
	@$(B)/cairn dump $(B)/last.log | sed -n '1,24p'
	@echo; echo '== the totals (build/cairn stat)'
	@$(B)/cairn stat $(B)/last.log
gdb: all
	CAIRN_BUILD=$(B) ./run-qemu.sh --gdb $(RUN_ARGS)
image: $(B)/cairn.img
$(B)/cairn.img: tools/image.sh $(B)/BOOTX64.EFI $(B)/kernel.elf $(B)/cairn-options FORCE
	$(if $(filter command,$(origin config)),$(error config=: the options of a stick are CONFIG=, in capitals))
	@$(B)/cairn-options check $(CONFIG)
	tools/image.sh $@ $(B)/BOOTX64.EFI $(B)/kernel.elf $(CONFIG)

# ---- tests. Suites are found by their names: tests/unit/test_*.c are cmocka programs (ASan, UBSan), one each, with the
# other files there as shared support; tests/*/test_*.py are pytest's. tests/*/local.mk and tools/*/local.mk may add
# rules, prerequisites of `test-products` (what tests need built), what bench, bench-gate, fuzz and fuzz-replay do, and
# SUITES: targets that print `PASS|FAIL|SKIP: name: text` lines.
UNIT := $(UNIT_C:tests/unit/%.c=$(B)/unit/%)
$(B)/unit/%: $(B)/san/tests/unit/%.o $(UNIT_SUPPORT_C:%.c=$(B)/san/%.o) $(B)/san/libshared.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lm $(UNIT_LIBS)
unit: $(UNIT)
	@set -e; for t in $(UNIT); do echo "== $$t"; $$t; done
test-products: all $(UNIT)
SUITES := lint golden-check bench-gate fuzz-replay
test: test-products
	@$(PYTHON) tests/run.py --build $(B) $(SUITES)
test-ci test-all: test-products
	-@$(MAKE) --no-print-directory deps-ds # where that fails, so do the tests that need it
	@$(PYTHON) tests/run.py --build $(B) --with-qemu-11 $(if $(filter test-all,$@),--all fuzz) $(SUITES)
test-ds: all
	@$(PYTHON) tests/run.py --build $(B) --only qemu_ds
test-linux: all
	@$(PYTHON) tests/run.py --build $(B) --only linux
bench bench-gate fuzz fuzz-replay: all
lint:
	@tools/lint.sh

-include $(sort $(wildcard tests/*/local.mk tools/*/local.mk))

define HELP
make deps      install what build and tests need (apt), or say what is missing;
               with goals such as run, what these need
make deps-ds   a QEMU that takes qemu-ds, and a Linux guest for it, into
               build/qemu11 and build/linux (no root; 250 MB, some minutes)
make           kernel, loader and tools into build/, with map and listing
make run       boot in QEMU, then show the trace and its totals;
               RUN_ARGS='--smp 2 workload=hogs'
make test      all suites but the next two, under ten minutes
make test-ds   Cairn under qemu-ds, and test-linux: Debian's kernel and perf;
               2 minutes each (busy host: 20); both need 'make deps-ds'
make test-ci   all three, as continuous integration; make test-all: the long
               tests, too, and fuzzing
make bench     figures, one a line, and build/bench.json
make soak      Linux and Cairn under qemu-ds for 20 minutes (SOAK_MINUTES=)
make fuzz      one minute of fuzzing, shared by all fuzzers
make lint      shellcheck and the rules of the house
make tools     the host tools alone
make install   cairn, its manual page and completions for bash, zsh and fish
               (PREFIX=/usr/local, DESTDIR=); make uninstall
make image     build/cairn.img for a USB stick;
               CONFIG='workload=hogs seconds=5 end=halt'
               SIGN_KEY=db.key SIGN_CERT=db.crt: signed for Secure Boot
make gdb       boot and wait for a debugger
make screenshot   docs/images/view.png, the README's picture (needs Chromium)
make screen-picture   docs/images/screen.png, of a boot with a screen;
               PICTURE=FILE.png: another file
make docs      docs/options.md from the option table
make clean     remove build/
Variables: CC=gcc-13, EXTRA_CFLAGS=..., V=1 (show the commands),
B=build-DIR (another build directory: git ignores what begins with build)
endef
help:
	$(info $(HELP))@:
clean:
	rm -rf $(B)
FORCE:
.SECONDARY:
-include $(shell find $(B) -path $(B)/qemu11 -prune -o -path $(B)/linux -prune -o -name '*.d' -type f -print \
                      2>/dev/null)
.PHONY: all kernel loader tools manual install uninstall docs run gdb image unit test-products test test-ds test-linux \
        test-ci test-all bench bench-gate fuzz lint help clean FORCE
endif
