// SPDX-License-Identifier: Apache-2.0
//
// A group field: what a node does to a part of its first input.
#ifndef MENISCUS_NODES_GROUP_H
#define MENISCUS_NODES_GROUP_H

#include "nodes/parm.h"

/// The row. `what` is a sentence's beginning: "Which polygons are filled".
#define MN_PARM_GROUP(what, folder)                                                                          \
    MN_TEXT("group", "Group", "", folder, NULL,                                                              \
            what                                                                                             \
            ": names of point or primitive groups, or numbers as in 0-9. A name may have * and ?, and ! "    \
            "before it leaves it out. Empty takes all of it.")

/// Cooks with the first input cut down to the group.
mn_status mn_cook_in_group(const mn_cook *cook, mn_status (*whole)(const mn_cook *, mn_geo **),
                           mn_geo **outputs);

/// A byte for each point and primitive of the first input that is in the group. To be freed, also after a
/// failure.
typedef struct mn_chosen {
    uint8_t *points, *primitives;
    int64_t point_count, primitive_count; ///< of the input
} mn_chosen;
mn_status mn_cook_choose(const mn_cook *cook, mn_chosen *chosen);
void mn_chosen_free(mn_context *ctx, mn_chosen *chosen);

#endif
