# SPDX-License-Identifier: MIT
# make lab-log N=11 LOG=my.log PROGRAM=prog: your functions on a log of cairn grab. They are compiled as for the kernel;
# -no-pie, since kernel objects are not position independent.
$(OUT)/on-log: $(B)/host/labs/11-which-line/on_log.o $(OUT)/kernel/code.o $(B)/host/libcairn.a $(B)/host/libshared.a
	$(Q)$(CC) -no-pie -o $@ $^ -lexpat
lab-log: $(OUT)/on-log
	$(if $(and $(LOG),$(PROGRAM)),,$(error make lab-log: which log, of which program? LOG=my.log PROGRAM=prog))
	@nm -S "$(PROGRAM)" >$(OUT)/variables && $(OUT)/on-log "$(LOG)" <$(OUT)/variables
.PHONY: lab-log
