# SPDX-License-Identifier: MIT
# qemu-ds, the Debug Store for QEMU. `make deps-ds` brings the QEMU it needs and the Linux guest of its tests.
deps-ds:
	@tools/qemu-ds/deps.sh --to $(B)
.PHONY: deps-ds

# The plugin: the model as it is, and no libraries: QEMU brings GLib and its own functions.
QDS_C := $(call c_of,tools/qemu-ds $(patsubst %/,%,$(wildcard tools/qemu-ds/*/)) $(MODEL)) $(EVENT_C) \
         ds/soft/insn.c ds/soft/retired.c
QDS_O := $(QDS_C:%.c=$(B)/qemu-ds/%.o)
# QDS_LAYOUT: a number for what struct qds_vcpu looks like. Snapshots have it.
FLAGS_qemu-ds := $(HCFLAGS) -fPIC -fvisibility=hidden -DQDS_LAYOUT=$(firstword $(shell cat \
                     ds/{layout,pebs23_layout}.h ds/{model/model,policy/policy,soft/insn}.h \
                     tools/qemu-ds/{counting/counting,vcpu/vcpu,zeros/silent}.h | cksum))u
$(eval $(call product,qemu-ds))
$(B)/qemu-ds.objects: OBJECTS = $(QDS_O)
$(B)/qemu-ds.so: $(QDS_O) $(B)/qemu-ds.objects
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@ $(QDS_O) -pthread
qemu-ds: $(B)/qemu-ds.so
ifeq ($(shell uname),Linux) # elsewhere linkers want to know where QEMU's functions are
tools: qemu-ds
endif
.PHONY: qemu-ds

# Of the plugin what needs no QEMU.
$(filter $(B)/unit/qemu_ds/%,$(UNIT)): $(patsubst %,$(B)/san/tools/qemu-ds/%.o,counting/counting options \
    cpuid/features cpuid/tsc zeros/silent \
    $(addprefix modelled/,access_decode caches memory_options memory_system tlb))
