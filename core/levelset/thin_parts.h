// SPDX-License-Identifier: Apache-2.0
//
// Sheets and threads of particles that a smoothed level set loses.
//
// A level set that is smoothed over a cell and shifted to the particles' volume holds a liquid that is
// several cells thick. A sheet of one or two layers of particles, the wall of a crown, lies above its zero
// level and vanishes. This puts it back.
#ifndef MENISCUS_LEVELSET_THIN_PARTS_H
#define MENISCUS_LEVELSET_THIN_PARTS_H

#include "levelset/level_set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_thin_parts mn_thin_parts;

mn_status mn_thin_parts_create(mn_context *ctx, mn_thin_parts **parts);
/// NULL is fine.
void mn_thin_parts_free(mn_thin_parts *parts);
/// How far outside a particle may lie without a meaning, m.
typedef double mn_allowed_fn(void *user, int64_t particle);
/// Lowers phi where particles lie outside of its zero level or hardly inside and their neighbours spread less
/// than those of a full liquid. `volumes` (m^3, > 0) are the particles'; `allowed`, which is asked about
/// those near the zero level or outside, may be NULL. Labels of bodies are as before.
mn_status mn_thin_parts_add(mn_thin_parts *parts, mn_level_set *set, mn_points particles,
                            const double *volumes, mn_allowed_fn *allowed, void *user);
/// How many particles were put back by the last mn_thin_parts_add; with none, phi is as it was.
int64_t mn_thin_parts_count(const mn_thin_parts *parts);

#ifdef __cplusplus
}
#endif
#endif
