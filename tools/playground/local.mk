# SPDX-License-Identifier: MIT
# The playground: one machine, compiled for the page (WebAssembly, by clang and lld) and for this host.
PLAY_C    := $(filter-out tools/playground/native.c,$(call c_of,tools/playground))
PLAY_ALSO := $(call c_of,$(MODEL)) ds/soft/insn.c ds/soft/retired.c $(EVENT_C) $(call c_of,tools/pebs)
PLAY_WASM := $(PLAY_C) $(PLAY_ALSO) kernel/lib/format.c tools/playground/wasm/library.c
PLAY_PAGE := tools/playground/page/playground.html $(sort $(wildcard tools/playground/page/*.css)) \
             $(sort $(wildcard tools/playground/page/*.js))

# clang's own warnings are not gcc's: what gcc has accepted with -Werror is compiled here without.
CC_wasm    := clang
FLAGS_wasm := -std=gnu17 -O2 -flto --target=wasm32 -mbulk-memory -ffreestanding -ffile-prefix-map=$(CURDIR)=. \
              -isystem tools/playground/wasm -I. -I$(B)/gen
$(eval $(call product,wasm))
$(B)/playground.objects: OBJECTS = $(PLAY_WASM)
$(B)/playground.wasm: $(PLAY_WASM:%.c=$(B)/wasm/%.o) $(B)/playground.objects
	$(call say,LINK)
	$(Q)clang --target=wasm32 -nostdlib -Wl,--no-entry -Wl,--no-gc-sections -Wl,--strip-all -o $@ $(filter %.o,$^)
$(B)/playground.html: tools/playground/pack.py $(B)/playground.wasm $(PLAY_PAGE)
	$(call say,PAGE)
	$(Q)tools/playground/pack.py $(B)/playground.wasm $(PLAY_PAGE) > $@
playground: $(B)/playground.html
.PHONY: playground

$(B)/playground-native: $(patsubst %.c,$(B)/san/%.o,$(PLAY_C) $(MODEL_ROWS_C) tools/playground/native.c) \
                        $(B)/san/libcairn.a $(B)/san/libshared.a
	$(call say,LINK)
	$(Q)$(CC) $(SAN) -o $@ $^
