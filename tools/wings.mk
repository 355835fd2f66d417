# SPDX-License-Identifier: MIT
# make nucleus: the kernel without its wings (tools/wings), in a folder that run-qemu.sh takes. WITH="NAME ..." keeps
# some of them: soft, unless told otherwise, so that there are records to see where no processor makes them. NUCLEUS=DIR
# is another folder. Objects are those of the whole kernel: what is left out is not linked.
WITH    := soft
NUCLEUS := $(B)/nucleus
WINGS   := $(shell awk -F ' *[|] *' 'NF >= 4 { print $$1 }' tools/wings)
$(foreach w,$(filter-out $(WINGS),$(WITH)),$(error WITH=$(w): there is no such wing; there are $(WINGS)))
needs_of = $(shell awk -F ' *[|] *' '$$1 == "$(1)" { print $$5 }' tools/wings)
$(foreach w,$(WITH),$(foreach n,$(filter-out $(WITH),$(call needs_of,$w)),$(error WITH=$w: it needs $n: give both)))
$(if $(filter $(B),$(NUCLEUS)),$(error NUCLEUS=$(B): that is the whole kernel's: name another folder))
LEFT_OUT := $(filter-out $(WITH),$(WINGS))
rooms_of  = $(shell awk -F ' *[|] *' -v of=' $(1) ' 'NF >= 4 && index(of, " "$$1" ") { print $$2 }' tools/wings)
without   = $(filter-out $(foreach p,kernel ring3 host loader,$(patsubst %,$(B)/$p/%/%,\
              $(filter-out $(call rooms_of,$(filter-out $(1),$(WINGS))),$(call rooms_of,$(1))))),$(2))
in_nucleus = $(call without,$(LEFT_OUT),$(1))

nucleus: $(addprefix $(NUCLEUS)/,kernel.elf BOOTX64.EFI cairn-options) $(B)/cairn
	@ln -sfn $(addprefix $(abspath $(B))/,cairn qemu-ds.so qemu11) $(NUCLEUS)
$(NUCLEUS)/kernel.objects: OBJECTS = $(call in_nucleus,$(KERNEL_O))
$(NUCLEUS)/loader.objects: OBJECTS = $(call in_nucleus,$(LOADER_O))
$(addprefix $(NUCLEUS)/,kernel.objects loader.objects): FORCE
	$(call changed,$(OBJECTS))
$(NUCLEUS)/BOOTX64.EFI: $(call in_nucleus,$(LOADER_O)) $(NUCLEUS)/loader.objects $(B)/loader.signer
	@rm -f $@ # of a build before this one it may be a link
	$(call say,LINK)
	$(call link_efi,$(NUCLEUS)/loader,$(filter %.o,$^))
$(NUCLEUS)/kernel.elf: $(call in_nucleus,$(KERNEL_O)) $(NUCLEUS)/absent.kernel.o arch/kernel.ld \
                       $(NUCLEUS)/kernel.objects
	$(call say,LINK)
	$(call link_kernel,$@,$(filter %.o,$^))
$(NUCLEUS)/cairn-options: $(OPTIONS_O) $(call in_nucleus,$(ROWS_C:%.c=$(B)/host/%.o)) $(NUCLEUS)/absent.host.o \
                          $(B)/host/libshared.a $(NUCLEUS)/kernel.objects
	$(call say,LINK)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(CAIRN_LIBS)

# A nucleus refuses the options of missing wings by name. The message says which WITH= has them: the wings that this
# one has, the missing one and those that it needs.
$(NUCLEUS)/absent.c: tools/wings $(NUCLEUS)/kernel.objects
	$(Q)awk -F ' *[|] *' -v out=' $(LEFT_OUT) ' -v have='$(WITH)' 'BEGIN { print "#include \"kernel/options/row.h\"" } \
	    NF >= 4 && index(out, " "$$1" ") { \
	        with = $$1; split(have " " $$5, more, " "); \
	        for (i in more) if (!index(" " with " ", " " more[i] " ")) with = more[i] " " with; \
	        if (with ~ / /) with = "\\\"" with "\\\""; \
	        for (i = split($$3, word, " "); i; i--) printf "static const struct kopt_absent absent_%d" \
	            " = {\"%s\", \"%s\", \"%s\"};\nROWS_ADD(kopt_absent, absent_%d);\n", \
	            ++n, word[i], $$1, with, n }' tools/wings > $@
$(NUCLEUS)/absent.kernel.o: $(NUCLEUS)/absent.c $(B)/flags
	$(call compile,kernel)
$(NUCLEUS)/absent.host.o: $(NUCLEUS)/absent.c $(B)/flags
	$(call compile,host)
loc: nucleus
	@tools/loc.sh $(B) $(NUCLEUS) '$(call without,$(WINGS),$(KERNEL_O) $(LOADER_O))'
-include $(wildcard $(NUCLEUS)/*.d)
test-products: nucleus
.PHONY: nucleus loc
