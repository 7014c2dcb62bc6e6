// SPDX-License-Identifier: Apache-2.0
//
// The distinct strings of an attribute, shared between copies until one of them adds to it. For core/geo
// only.
#ifndef MENISCUS_GEO_STRING_TABLE_H
#define MENISCUS_GEO_STRING_TABLE_H

#include "meniscus/context.h"

typedef struct mn_string_table mn_string_table;

mn_status mn_string_table_create(mn_context *ctx, mn_string_table **table);
mn_string_table *mn_string_table_share(mn_string_table *table);
void mn_string_table_free(mn_string_table *table);
int32_t mn_string_table_count(const mn_string_table *table);
/// "" for an index outside.
const char *mn_string_table_at(const mn_string_table *table, int32_t index);
/// The string's index, added when new; *table is replaced by a copy when it is shared.
mn_status mn_string_table_intern(mn_string_table **table, const char *string, int32_t *index);

#endif
