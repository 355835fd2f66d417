# SPDX-License-Identifier: MIT
# What the boots of the tests need: the mutants, and the probe kernel (probe.c) of the loader's tests. No
# stack protector: nothing sets its guard there.
$(B)/probe.elf: tests/boot/probe.c tests/boot/probe.ld boot/info.h $(B)/flags
	@mkdir -p $(B)
	$(call say,LINK)
	$(Q)$(CC) $(KCFLAGS) -fno-stack-protector -MMD -MP -MT $@ -MF $(B)/probe.d -c $< -o $(B)/probe.o
	$(Q)$(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack -T tests/boot/probe.ld -o $@ $(B)/probe.o
# The picture of the screen in docs/explain/boot.md. No test compares it: it has the times of a run in it.
PICTURE := docs/images/screen.png
screen-picture: all
	@echo 'a boot with a screen, its picture to $(PICTURE): nothing is shown until its SUMMARY, up to some minutes'
	CAIRN_BUILD=$(B) $(PYTHON) tests/boot/screen_picture.py $(PICTURE) --smp 4 truth=1 workload=mix
.PHONY: screen-picture
# Moves a machine's screen beyond 4 GiB, and starts the loader: test_screen.py.
$(B)/high-screen.objects: OBJECTS = $(B)/loader/tests/boot/high_screen.o
$(B)/high-screen.efi: $(B)/loader/tests/boot/high_screen.o $(B)/high-screen.objects $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/high-screen,$<)
$(B)/loader/tests/boot/high_screen.o: | gnu-efi
# The kernel's QR codes as pictures: test_card.py.
$(B)/qr-picture: $(B)/host/tests/boot/qr_picture.o $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^
test-products: $(B)/probe.elf $(B)/high-screen.efi $(B)/qr-picture
