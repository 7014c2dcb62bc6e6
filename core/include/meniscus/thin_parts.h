// SPDX-License-Identifier: Apache-2.0
//
// Sheets and threads of particles that a smoothed level set loses.
//
// A level set that is smoothed over a cell and shifted to the particles' volume holds a liquid that is
// several cells thick. A sheet of one or two layers of particles, the wall of a crown, lies above its zero
// level and vanishes. This puts it back, for pictures.
#ifndef MENISCUS_THIN_PARTS_H
#define MENISCUS_THIN_PARTS_H

#include "meniscus/level_set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_thin_parts mn_thin_parts;

mn_status mn_thin_parts_create(mn_context *ctx, mn_thin_parts **parts);
/// NULL is fine.
void mn_thin_parts_free(mn_thin_parts *parts);
/// Lowers phi where particles lie outside of its zero level or hardly inside and their neighbours spread less
/// than those of a full liquid. `volumes` (m^3, > 0) are the particles'; `allowed`, how far outside each may
/// lie without a meaning, m, or NULL. Labels of bodies are as before.
mn_status mn_thin_parts_add(mn_thin_parts *parts, mn_level_set *set, mn_points particles,
                            const double *volumes, const double *allowed);

#ifdef __cplusplus
}
#endif
#endif
