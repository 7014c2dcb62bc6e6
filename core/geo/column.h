// SPDX-License-Identifier: Apache-2.0
//
// A column of equal elements whose memory is shared between copies until one of them writes. For core/geo
// only.
#ifndef MENISCUS_GEO_COLUMN_H
#define MENISCUS_GEO_COLUMN_H

#include "meniscus/context.h"

typedef struct mn_buffer mn_buffer;

typedef struct mn_column {
    mn_buffer *buffer; ///< NULL when empty
    int64_t count;
    size_t element_bytes;
} mn_column;

/// The elements; NULL when there are none.
const void *mn_column_data(const mn_column *column);
/// The elements, no longer shared; NULL when there are none or memory is out.
void *mn_column_write(mn_context *ctx, mn_column *column);
/// Makes room for `count` elements, unshared, so that mn_column_set_count up to it cannot fail.
mn_status mn_column_reserve(mn_context *ctx, mn_column *column, int64_t count);
/// After mn_column_reserve; new elements are zero.
void mn_column_set_count(mn_column *column, int64_t count);
/// A second column on the same memory.
mn_column mn_column_share(const mn_column *column);
void mn_column_free(mn_column *column);

#endif
