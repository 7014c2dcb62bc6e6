// SPDX-License-Identifier: Apache-2.0
//
// What the two files of the multigrid share: pressure_coarse.c makes the levels, pressure_levels.c runs them.
#ifndef MENISCUS_FLOW_PRESSURE_LEVELS_H
#define MENISCUS_FLOW_PRESSURE_LEVELS_H

#include "flow/pressure_parts.h"

enum { MN_FLOW_LEVELS = 12, MN_FLOW_REACH = 125 };

/// Blocks far from everything have the same stencils, those that no fluid reaches have none.
typedef enum mn_flow_block_kind {
    MN_FLOW_BLOCK_MIXED,
    MN_FLOW_BLOCK_PLAIN,
    MN_FLOW_BLOCK_DRY
} mn_flow_block_kind;

typedef struct mn_flow_level {
    mn_flow_grid grid;
    MN_ARRAY(float) stencil; ///< [slot][125][64]
    MN_ARRAY(int32_t) slot;  ///< per block
    MN_ARRAY(uint8_t)
    block_kind;             ///< per block, mn_flow_block_kind: blocks of one kind but MIXED share a slot
    int32_t representative; ///< the plain block that the shared slot is computed for, -1: none
    mn_flow_values inverse_diagonal, x, b, r, d, y;
    double largest; ///< eigenvalue of D^-1 A
} mn_flow_level;

struct mn_flow_levels {
    mn_context *ctx;
    int32_t count; ///< coarse levels
    mn_flow_level level[MN_FLOW_LEVELS];
    mn_flow_values inverse_diagonal, d, y; ///< of the finest, whose r is the pressure's rhs
    double largest;
    MN_ARRAY(uint8_t)
    block_kind; ///< per block of the finest, mn_flow_block_kind; plain: all regular, far from the sides
    MN_ARRAY(int32_t) coloured; ///< fine blocks by colour of 27
    int32_t colour_start[28];
};

/// The stencils of a block's 64 nodes, [125][64].
MN_INLINE float *mn_flow_stencils_of(const mn_flow_level *v, int32_t block)
{
    return v->stencil.data + (int64_t)v->slot.data[block] * (MN_FLOW_REACH * 64);
}

/// Stencils and diagonals of all coarse levels, for the matrices of `pressure`.
mn_status mn_flow_levels_assemble(mn_flow_levels *levels, const mn_flow_pressure *pressure);

#endif
