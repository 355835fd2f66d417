/* SPDX-License-Identifier: MIT */
/* Finds the word that a misspelt one was meant to be. Also part of build/cairn-options. */
#pragma once

#include <stddef.h>

/* The candidates are name(0), name(1), ... until NULL. Returns the one that differs from `word` by the fewest letters
 * changed, added, left out or swapped with the next; NULL if all differ by more than two, or by as many as `word`
 * has letters. Words of 24 letters and more match nothing. */
const char *cairn_nearest(const char *word, const char *(*name)(size_t i, const void *context), const void *context);
