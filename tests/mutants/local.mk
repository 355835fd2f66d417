# SPDX-License-Identifier: MIT
# Kernels that lie in one way each (kernel/mutant.h): only the files that look at CAIRN_MUTANT are compiled again.
MUTANT_C := kernel/control.c kernel/hook.c kernel/rundown.c kernel/session.c kernel/workload/known.c
MUTANTS  := 1 2 3 4 5 6 7

define mutant_rules
$(B)/mutant$(1)/%.o: %.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(KCFLAGS) -DCAIRN_MUTANT=$(1) $$(DEPFLAGS) -c $$< -o $$@
$(B)/mutant$(1)/kernel.elf: $(filter-out $(MUTANT_C:%.c=$(B)/kernel/%.o),$(KERNEL_O)) \
                            $(MUTANT_C:%.c=$(B)/mutant$(1)/%.o) arch/kernel.ld
	$$(call say,LINK)
	$$(Q)$$(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack --build-id=sha1 \
	    -T arch/kernel.ld -o $$@.full $$(filter %.o,$$^)
	$$(Q)$$(OBJCOPY) --strip-debug $$@.full $$@
endef
$(foreach m,$(MUTANTS),$(eval $(call mutant_rules,$(m))))
mutants: $(MUTANTS:%=$(B)/mutant%/kernel.elf)
.PHONY: mutants
test-products: mutants
