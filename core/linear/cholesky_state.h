// SPDX-License-Identifier: Apache-2.0
//
// What a supernodal factor holds. For core/linear only.
#ifndef MENISCUS_LINEAR_CHOLESKY_STATE_H
#define MENISCUS_LINEAR_CHOLESKY_STATE_H

#include "linear/sparse.h"
#include "meniscus/array.h"

/// Rows [begin, end) of the order.
typedef struct mn_dissection_piece {
    int32_t begin, end;
} mn_dissection_piece;

/// Scratch memory of nested_dissection.c.
typedef struct mn_dissection {
    MN_ARRAY(int32_t) side; ///< which part of the running cut a row is in
    MN_ARRAY(double) keys;  ///< for the median
    MN_ARRAY(mn_dissection_piece) pieces;
} mn_dissection;

/// Scratch memory of cholesky_analyze.c.
typedef struct mn_cholesky_tree {
    MN_ARRAY(int32_t) parent, ancestor, counts, mark; ///< by column
    MN_ARRAY(int64_t) rows, zeros; ///< of a supernode in the running list; stored without need
} mn_cholesky_tree;

struct mn_cholesky {
    mn_context *ctx;
    int32_t n;
    int64_t pattern_entries; ///< of the matrix analysed, to recognise another one
    int32_t super_count;
    MN_ARRAY(int32_t) order, inverse; ///< order[k] is eliminated k-th; inverse[order[k]] = k
    MN_ARRAY(int32_t) super_of;       ///< [n] the supernode of a column
    MN_ARRAY(int32_t) first;          ///< [super_count + 1] its first column
    MN_ARRAY(int64_t) row_start;      ///< [super_count + 1] its rows, own columns first
    MN_ARRAY(int32_t) rows;
    MN_ARRAY(int64_t) value_start; ///< [super_count + 1] its panel: all rows by own columns, column-major
    MN_ARRAY(double) values;
    MN_ARRAY(int32_t) head, next; ///< numeric: lists of supernodes that still have to update one
    MN_ARRAY(int64_t) progress;   ///< numeric: how far down its rows a supernode has got
    MN_ARRAY(int32_t) local;      ///< numeric: where a row stands in the panel at work
    MN_ARRAY(double) update;      ///< numeric: one product; also a dense right-hand side
    mn_dissection dissection;
    mn_cholesky_tree tree;
    bool factored;
};

#endif
