# SPDX-License-Identifier: MIT
# cairn-report.efi: the report of a machine, by an EFI program that stays inside boot services. It has the driver's
# detection, the probe and what they need; its tables (kernel/lib/rows.h) are gathered into .data, which is where the
# linker script of GNU-EFI wants what is written.
REPORT_ROOMS := ds/driver ds/errata ds/events ds/in_use ds/lbr ds/pebs23 ds/probe ds/throttle ds/trial ds/policy/table \
                boot/save tools/report
REPORT_C := $(call c_of,$(REPORT_ROOMS)) $(EVENT_C) boot/config/config.c boot/file.c boot/firmware.c boot/memory.c \
            $(addprefix arch/firmware/,acpi_tables.c smbios/smbios.c) \
            $(addprefix kernel/card/,processor.c qr.c words.c) \
            $(addprefix kernel/lib/,crc32c.c format.c string.c number.c)
REPORT_O := $(patsubst %.c,$(B)/loader/%.o,$(REPORT_C)) \
            $(patsubst %.asm,$(B)/loader/%.asm.o,$(call asm_of,$(REPORT_ROOMS)) arch/fixup.asm) $(B)/report/hello.o
$(B)/report.objects: OBJECTS = $(REPORT_O)
$(B)/report/hello.o: labs/00-hello/hello.c tools/report/hello.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(FLAGS_loader) -DREPORT_HELLO -include tools/report/hello.h -MMD -MP -MF $(@:.o=.d) -c $< -o $@
$(B)/report/all.o: $(REPORT_O) tools/report/rows.ld $(B)/report.objects
	@mkdir -p $(@D)
	$(Q)$(LD) -r -z noexecstack -T tools/report/rows.ld -o $@ $(REPORT_O)
	$(Q)$(OBJCOPY) --weaken-symbol memcpy --weaken-symbol memset $@ # GNU-EFI has them, too
$(B)/cairn-report.efi: $(B)/report/all.o $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/cairn-report,$<)
$(REPORT_O): | gnu-efi
report: $(B)/cairn-report.efi
all: report

# make stick: what is to be on a USB stick, as it is copied there: docs/how-to/laptop.md. The same files make the same
# archive: they have no date.
STICK := $(B)/stick
stick: $(B)/cairn-stick.zip
$(B)/cairn-stick.zip: $(B)/cairn-report.efi $(B)/BOOTX64.EFI $(B)/kernel.elf $(wildcard tools/report/stick/*)
	$(call say,ZIP)
	$(Q)rm -rf $(STICK) $@ && mkdir -p $(STICK)/EFI/BOOT $(STICK)/cairn
	$(Q)cp $(B)/cairn-report.efi $(STICK)/EFI/BOOT/BOOTX64.EFI && cp $(B)/BOOTX64.EFI $(STICK)/cairn/loader.efi && \
	    cp $(B)/kernel.elf $(STICK)/ && cp tools/report/stick/*.cfg $(STICK)/cairn/ && \
	    cp tools/report/stick/READ-ME.txt $(STICK)/
	$(Q)find $(STICK) -exec touch -d 1980-01-02 {} + && cd $(STICK) && python3 -m zipfile -c ../$(@F) *
.PHONY: report stick
