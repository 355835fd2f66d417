# SPDX-License-Identifier: MIT
# What labs/ builds: hello, and `make lab N=3`: the lab with your code, labs/NN-name/lab.c, in the folder OUT. CODE=FILE
# takes another file, SOLUTION=1 the lab's solution. SEED=77 draws other numbers for the check. DS=hw runs it on the
# processor's Debug Store (in QEMU that of the plugin) instead of the model.
$(B)/hello.objects: OBJECTS = $(B)/loader/labs/00-hello/hello.o
$(B)/hello.efi: $(B)/loader/labs/00-hello/hello.o $(B)/hello.objects $(B)/loader.signer
	$(call say,LINK)
	$(call link_efi,$(B)/hello,$<)
$(B)/loader/labs/00-hello/hello.o: | gnu-efi
hello: $(B)/hello.efi
all: hello

LABS := $(sort $(patsubst labs/%/lab.c,%,$(wildcard labs/*/lab.c)))
LAB  := $(if $(N),$(wildcard labs/$(if $(filter 1 2 3 4 5 6 7 8 9,$(N)),0)$(N)-*))
CODE := $(LAB)/$(if $(SOLUTION),solution.c,lab.c)
OUT  := $(B)/lab/$(notdir $(LAB))/$(basename $(notdir $(CODE)))
DS   := soft
SEED := 1
LAB_CHECK := $(wildcard $(LAB)/check.c)
ifneq ($(filter lab lab-program lab-log,$(MAKECMDGOALS)),)
$(if $(wildcard $(LAB)/lab.c),,$(error make lab N=...: which lab? There are $(LABS)))
$(if $(wildcard $(CODE)),,$(error CODE=$(CODE): there is no such file))
endif
# In a kernel of its own the lab's check has the place of kernel/run.c. On the host the check is a program that gets the
# logs of the boots. Warnings about your code do not stop you.
LAB_MACHINE_O := $(patsubst %,$(B)/kernel/%.o,$(basename $(wildcard labs/machine/*.c)) labs/machine/call.asm \
                   labs/machine/ring3/exit.asm)
LAB_KERNEL_O   = $(filter-out $(B)/kernel/kernel/run.o,$(KERNEL_O)) $(LAB_MACHINE_O) $(LAB_OBJECTS) \
                 $(patsubst %,$(B)/kernel/%.o,$(basename $(wildcard $(LAB)/check*.c)) \
                   $(addsuffix .asm,$(basename $(wildcard $(LAB)/*.asm $(LAB)/ring3/*.asm))))
$(OUT)/code.objects: OBJECTS = $(CODE)
# The course's own right/ and wrong/ rename what they replace of the solution, and so its prototype in task.h.
COURSE := $(if $(filter $(LAB)/right/% $(LAB)/wrong/%,$(CODE)),-Wno-missing-prototypes -Wno-missing-declarations)
# Compiles the student's file: for what, the compiler's flags.
compile_student = $(Q)mkdir -p $(@D) && OBJCOPY=$(OBJCOPY) labs/fence.py $(1) $(LAB) $(CODE) $@ \
                    $(CC) $(filter-out -Werror,$(2)) $(COURSE) -U_FORTIFY_SOURCE -I$(LAB)
$(OUT)/kernel/code.o: $(CODE) $(OUT)/code.objects $(B)/flags labs/fence.py labs/lab.h $(LAB)/task.h
	$(call compile_student,kernel,$(KCFLAGS))
$(OUT)/kernel.elf: $(LAB_KERNEL_O) $(OUT)/kernel/code.o arch/kernel.ld
	$(call link_kernel,$@,$(filter %.o,$^))
$(OUT)/host/code.o: $(CODE) $(OUT)/code.objects $(B)/flags labs/fence.py $(LAB)/task.h
	$(call compile_student,host,$(HCFLAGS) $(SAN))
$(OUT)/check: $(patsubst %.c,$(B)/host/%.o,$(wildcard $(LAB)/host*.c labs/host/*.c)) $(OUT)/host/code.o \
              $(B)/host/libcairn.a $(B)/host/libshared.a
	$(Q)$(CC) $(SAN) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lexpat
lab-program: $(if $(LAB_CHECK),$(OUT)/kernel.elf,$(B)/kernel.elf $(OUT)/check) loader $(B)/cairn \
             $(B)/cairn-options $(if $(filter soft,$(DS)),,$(B)/qemu-ds.so)
lab: lab-program
	@rm -f $(if $(LAB_CHECK),,$(OUT)/kernel.elf)
	@LAB_SEED=$(SEED) labs/run.sh $(LAB) $(OUT) $(B) $(DS)
$(B)/host/labs/05-two-bytes/score.o: FLAGS_host += -Itests/bench
# What all labs share, and their checks: tests run several labs at a time.
lab_o = $(patsubst %,$(B)/$(1)/%.o,$(basename $(wildcard $(2))))
labs: $(LAB_MACHINE_O) $(call lab_o,kernel,labs/[01]*-*/check*.c) \
      $(call lab_o,host,labs/[01]*-*/host*.c labs/[01]*-*/score.c labs/[01]*-*/on_log.c labs/host/*.c) \
      $(patsubst %,$(B)/kernel/%.asm.o,$(basename $(wildcard labs/[01]*-*/*.asm labs/[01]*-*/ring3/*.asm)))
test-products: labs
# What a lab builds beside this.
-include $(if $(LAB),$(wildcard $(LAB)/local.mk))
.PHONY: hello lab lab-program labs
