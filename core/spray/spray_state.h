// SPDX-License-Identifier: Apache-2.0
//
// What a spray is made of.
#ifndef MENISCUS_SPRAY_STATE_H
#define MENISCUS_SPRAY_STATE_H

#include "meniscus/array.h"
#include "meniscus/spray.h"

typedef MN_ARRAY(mn_drop) mn_drop_array;

struct mn_spray {
    mn_context *ctx;
    mn_spray_def def;

    // the state
    mn_drop_array drops; ///< by rising id
    int64_t next_id;
    double phase;             ///< births so far, with the fraction of the next (see emission.h)
    MN_ARRAY(mn_vec3) source; ///< the source's points at the last frame
    int64_t source_triangles;

    // scratch
    mn_drop_array backup; ///< the drops at the start of the frame
    MN_ARRAY(double) cumulative_area;

    // what the last advance did
    int64_t substeps, rollbacks;
    double dt;
    mn_timers seconds;
};

/// Fails with a sentence on the first point with a value that is not a number.
mn_status mn_spray_check_source(mn_context *ctx, const mn_spray_source *source);
/// Fails with a sentence about too many drops.
mn_status mn_spray_too_many(const mn_spray *spray, double count);

#endif
