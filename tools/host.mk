# SPDX-License-Identifier: MIT
# The host tools: plain (build/host), and with sanitizers (build/san) for the tests.
CAIRN_LIBS := -ldw -lelf -lcapstone -lprotobuf-c -lsqlite3 -lexpat -lm

# The messages of a Perfetto trace, made into C.
PF_PROTO := tools/cairn/export/perfetto/perfetto.proto
PF_C     := $(B)/gen/perfetto.pb-c.c
$(PF_C) $(PF_C:.c=.h) &: $(PF_PROTO)
	@mkdir -p $(@D)
	$(call say,PROTOC)
	$(Q)protoc-c --proto_path=$(dir $(PF_PROTO)) --c_out=$(@D) $(notdir $(PF_PROTO))
PF_USERS := $(wildcard tools/cairn/export/perfetto/*.c) tests/fuzz/formats.c tests/unit/cairn/test_perfetto.c
$(foreach p,host san fuzz,$(PF_USERS:%.c=$(B)/$p/%.o)): | $(PF_C:.c=.h)
# What takes in the page of `cairn export --to html`, and the tables of `--to sqlite`.
$(foreach p,host san fuzz,$(B)/$p/tools/cairn/export/html/page.o): $(wildcard tools/cairn/export/html/page/*)
$(foreach p,host san fuzz,$(B)/$p/tools/cairn/export/sqlite/sql.o): $(wildcard tools/cairn/export/sqlite/*.sql)

# Two libraries of each kind: what kernel and loader share with the host, and the tool without its main.
libcairn := $(patsubst %.c,%.o,$(filter-out tools/cairn/main.c,$(CAIRN_C))) perfetto.pb-c.o
define libraries
$(B)/$(1)/libshared.a: $(SHARED_C:%.c=$(B)/$(1)/%.o) $(B)/libshared.objects
$(B)/$(1)/libcairn.a: $(addprefix $(B)/$(1)/,$(libcairn)) $(B)/libcairn.objects
$(B)/$(1)/libshared.a $(B)/$(1)/libcairn.a:
	@rm -f $$@; $(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach p,host san fuzz,$(eval $(call libraries,$p)))
$(B)/libshared.objects: OBJECTS = $(SHARED_C)
$(B)/libcairn.objects:  OBJECTS = $(libcairn)

# Rows (kernel/lib/rows.h) of options, of the driver and of the model, whose presets the tool knows, are linked by name:
# nobody refers to them, so that a library would keep them.
MODEL_ROWS_C := $(call c_of,$(filter-out %/model %/memory %/variant,$(MODEL))) $(EVENT_C)

# PROGRAM: objects and libraries
$(B)/cairn: $(B)/host/tools/cairn/main.o $(MODEL_ROWS_C:%.c=$(B)/host/%.o) $(B)/host/libcairn.a $(B)/libcairn-pebs.a \
            $(B)/host/libshared.a
$(B)/cairn-manual: $(patsubst %.c,$(B)/host/%.o,$(call c_of,tools/manual)) $(B)/host/libcairn.a $(B)/host/libshared.a
OPTIONS_O := $(patsubst %.c,$(B)/host/%.o,$(call c_of,tools/options) \
             $(addprefix tools/cairn/base/,nearest.c pager.c printable.c slice.c wrap.c))
DS_ROWS_C := $(call c_of,ds/pebs23 ds/errata ds/events ds/in_use ds/lbr ds/throttle ds/trial) $(MODEL_ROWS_C)
ROWS_C    := $(sort $(wildcard kernel/*/options.c)) $(DS_ROWS_C)
$(B)/rows.objects: OBJECTS = $(ROWS_C)
$(B)/cairn-options: $(OPTIONS_O) $(ROWS_C:%.c=$(B)/host/%.o) $(B)/host/libshared.a $(B)/rows.objects
$(B)/cairn $(B)/cairn-manual $(B)/cairn-options:
	$(call say,LINK)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(CAIRN_LIBS)
$(B)/san/cairn: $(B)/san/tools/cairn/main.o $(MODEL_ROWS_C:%.c=$(B)/san/%.o) $(B)/san/libcairn.a \
                $(B)/san/libshared.a
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^ $(CAIRN_LIBS)

# What is installed beside the tool, made from its tables.
manual: $(addprefix $(B)/,cairn.1 cairn.bash _cairn cairn.fish)
$(B)/cairn.1: FORMAT := man
$(B)/cairn.bash: FORMAT := bash
$(B)/_cairn: FORMAT := zsh
$(B)/cairn.fish: FORMAT := fish
$(B)/cairn.1 $(B)/cairn.bash $(B)/_cairn $(B)/cairn.fish: $(B)/cairn-manual
	$(Q)$< $(FORMAT) > $@
tools: $(B)/cairn $(B)/cairn-options manual
docs: $(B)/cairn-options
	$< docs > docs/reference/options.md
.PHONY: manual docs
