// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and products of doubles as expansions: a number is an unevaluated sum of doubles that do not
// overlap, smallest first, zeros left out [shewchuk1997].
//
// A compressed expansion of doubles has at most 41 components, since its bits span at most 2,098 places and
// each component holds 53. Every operation here compresses its result, so MN_EXPANSION_MAX is a hard bound
// and none of them needs the heap.
#ifndef MENISCUS_BASE_EXPANSION_H
#define MENISCUS_BASE_EXPANSION_H

#include <stdint.h>

enum { MN_EXPANSION_MAX = 48 };

typedef struct mn_expansion {
    int32_t count;
    double term[MN_EXPANSION_MAX];
} mn_expansion;

/// a - b exactly.
mn_expansion mn_expansion_difference(double a, double b);
mn_expansion mn_expansion_sum(const mn_expansion *a, const mn_expansion *b);
mn_expansion mn_expansion_product(const mn_expansion *a, const mn_expansion *b);
mn_expansion mn_expansion_negative(mn_expansion a);
/// The largest term, which has the sign of the whole and is within one unit in the last place of it.
double mn_expansion_value(const mn_expansion *a);

#endif
