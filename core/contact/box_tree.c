// SPDX-License-Identifier: Apache-2.0
//
// The tree of box_tree.h.
#include "contact/box_tree.h"

typedef struct part {
    int64_t node, begin, count;
} part;

void mn_box_tree_free(mn_context *ctx, mn_box_tree *tree)
{
    mn_array_free(ctx, &tree->order);
    mn_array_free(ctx, &tree->node);
}

static void halve(mn_site *sites, int64_t count)
{
    if (count <= MN_BOX_LEAF) return;
    mn_halve_sites(sites, count);
    halve(sites, count / 2);
    halve(sites + count / 2, count - count / 2);
}

mn_status mn_box_tree_sort(mn_context *ctx, mn_box_tree *tree, int32_t count, const mn_vec3 *centers)
{
    int64_t nodes = 1;
    for (int64_t leaf = count; leaf > MN_BOX_LEAF; leaf = leaf - leaf / 2) nodes = 2 * nodes + 1;
    MN_TRY(mn_array_resize(ctx, &tree->order, count));
    MN_TRY(mn_array_resize(ctx, &tree->node, nodes));
    for (int32_t i = 0; i < count; i++) tree->order.data[i] = (mn_site){centers[i], i};
    halve(tree->order.data, count);
    return MN_OK;
}

static mn_box fit(mn_box_tree *tree, part p)
{
    mn_box box = mn_box_empty();
    if (p.count <= MN_BOX_LEAF) {
        for (int64_t i = 0; i < p.count; i++)
            box = mn_box_join(box, tree->element[tree->order.data[p.begin + i].index]);
    } else {
        const mn_box low = fit(tree, (part){2 * p.node + 1, p.begin, p.count / 2});
        const mn_box high = fit(tree, (part){2 * p.node + 2, p.begin + p.count / 2, p.count - p.count / 2});
        box = mn_box_join(low, high);
    }
    tree->node.data[p.node] = box;
    return box;
}

void mn_box_tree_fit(mn_box_tree *tree, const mn_box *boxes)
{
    tree->element = boxes;
    fit(tree, (part){0, 0, tree->order.count});
}

mn_status mn_box_tree_query(const mn_box_tree *tree, const mn_box *box, mn_box_found_fn *found, void *user)
{
    part stack[MN_BOX_STACK];
    int32_t top = 0;
    stack[top++] = (part){0, 0, tree->order.count};
    while (top > 0) {
        const part p = stack[--top];
        if (p.count == 0 || !mn_boxes_meet(box, &tree->node.data[p.node])) continue;
        if (p.count > MN_BOX_LEAF) {
            const int64_t half = p.count / 2;
            stack[top++] = (part){2 * p.node + 2, p.begin + half, p.count - half};
            stack[top++] = (part){2 * p.node + 1, p.begin, half};
            continue;
        }
        for (int64_t i = 0; i < p.count; i++) {
            const int32_t element = tree->order.data[p.begin + i].index;
            if (mn_boxes_meet(box, &tree->element[element])) MN_TRY(found(user, element));
        }
    }
    return MN_OK;
}
