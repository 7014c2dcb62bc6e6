// SPDX-License-Identifier: Apache-2.0
//
// What a solver shows and what it reads: columns of numbers that stay where they are, and how they become
// geometry. A column is an attribute of the geometry on one side and a place in memory on the other. Columns
// are borrowed; attributes are looked up once per column, not once per point.
//
//   static const mn_column_def shown[] = {
//       {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_drop, position)},
//       {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, id)},
//   };
//   mn_view_rows(view, spray->drops.count, sizeof(mn_drop), spray->drops.data, shown, MN_COUNT_OF(shown));
#ifndef MENISCUS_VIEW_H
#define MENISCUS_VIEW_H

#include "meniscus/field.h"
#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A column of an array of structs.
typedef struct mn_column_def {
    const char *name;   ///< of the attribute
    mn_type type;       ///< of the attribute
    int32_t size;       ///< components, 1 to 16
    mn_hint hint;       ///< of the attribute
    mn_storage storage; ///< of each component in the struct
    size_t offset;      ///< of the first component in the struct, bytes
} mn_column_def;
#define MN_COLUMN_AT(type_, member_) MN_STORE_OF(type_, member_), offsetof(type_, member_)

/// A column somewhere: component k of row i is at data + i stride + k bytes of the storage. Or, with `value`,
/// what that gives for the row, for quantities that are not stored. Of an MN_STRING column it
/// is the place of the string in the view's `texts`.
typedef struct mn_column_view {
    const char *name;
    mn_type type;
    int32_t size;
    mn_hint hint;
    mn_storage storage;
    const void *data;
    size_t stride; ///< bytes
    void (*value)(const void *data, int64_t row, double *value);
} mn_column_view;

/// Primitives of one kind, each with `size` corners.
typedef struct mn_view_part {
    mn_primitive_kind kind;
    int32_t size;
    int64_t count;
    const int32_t *corners; ///< shown points, size x count
} mn_view_part;

enum { MN_VIEW_COLUMNS = 32, MN_VIEW_PARTS = 4 };

/// What one output shows, borrowed until the solver changes. Zero-initialised is empty.
typedef struct mn_view {
    int64_t point_count;
    const int32_t *order; ///< row of each shown point; NULL: all rows as they are
    mn_column_view columns[MN_VIEW_COLUMNS];
    int32_t column_count;
    mn_view_part parts[MN_VIEW_PARTS]; ///< in this order
    int32_t part_count;
    mn_column_view primitive_columns[MN_VIEW_COLUMNS]; ///< over the primitives of all parts
    int32_t primitive_column_count;
    const char *const *texts; ///< that columns of strings show
} mn_view;

/// Adds points as rows of structs with these columns.
MN_API void mn_view_rows(mn_view *view, int64_t count, size_t stride, const void *rows,
                         const mn_column_def *columns, int32_t column_count);
/// Adds one column over the points; at most MN_VIEW_COLUMNS are kept.
MN_API void mn_view_column(mn_view *view, mn_column_view column);
/// Adds one column over the primitives, likewise.
MN_API void mn_view_primitive_column(mn_view *view, mn_column_view column);
/// Adds one part; at most MN_VIEW_PARTS are kept. Parts without primitives are left out.
MN_API void mn_view_primitives(mn_view *view, mn_primitive_kind kind, int32_t size, int64_t count,
                               const int32_t *corners);

/// The geometry that the view shows. A whole number that does not fit its attribute fails with a sentence.
MN_API mn_status mn_geo_from_view(mn_context *ctx, const mn_view *view, mn_geo **geo);

/// Point attributes into rows of structs: each column that the geometry has is written to all rows, and its
/// bit set in *present (bit k for columns[k]); the others stay as they are. `rows` has room for all points.
MN_API void mn_geo_read_rows(const mn_geo *geo, const mn_column_def *columns, int32_t column_count,
                             void *rows, size_t stride, uint64_t *present);

#ifdef __cplusplus
}
#endif
#endif
