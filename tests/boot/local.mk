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
# EFI programs that change the machine, and start what a test boots (load_next.h): $(call starter,NAME,SOURCE)
define starter
$(B)/$(1).objects: OBJECTS = $(B)/loader/tests/$(2).o
$(B)/$(1).efi: $(B)/loader/tests/$(2).o $(B)/$(1).objects $(B)/loader.signer
	$$(call say,LINK)
	$$(call link_efi,$(B)/$(1),$$<)
$(B)/loader/tests/$(2).o: | gnu-efi
test-products: $(B)/$(1).efi
endef
$(eval $(call starter,high-screen,boot/high_screen))
# The kernel's QR codes as pictures: test_card.py.
$(B)/qr-picture: $(B)/host/tests/boot/qr_picture.o $(B)/host/libshared.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^
test-products: $(B)/probe.elf $(B)/qr-picture
