/* SPDX-License-Identifier: MIT */
/* Lab 5: your decoder. */
#pragma once

#include "host_pair.h"

/* For pair.each: decodes the batch in `right`, and compares it with the switches that are in it. */
void decode_batch(struct pair *p);
/* Random batches, whole and damaged. */
void check_decoder(struct pair *p);
