// SPDX-License-Identifier: Apache-2.0
//
// A tree of boxes over elements that move: the order of the leaves is found once in a while by halving, the
// boxes are fitted again whenever the elements have moved. Node k has the children 2k + 1 and 2k + 2, and
// halves of its elements.
#ifndef MENISCUS_CONTACT_BOX_TREE_H
#define MENISCUS_CONTACT_BOX_TREE_H

#include "meniscus/array.h"
#include "meniscus/vec.h"
#include "space/halving.h"

enum { MN_BOX_LEAF = 4, MN_BOX_STACK = 64 };

typedef struct mn_box_tree {
    MN_ARRAY(mn_site) order; ///< elements in the order of the leaves
    MN_ARRAY(mn_box) node;
    const mn_box *element; ///< boxes of the last fit
} mn_box_tree;

void mn_box_tree_free(mn_context *ctx, mn_box_tree *tree);
/// `centers` has one place for each element.
mn_status mn_box_tree_sort(mn_context *ctx, mn_box_tree *tree, int32_t count, const mn_vec3 *centers);
/// `boxes` stay the caller's and must live as long as the tree is asked.
void mn_box_tree_fit(mn_box_tree *tree, const mn_box *boxes);

static inline bool mn_boxes_meet(const mn_box *a, const mn_box *b)
{
    return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
           a->min.z <= b->max.z && b->min.z <= a->max.z;
}

/// Every element whose box meets `box`, in the order of the tree.
typedef mn_status mn_box_found_fn(void *user, int32_t element);
mn_status mn_box_tree_query(const mn_box_tree *tree, const mn_box *box, mn_box_found_fn *found, void *user);

#endif
