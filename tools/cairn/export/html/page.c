/* SPDX-License-Identifier: MIT */
/* The files of tools/cairn/export/html/page, unchanged, in the order in which the page has them. */
#include <string.h>

#include "tools/cairn/export/html/html.h"

/* The assembler's: C17 has nothing that takes in a file. The Makefile knows that this depends on them. */
#define FILE_AS(symbol, path)                                                                                          \
    __asm__(".pushsection .rodata\n" #symbol ":\n"                                                                     \
            ".incbin \"tools/cairn/export/html/page/" path "\"\n.byte 0\n.popsection\n");                              \
    extern const char symbol[] __attribute__((visibility("hidden")));

FILE_AS(cairn_html_view_css, "view.css")
FILE_AS(cairn_html_view_html, "view.html")

/* clang-format off */
#define SCRIPTS(S)                                                                                                     \
    S(read) S(spans) S(tracks) S(time) S(theme) S(draw) S(bytes) S(details) S(summary) S(find) S(lanes)                \
    S(keys) S(pointer) S(view) S(start)
/* clang-format on */
#define SCRIPT(name) FILE_AS(cairn_html_##name##_js, #name ".js")
SCRIPTS(SCRIPT)
#undef SCRIPT

const char cairn_html_begins[] = "<!DOCTYPE html>\n<!-- cairn export --to html";

void cairn_html_head(FILE *to)
{
    fputs(cairn_html_begins, to);
    fputs(" " CAIRN_VERSION " -->\n", to);
    /* The browser itself sees to it that nothing is fetched from anywhere. */
    fputs("<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src "
          "'unsafe-inline'\">\n<style>\n",
          to);
    fputs(cairn_html_view_css, to);
    fputs("</style>\n", to);
    fputs(cairn_html_view_html, to);
}

void cairn_html_tail(FILE *to)
{
    static const struct {
        const char *name, *text;
    } scripts[] = {
#define SCRIPT(name) {#name, cairn_html_##name##_js},
        SCRIPTS(SCRIPT)
#undef SCRIPT
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        fprintf(to, "<script>\n%s//# sourceURL=%s.js\n</script>\n", scripts[i].text, scripts[i].name);
    fputs("</body></html>\n", to);
}
