# SPDX-License-Identifier: MIT
# make teacher: what a teacher has and students do not. The release leaves this folder out (.gitattributes).
TEACHER := $(B)/teacher
teacher: $(B)/cairn-teacher.zip
$(B)/cairn-teacher.zip: $(wildcard tools/teacher/*.md tools/teacher/*.csv) LICENSE $(B)/playground.html
	$(call say,ZIP)
	$(Q)rm -rf $(TEACHER) $@ && mkdir -p $(TEACHER) && cp $^ $(TEACHER)/
	$(Q)find $(TEACHER) -exec touch -d 1980-01-02 {} + && cd $(TEACHER) && python3 -m zipfile -c ../$(@F) *
.PHONY: teacher
