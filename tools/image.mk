# SPDX-License-Identifier: MIT
# build/cairn.img for a USB stick. A processor retires some thousand million instructions a second, so a stick needs a
# longer period than an emulator. Counters that firmware has left on are taken, with a warning.
CONFIG := workload=mix switches=5000 pebs=INST_RETIRED.ANY:10000019 ds.force=1 end=halt
image: $(B)/cairn.img
$(B)/cairn.img: tools/image.sh $(B)/BOOTX64.EFI $(B)/kernel.elf $(B)/cairn-report.efi \
                $(B)/cairn-options FORCE
	$(if $(filter command,$(origin config)),$(error config=: the options of a stick are CONFIG=, in capitals))
	@$(B)/cairn-options check $(CONFIG)
	REPORT=$(B)/cairn-report.efi tools/image.sh $@ $(B)/BOOTX64.EFI $(B)/kernel.elf $(CONFIG)
