# SPDX-License-Identifier: MIT
# Kernels that lie in one way each (kernel/tracepoint/mutant.h): only the files that look at CAIRN_MUTANT are compiled
# again.
MUTANT_C := $(shell grep -l CAIRN_MUTANT $(filter-out $(EVENT_C),$(KERNEL_C)))
MUTANTS  := 1 2 3 4 5 6 7
define mutant
FLAGS_mutant$(1) = $$(KCFLAGS) -DCAIRN_MUTANT=$(1)
$(call product,mutant$(1))
$(B)/mutant$(1)/kernel.elf: $(filter-out $(MUTANT_C:%.c=$(B)/kernel/%.o),$(KERNEL_O)) \
                            $(MUTANT_C:%.c=$(B)/mutant$(1)/%.o) arch/kernel.ld
	$$(call say,LINK)
	$$(call link_kernel,$$@,$$(filter %.o,$$^))
endef
$(foreach m,$(MUTANTS),$(eval $(call mutant,$m)))
mutants: $(MUTANTS:%=$(B)/mutant%/kernel.elf)
.PHONY: mutants
test-products: mutants
