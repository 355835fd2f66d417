/* SPDX-License-Identifier: MIT */
#include "kernel/card/card.h"

#include "kernel/lib/crc32c.h"
#include "kernel/lib/string.h"

#define LAST_WORDS (sizeof " more=99 sum=0000" - 1) /* the last row has room for them */

static void append(struct card *card, const char *text, size_t size)
{
    memcpy(card->text + card->size, text, size);
    card->size += size;
    card->column += (unsigned)size;
}

static bool add(struct card *card, const char *word, size_t size, size_t kept)
{
    if (card->rows && card->column + 1 + size + (card->rows == CARD_ROWS ? kept : 0) <= CARD_COLUMNS) {
        append(card, " ", 1);
    } else if (card->rows < CARD_ROWS && size + (card->rows + 1 == CARD_ROWS ? kept : 0) <= CARD_COLUMNS) {
        if (card->rows++)
            append(card, "\n", 1);
        card->column = 0;
    } else {
        return false;
    }
    append(card, word, size);
    return true;
}

void kcard_put(struct card *card, const char *name, const char *value)
{
    char word[CARD_COLUMNS];
    const char *quote = strchr(value, ' ') ? "\"" : "";
    size_t size = (size_t)snprintf(word, sizeof word, "%s=%s", name, quote);
    for (; *value && size < CARD_COLUMNS - strlen(quote); value++)
        if (*value != ' ' || value[1] != ' ') /* nobody sees on a photograph how many there are */
            word[size++] = *value >= ' ' && *value <= '~' && *value != '"' ? *value : '?';
    memcpy(word + size, quote, strlen(quote));
    size += strlen(quote);
    if (card->left_out || !add(card, word, size, LAST_WORDS))
        card->left_out++;
}

/* Of the words with one blank between them: where a row ends does not matter. */
static unsigned sum(const struct card *card)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < card->size; i++)
        crc = kcrc32c(crc, card->text[i] == '\n' ? " " : &card->text[i], 1);
    return crc & 0xFFFF;
}

void kcard_end(struct card *card)
{
    char word[16];
    if (card->left_out) {
        snprintf(word, sizeof word, "more=%u", card->left_out < 99 ? card->left_out : 99);
        add(card, word, strlen(word), 0);
    }
    snprintf(word, sizeof word, "sum=%04x", sum(card));
    add(card, word, strlen(word), 0);
    card->text[card->size] = '\n';
}
