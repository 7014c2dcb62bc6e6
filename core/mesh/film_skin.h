// SPDX-License-Identifier: Apache-2.0
//
// A film as a surface that can be rendered: both its sides, half the thickness to either side of its
// triangles, with a round rim along free edges, tubes around threads, and points without either as balls. The
// result is closed whatever the triangles and threads are, and follows them alone, so that it does not
// flicker.
#ifndef MENISCUS_MESH_FILM_SKIN_H
#define MENISCUS_MESH_FILM_SKIN_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_film_skin mn_film_skin;

typedef struct mn_film_skin_def {
    double min_thickness; ///< m, > 0: thinner film is drawn with this
    double max_thickness; ///< m, >= min_thickness: thicker film is drawn with this
    int32_t smooth;       ///< >= 0: how often the thickness is averaged with its neighbours'
    bool drops;           ///< draw points without triangles
} mn_film_skin_def;

/// At least 0.1 mm, no upper end, averaged twice, with drops.
mn_film_skin_def mn_film_skin_default_def(void);

/// Arrays belong to the caller and are read during the call.
typedef struct mn_film_sheet {
    int64_t count;
    const mn_vec3 *positions;
    const double *thickness; ///< m, of a thread or drop its diameter
    int64_t triangle_count;
    const int32_t (*triangles)[3];
    int64_t link_count;
    const int32_t (*links)[2]; ///< pieces of threads
    const uint8_t *wet;        ///< 1: belongs to a volume, so it is not a drop; NULL: nothing does
} mn_film_sheet;

typedef struct mn_film_skin_vertex {
    mn_vec3 position, normal;
    double thickness;     ///< m, true, not as drawn
    int64_t point, other; ///< of the sheet that it comes from
    double part;          ///< how much of the other, in [0, 1]
} mn_film_skin_vertex;

typedef struct mn_film_skin_mesh {
    int64_t vertex_count;
    const mn_film_skin_vertex *vertices;
    int64_t triangle_count;
    const int64_t (*triangles)[3]; ///< counter-clockwise as seen from outside
    const int64_t
        *sides; ///< 2 t + 1: the front of the sheet's triangle t, 2 t: its back; -1: rim, tube or drop
} mn_film_skin_mesh;

mn_status mn_film_skin_create(mn_context *ctx, mn_film_skin **skin);
/// NULL is fine.
void mn_film_skin_free(mn_film_skin *skin);
/// Valid until the next run. Indices out of range and values that are not finite are errors.
mn_status mn_film_skin_run(mn_film_skin *skin, const mn_film_skin_def *def, const mn_film_sheet *sheet,
                           mn_film_skin_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
