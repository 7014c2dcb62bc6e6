// SPDX-License-Identifier: Apache-2.0
//
// Which things are connected: a forest in an array of parents, each its own at the start. Joining makes the
// lower root the parent, so the result does not depend on the order of the joins.
#ifndef MENISCUS_BASE_UNION_FIND_H
#define MENISCUS_BASE_UNION_FIND_H

#include <stdint.h>

static inline int32_t mn_union_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline void mn_union_join(int32_t *parent, int32_t a, int32_t b)
{
    a = mn_union_root(parent, a), b = mn_union_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/// The same for more than two thousand million things.
static inline int64_t mn_union_root_64(int64_t *parent, int64_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline void mn_union_join_64(int64_t *parent, int64_t a, int64_t b)
{
    a = mn_union_root_64(parent, a), b = mn_union_root_64(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
