/* SPDX-License-Identifier: MIT */
#include "kernel/card/qr.h"

#include <stdbool.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define VERSIONS   20u
#define CODEWORDS  1085u /* of version 20 */
#define MOST_CHECK 30u   /* error correction codewords of a block */

/* Bits of a module. */
#define DARK     1u
#define FUNCTION 2u /* of a pattern, not of the data: no mask changes it */

/* "Error correction characteristics", level M: codewords of a version, blocks, and error correction codewords of each
 * block. "Row/column coordinates of center module of alignment patterns": the second, where there are three or more. */
static const struct {
    uint16_t codewords;
    uint8_t blocks, check, second;
} versions[VERSIONS + 1] = {
    {0, 0, 0, 0},      {26, 1, 10, 0},    {44, 1, 16, 0},     {70, 1, 26, 0},    {100, 2, 18, 0},   {134, 2, 24, 0},
    {172, 4, 16, 0},   {196, 4, 18, 22},  {242, 4, 22, 24},   {292, 5, 22, 26},  {346, 5, 26, 28},  {404, 5, 30, 30},
    {466, 8, 22, 32},  {532, 9, 22, 34},  {581, 9, 24, 26},   {655, 10, 24, 26}, {733, 10, 28, 26}, {815, 11, 28, 30},
    {901, 13, 26, 30}, {991, 14, 26, 30}, {1085, 16, 26, 34},
};

static uint32_t data_codewords(unsigned version)
{
    return versions[version].codewords - (uint32_t)versions[version].blocks * versions[version].check;
}

/* ---- codewords --------------------------------------------------------------------------------------------------- */

struct bits {
    uint8_t *bytes; /* zeroed */
    uint32_t count;
};

static void put_bits(struct bits *b, uint32_t value, unsigned count)
{
    for (; count; count--, b->count++)
        b->bytes[b->count / 8] |= (uint8_t)((value >> (count - 1) & 1) << (7 - b->count % 8));
}

/* "Byte mode", then "Terminator" and pad codewords. */
static void put_data(uint8_t *data, unsigned version, const char *text, size_t size)
{
    const uint32_t room = data_codewords(version);
    struct bits b = {data, 0};
    put_bits(&b, 4, 4);
    put_bits(&b, (uint32_t)size, version < 10 ? 8 : 16);
    for (size_t i = 0; i < size; i++)
        put_bits(&b, (uint8_t)text[i], 8);
    const uint32_t used = (b.count + 4 + 7) / 8 < room ? (b.count + 4 + 7) / 8 : room;
    for (uint32_t i = used; i < room; i++)
        data[i] = (i - used) % 2 ? 0x11 : 0xEC;
}

/* In GF(256), polynomial x^8 + x^4 + x^3 + x^2 + 1. */
static uint8_t multiply(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (unsigned bit = 8; bit--;) {
        product = product << 1 ^ (product >> 7) * 0x11D;
        product ^= (b >> bit & 1) * a;
    }
    return (uint8_t)product;
}

/* Reed-Solomon: the remainder of data * x^count by the product of (x - 2^i), i below `count`. */
static void put_check(uint8_t *check, unsigned count, const uint8_t *data, uint32_t size)
{
    uint8_t generator[MOST_CHECK + 1] = {1}, root = 1; /* without the 1 of x^count, highest power first */
    for (unsigned i = 0; i < count; i++, root = multiply(root, 2))
        for (unsigned k = i + 1; k; k--)
            generator[k] ^= multiply(generator[k - 1], root);
    memset(check, 0, count);
    for (uint32_t i = 0; i < size; i++) {
        const uint8_t factor = data[i] ^ check[0];
        memmove(check, check + 1, count - 1);
        check[count - 1] = 0;
        for (unsigned k = 0; k < count; k++)
            check[k] ^= multiply(generator[k + 1], factor);
    }
}

/* "Constructing the final message codeword sequence": the blocks' first codewords, their second ones, and so on, of the
 * data, then of the error correction. The last blocks have one codeword of data more where they are not all alike. */
static void interleave(uint8_t *out, const uint8_t *data, unsigned version)
{
    const uint32_t blocks = versions[version].blocks, check = versions[version].check, all = data_codewords(version);
    const uint32_t less = all / blocks, longer = all % blocks;
    for (uint32_t block = 0, at = 0; block < blocks; block++) {
        const uint32_t size = less + (block >= blocks - longer);
        uint8_t c[MOST_CHECK];
        put_check(c, check, data + at, size);
        for (uint32_t i = 0; i < less; i++)
            out[i * blocks + block] = data[at + i];
        if (size > less)
            out[less * blocks + block - (blocks - longer)] = data[at + less];
        for (uint32_t i = 0; i < check; i++)
            out[all + i * blocks + block] = c[i];
        at += size;
    }
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static void set(struct qr *q, uint32_t row, uint32_t column, bool dark)
{
    q->module[row][column] = (uint8_t)(FUNCTION | (dark ? DARK : 0));
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Squares around a centre: dark but for those of ring 2 and, with the separator, 4. */
static void put_squares(struct qr *q, uint32_t row, uint32_t column, uint32_t rings)
{
    for (uint32_t r = row > rings ? row - rings : 0; r <= row + rings && r < q->size; r++)
        for (uint32_t c = column > rings ? column - rings : 0; c <= column + rings && c < q->size; c++) {
            const uint32_t vertical = distance(r, row), horizontal = distance(c, column);
            const uint32_t ring = vertical > horizontal ? vertical : horizontal;
            set(q, r, c, rings == 2 ? ring != 1 : ring != 2 && ring != 4);
        }
}

static uint32_t alignment(unsigned version, unsigned i, unsigned count)
{
    const uint32_t last = 4 * version + 10, second = versions[version].second;
    return i == 0 ? 6 : i == count - 1 ? last : second + (i - 1) * ((last - second) / (count - 2));
}

static void put_patterns(struct qr *q, unsigned version)
{
    const unsigned count = version / 7 + 2;
    for (uint32_t i = 0; i < q->size; i++) {
        set(q, 6, i, i % 2 == 0);
        set(q, i, 6, i % 2 == 0);
    }
    put_squares(q, 3, 3, 4);
    put_squares(q, 3, q->size - 4, 4);
    put_squares(q, q->size - 4, 3, 4);
    for (unsigned i = 0; version > 1 && i < count; i++)
        for (unsigned k = 0; k < count; k++)
            if ((i || (k && k < count - 1)) && (k || i < count - 1)) /* not where a finder pattern is */
                put_squares(q, alignment(version, i, count), alignment(version, k, count), 2);
}

/* The bits of `value`, then the remainder by this polynomial of that degree. */
static uint32_t bch(uint32_t value, uint32_t polynomial, unsigned degree)
{
    uint32_t rest = value << degree;
    for (unsigned bit = 31; bit >= degree; bit--)
        if (rest >> bit & 1)
            rest ^= polynomial << (bit - degree);
    return value << degree | rest;
}

/* "Format information", both times, and the module that is always dark. Level M is 0. */
static void put_format(struct qr *q, unsigned mask)
{
    const uint32_t bits = bch(mask, 0x537, 10) ^ 0x5412, last = q->size - 1;
    for (unsigned i = 0; i < 15; i++) {
        const bool dark = bits >> i & 1;
        set(q, i < 6 ? i : i < 8 ? i + 1 : last - 14 + i, 8, dark);
        set(q, 8, i < 8 ? last - i : i < 9 ? 7 : 14 - i, dark);
    }
    set(q, last - 7, 8, true);
}

/* "Version information", both times. */
static void put_version(struct qr *q, unsigned version)
{
    const uint32_t bits = bch(version, 0x1F25, 12);
    for (unsigned i = 0; version >= 7 && i < 18; i++) {
        set(q, i / 3, q->size - 11 + i % 3, bits >> i & 1);
        set(q, q->size - 11 + i % 3, i / 3, bits >> i & 1);
    }
}

/* "Symbol character placement": two columns at a time from the right, upwards and downwards in turn. */
static void put_codewords(struct qr *q, const uint8_t *codewords, uint32_t count)
{
    uint32_t bit = 0;
    bool up = true;
    for (uint32_t right = q->size - 1; right; right = right == 8 ? 5 : right >= 2 ? right - 2 : 0, up = !up)
        for (uint32_t i = 0; i < q->size; i++)
            for (uint32_t k = 0; k < 2; k++) {
                uint8_t *m = &q->module[up ? q->size - 1 - i : i][right - k];
                if (*m & FUNCTION)
                    continue;
                *m = bit / 8 < count && codewords[bit / 8] >> (7 - bit % 8) & 1 ? DARK : 0;
                bit++;
            }
}

/* "Data mask pattern generation conditions"; a second time takes it away again. */
static void toggle_mask(struct qr *q, unsigned mask)
{
    for (uint32_t i = 0; i < q->size; i++)
        for (uint32_t j = 0; j < q->size; j++) {
            const bool masked[8] = {(i + j) % 2 == 0,
                                    i % 2 == 0,
                                    j % 3 == 0,
                                    (i + j) % 3 == 0,
                                    (i / 2 + j / 3) % 2 == 0,
                                    i * j % 2 + i * j % 3 == 0,
                                    (i * j % 2 + i * j % 3) % 2 == 0,
                                    ((i + j) % 2 + i * j % 3) % 2 == 0};
            if (!(q->module[i][j] & FUNCTION))
                q->module[i][j] ^= masked[mask] ? DARK : 0;
        }
}

/* ---- "Evaluation of data masking results" ------------------------------------------------------------------------ */

static bool dark(const struct qr *q, bool columns, uint32_t line, uint32_t i)
{
    return (columns ? q->module[i][line] : q->module[line][i]) & DARK;
}

/* Runs of five and more, and what looks like a finder pattern: 1011101 with four light modules beside it. */
static uint32_t penalty_of_line(const struct qr *q, bool columns, uint32_t line)
{
    uint32_t penalty = 0, run = 0, last = 0;
    for (uint32_t i = 0; i < q->size; i++) {
        const bool now = dark(q, columns, line, i);
        run = i && now == dark(q, columns, line, i - 1) ? run + 1 : 1;
        penalty += run == 5 ? 3 : run > 5;
        last = (last << 1 | now) & 0x7FF;
        penalty += i >= 10 && (last == 0x05D || last == 0x5D0) ? 40 : 0;
    }
    return penalty;
}

static uint32_t penalty(const struct qr *q)
{
    uint32_t sum = 0, all = 0;
    for (uint32_t i = 0; i < q->size; i++) {
        sum += penalty_of_line(q, false, i) + penalty_of_line(q, true, i);
        for (uint32_t j = 0; j < q->size; j++) {
            const bool now = dark(q, false, i, j);
            all += now;
            if (i && j && dark(q, false, i - 1, j) == now && dark(q, false, i, j - 1) == now &&
                dark(q, false, i - 1, j - 1) == now)
                sum += 3; /* a block of two by two */
        }
    }
    return sum + distance(all * 20, q->size * q->size * 10) / (q->size * q->size) * 10; /* far from half: 10 each 5 % */
}

/* ------------------------------------------------------------------------------------------------------------------ */

int kcard_qr(struct qr *q, const char *text, size_t size)
{
    static uint8_t data[CODEWORDS], codewords[CODEWORDS];
    unsigned version = 1, best = 0;
    uint32_t least = UINT32_MAX;
    while (version <= VERSIONS && size + (version < 10 ? 2 : 3) > data_codewords(version)) /* 12 or 20 bits more */
        version++;
    if (version > VERSIONS)
        return -EINVAL;
    memset(q, 0, sizeof *q);
    memset(data, 0, sizeof data);
    q->size = 17 + 4 * version;
    put_data(data, version, text, size);
    interleave(codewords, data, version);
    put_patterns(q, version);
    put_version(q, version);
    put_format(q, 0);
    put_codewords(q, codewords, versions[version].codewords);
    for (unsigned mask = 0; mask < 8; mask++) {
        put_format(q, mask);
        toggle_mask(q, mask);
        const uint32_t now = penalty(q);
        toggle_mask(q, mask);
        if (now < least)
            best = mask;
        least = now < least ? now : least;
    }
    put_format(q, best);
    toggle_mask(q, best);
    return 0;
}
