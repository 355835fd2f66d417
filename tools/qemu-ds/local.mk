# SPDX-License-Identifier: MIT
# qemu-ds, the Debug Store for QEMU. `make deps-ds` brings the QEMU it needs and the Linux guest of its tests.
deps-ds:
	@tools/qemu-ds/deps.sh --to $(B)
.PHONY: deps-ds

# The plugin: the model as it is, and no libraries: QEMU brings GLib and its own functions.
QDS_C := $(sort $(wildcard tools/qemu-ds/*.c)) $(sort $(wildcard ds/model/*.c)) ds/insn.c ds/retired.c
QDS_O := $(QDS_C:%.c=$(B)/qemu-ds/%.o)
$(B)/qemu-ds.objects: OBJECTS = $(QDS_O)
$(B)/qemu-ds/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(HCFLAGS) -fPIC -fvisibility=hidden $(DEPFLAGS) -c $< -o $@
$(B)/qemu-ds.so: $(QDS_O) $(B)/qemu-ds.objects
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@ $(QDS_O) -pthread
qemu-ds: $(B)/qemu-ds.so
ifeq ($(shell uname),Linux) # elsewhere linkers want to know where QEMU's functions are
tools: qemu-ds
endif
.PHONY: qemu-ds

# Of the plugin what needs no QEMU.
$(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_qemu_ds_*.c)): \
    $(addprefix $(B)/san/tools/qemu-ds/,counting.o options.o)
