# SPDX-License-Identifier: MIT
# Kernels that lie in one way each, which 'cairn check' or the kernel's own tests notice. A mutant is the kernel, linked
# with a file of this folder that wraps one function (ld --wrap): calls of it from other files go through that file.
MUTANTS := 1 2 3 4 5 6 7
define mutant
$(B)/mutant$(1)/kernel.elf: $(KERNEL_O) $(B)/kernel/tests/mutants/$(2).o arch/kernel.ld $(B)/kernel.objects
	@mkdir -p $$(@D)
	$$(call say,LINK)
	$$(call link_kernel,$$@,$$(filter %.o,$$^) --wrap=$(3))
endef
$(eval $(call mutant,1,thread,trace_hub_switch))
$(eval $(call mutant,2,skip,trace_hub_switch))
$(eval $(call mutant,3,cpus,trace_hub_init))
$(eval $(call mutant,4,stamp,ksession_start_all))
$(eval $(call mutant,5,register,trace_hub_event))
$(eval $(call mutant,6,count,ds_cpu_counts))
$(eval $(call mutant,7,rundown,trace_hub_event_to))
mutants: $(MUTANTS:%=$(B)/mutant%/kernel.elf)
.PHONY: mutants
test-products: mutants
