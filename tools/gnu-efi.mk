# SPDX-License-Identifier: MIT
# Where GNU-EFI is, in the paths of Debian, Fedora, Arch and SUSE; what the loader is compiled and linked with; and the
# signature by your own key and certificate (PEM) for Secure Boot: docs/reference/hardware.md, section 2.
SIGN_KEY  :=
SIGN_CERT :=

EFI_ROOTS := $(addprefix /usr/,lib lib/gnuefi/x64 lib64/gnuefi/x64 lib/gnuefi lib64/gnuefi lib64 local/lib)
EFI_INC   := $(firstword $(wildcard /usr/include/efi /usr/local/include/efi))
efi_file   = $(firstword $(wildcard $(foreach name,$(1),$(addsuffix /$(name),$(EFI_ROOTS)))))
EFI_CRT0  := $(call efi_file,crt0-efi-x86_64.o crt0-efi-x64.o)
EFI_LDS   := $(call efi_file,elf_x86_64_efi.lds elf_x64_efi.lds)
EFI_LIBS  := $(addprefix -L,$(EFI_ROOTS)) -lefi -lgnuefi
EFI_CFLAGS := -fshort-wchar -DGNU_EFI_USE_MS_ABI -isystem $(EFI_INC) -isystem $(EFI_INC)/x86_64
LCFLAGS   := $(COMMON) -ffreestanding -fpic -fno-stack-protector -mno-red-zone -mgeneral-regs-only \
             -maccumulate-outgoing-args -fno-strict-aliasing -fcf-protection=none $(EFI_CFLAGS)
# $(call link_efi,NAME,OBJECTS) makes the target by way of NAME.so, with NAME.map and NAME.lst, and signs it if there
# is a key. objcopy cannot set DllCharacteristics: NX_COMPAT says that no section is both written and executed, which
# firmware with strict rules for memory asks for. The 8 bytes are CheckSum (0: none, as nobody computes it anew),
# Subsystem (10: an application) and that; their place is the PE header's (the dword at 60) + 58H.
define link_efi
$(Q)$(LD) -nostdlib -znocombreloc -shared -Bsymbolic --no-undefined -T $(EFI_LDS) \
    -Map=$(1).map -o $(1).so $(EFI_CRT0) $(2) $(EFI_LIBS)
$(Q)$(OBJDUMP) -d -S --no-show-raw-insn $(1).so > $(1).lst 2>/dev/null
$(Q)$(OBJCOPY) $(addprefix -j ,.text .rodata .sdata .data .dynamic .dynsym .rel .rela .rel.* .rela.* .reloc) \
    --output-target=efi-app-x86_64 --subsystem=10 $(1).so $@
$(Q)printf '\0\0\0\0\12\0\0\1' | \
    dd of=$@ bs=1 seek=$$(($$(od -An -td4 -j60 -N4 $@) + 0x58)) conv=notrunc status=none
$(sign_efi)
endef
gnu-efi:
	$(if $(and $(EFI_INC),$(EFI_CRT0),$(EFI_LDS)),,$(error GNU-EFI is not there: run 'make deps'))
.PHONY: gnu-efi

# How programs are linked and who signs them are inputs, too.
$(B)/loader.signer: FORCE
	$(call changed,$(shell cksum < tools/gnu-efi.mk) $(SIGN_KEY) $(SIGN_CERT) \
	    $(if $(SIGN_CERT),$(shell cksum < '$(SIGN_CERT)')))
sign_efi = $(if $(SIGN_KEY)$(SIGN_CERT),@tools/sign.sh '$(SIGN_KEY)' '$(SIGN_CERT)' $@)
