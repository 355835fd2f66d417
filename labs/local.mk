# SPDX-License-Identifier: MIT
# What labs/ builds.
$(B)/hello.objects: OBJECTS = $(B)/loader/labs/00-hello/hello.o
$(B)/hello.efi: $(B)/loader/labs/00-hello/hello.o $(B)/hello.objects $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/hello,$<)
$(B)/loader/labs/00-hello/hello.o: | gnu-efi
hello: $(B)/hello.efi
all: hello
.PHONY: hello
