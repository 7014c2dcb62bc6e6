// SPDX-License-Identifier: Apache-2.0
//
// Geometry as bodies of mn_elastic, one for each connected piece.
#ifndef MENISCUS_NODES_ELASTIC_BODIES_H
#define MENISCUS_NODES_ELASTIC_BODIES_H

#include "meniscus/elastic.h"
#include "nodes/columns.h"
#include "nodes/inputs.h"

/// In the order of their menus.
typedef enum mn_pin_mode { MN_PIN_PAINTED, MN_PIN_BORDER, MN_PIN_BOX } mn_pin_mode;

enum { MN_BODY_OF_LEVEL_SET = INT32_MAX };

/// Where a point of the bodies comes from.
typedef struct mn_body_origin {
    int32_t input; ///< -1: none, it stays where it is
    int32_t point; ///< MN_BODY_OF_LEVEL_SET: of none, it lies on the surface of a volume
} mn_body_origin;
typedef MN_ARRAY(mn_body_origin) mn_body_origins;

typedef struct mn_body_source {
    mn_elastic *elastic;
    mn_body_origins *origins; ///< grows with the bodies
    int32_t input;
    mn_elastic_kind kind;
    bool by_shape;         ///< closed pieces are rigid, open ones are cloth
    double density, young; ///< where they are not painted
    mn_pin_mode pin;       ///< painted points are pinned in any case
    mn_vec3 pin_center, pin_size;
} mn_body_source;

/// Adds the tetrahedra or the polygons of a geometry; *any: whether it has some.
mn_status mn_bodies_cut(const mn_cook *cook, const mn_geo *geo, const mn_body_source *source, bool *any);
/// Adds the surface of the geometry's level set as a collider; *any: whether it has one.
mn_status mn_bodies_add_level_set(const mn_cook *cook, const mn_geo *geo, const mn_body_source *source,
                                  bool *any);
/// Where the inputs have the points at this frame. Input `colliders` must keep its points; those of a level
/// set go by its vel and then to its nearest surface.
mn_status mn_bodies_aim(const mn_cook *cook, mn_elastic *elastic, const mn_body_origins *origins,
                        int32_t colliders, mn_vec3_array *targets);
/// Refuses origins that cannot have been saved.
mn_status mn_bodies_check_origins(const mn_cook *cook, const mn_body_origins *origins, int32_t input_count);

#endif
