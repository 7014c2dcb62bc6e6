// SPDX-License-Identifier: Apache-2.0
//
// Building the tree of boxes over a triangle mesh: halves along the longest axis of the middles, four
// triangles to a leaf.
//
// How many nodes a subtree has follows from its number of triangles, so each subtree knows its place and they
// are built at the same time. Middles are sorted with the triangles' numbers beside them, the triangles
// themselves move once at the end; boxes and dipoles are joined from below, but for how far a node reaches,
// which a sum of parts would say too large.
#include "trimesh/triangles_state.h"

#include "base/parallel.h"

#include <math.h>

enum { TASK_TRIANGLES = 4096, MOVE_GRAIN = 1024 };

static mn_vec3 middle_of(const tree_triangle *t)
{
    return mn_scale(1.0 / 3.0, mn_add(t->corner[0], mn_add(t->corner[1], t->corner[2])));
}

static double higher(double a, double b)
{
    return b > a ? b : a;
}

// ---- order ----

/// Nodes of a tree of `count` triangles. All of a level have n or n + 1.
static int32_t nodes_of(int32_t count)
{
    int32_t n = count, with_n = 1, with_more = 0, total = 1;
    while (n > LEAF_TRIANGLES) {
        const int32_t before = with_n;
        if (n % 2 == 0)
            with_n = 2 * with_n + with_more;
        else
            with_n = before, with_more = before + 2 * with_more;
        n /= 2;
        total += with_n + with_more;
    }
    return n == LEAF_TRIANGLES ? total + 2 * with_more : total; // those of one more are halved once again
}

// ---- nodes ----

static void place_middle(tree_node *node, tree_dipole *dipole, const tree_weight *weight)
{
    dipole->middle = weight->area > 0.0 ? mn_scale(1.0 / weight->area, weight->moment)
                                        : mn_lerp(node->box.min, node->box.max, 0.5);
}

static double reach_of(const tree_node *node, mn_vec3 middle, const tree_triangle *t)
{
    double most = 0;
    for (int32_t i = 0; i < node->count; i++)
        for (int32_t k = 0; k < 3; k++) most = higher(most, mn_norm2(mn_sub(middle, t[i].corner[k])));
    return sqrt(most);
}

static tree_weight measure_leaf(tree_node *node, tree_dipole *dipole, const tree_triangle *t)
{
    tree_weight weight = {0};
    node->box = mn_box_empty();
    *dipole = (tree_dipole){0};
    for (int32_t i = 0; i < node->count; i++) {
        const mn_vec3 *c = t[i].corner;
        for (int32_t k = 0; k < 3; k++) node->box = mn_box_with(node->box, c[k]);
        const mn_vec3 a = mn_scale(0.5, mn_cross(mn_sub(c[1], c[0]), mn_sub(c[2], c[0])));
        dipole->area_normal = mn_add(dipole->area_normal, a);
        weight.moment = mn_axpy(weight.moment, mn_norm(a), middle_of(&t[i]));
        weight.area += mn_norm(a);
    }
    place_middle(node, dipole, &weight);
    dipole->reach = reach_of(node, dipole->middle, t);
    return weight;
}

static tree_weight join_nodes(mn_triangles *mesh, int32_t at, tree_weight left, tree_weight right)
{
    tree_node *node = &mesh->nodes.data[at];
    const int32_t child[2] = {at + 1, node->right};
    const tree_weight weight = {mn_add(left.moment, right.moment), left.area + right.area};
    tree_dipole *dipole = &mesh->dipoles.data[at];
    *dipole = (tree_dipole){0};
    node->box = mn_box_empty();
    for (int32_t k = 0; k < 2; k++) {
        node->box = mn_box_with(mn_box_with(node->box, mesh->nodes.data[child[k]].box.min),
                                mesh->nodes.data[child[k]].box.max);
        dipole->area_normal = mn_add(dipole->area_normal, mesh->dipoles.data[child[k]].area_normal);
    }
    place_middle(node, dipole, &weight);
    dipole->reach = reach_of(node, dipole->middle, mesh->triangles.data + node->first);
    return weight;
}

// ---- subtrees ----

static void open_node(mn_triangles *mesh, int32_t at, int32_t first, int32_t count)
{
    const bool leaf = count <= LEAF_TRIANGLES;
    mesh->nodes.data[at] =
        (tree_node){.first = first, .count = count, .right = leaf ? -1 : at + 1 + nodes_of(count / 2)};
}

/// Orders the middles of a subtree, and opens its nodes. Halves: as deep as log2(count).
static void order_subtree(mn_triangles *mesh, int32_t at, int32_t first, int32_t count)
{
    open_node(mesh, at, first, count);
    if (count <= LEAF_TRIANGLES) return;
    mn_halve_sites(mesh->middles.data + first, count);
    order_subtree(mesh, at + 1, first, count / 2);
    order_subtree(mesh, mesh->nodes.data[at].right, first + count / 2, count - count / 2);
}

static tree_weight measure_subtree(mn_triangles *mesh, int32_t at)
{
    tree_node *node = &mesh->nodes.data[at];
    if (node->right < 0)
        return measure_leaf(node, &mesh->dipoles.data[at], mesh->triangles.data + node->first);
    const tree_weight left = measure_subtree(mesh, at + 1);
    return join_nodes(mesh, at, left, measure_subtree(mesh, node->right));
}

/// The top of the tree; what is small enough for a task goes to the list.
static mn_status order_top(mn_triangles *mesh, int32_t at, int32_t first, int32_t count)
{
    if (count <= TASK_TRIANGLES) {
        const tree_task task = {.node = at, .first = first, .count = count};
        return mn_array_push(mesh->ctx, &mesh->tasks, &task);
    }
    open_node(mesh, at, first, count);
    mn_halve_sites(mesh->middles.data + first, count);
    MN_TRY(order_top(mesh, at + 1, first, count / 2));
    return order_top(mesh, mesh->nodes.data[at].right, first + count / 2, count - count / 2);
}

static mn_status place_middles(void *user, mn_range range)
{
    mn_triangles *mesh = user;
    for (int64_t i = range.begin; i < range.end; i++)
        mesh->middles.data[i] = (mn_site){middle_of(&mesh->unsorted.data[i]), (int32_t)i};
    return MN_OK;
}

static mn_status run_tasks(void *user, mn_range range)
{
    mn_triangles *mesh = user;
    for (int64_t k = range.begin; k < range.end; k++) {
        tree_task *task = &mesh->tasks.data[k];
        order_subtree(mesh, task->node, task->first, task->count);
        for (int32_t i = task->first; i < task->first + task->count; i++)
            mesh->triangles.data[i] = mesh->unsorted.data[mesh->middles.data[i].index];
        task->weight = measure_subtree(mesh, task->node);
    }
    return MN_OK;
}

/// Joins the nodes of the top; *task is the next one in the order in which they were listed.
static tree_weight measure_top(mn_triangles *mesh, int32_t at, int32_t *task)
{
    if (mesh->tasks.data[*task].node == at) return mesh->tasks.data[(*task)++].weight;
    const tree_weight left = measure_top(mesh, at + 1, task);
    return join_nodes(mesh, at, left, measure_top(mesh, mesh->nodes.data[at].right, task));
}

mn_status mn_triangles_build_tree(mn_triangles *mesh)
{
    const int32_t count = (int32_t)mesh->unsorted.count;
    int32_t task = 0;
    mesh->tasks.count = 0;
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->triangles, count));
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->middles, count));
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->nodes, count > 0 ? nodes_of(count) : 0));
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->dipoles, mesh->nodes.count));
    if (count == 0) return MN_OK;
    MN_TRY(mn_parallel_long(mesh->ctx, count, MOVE_GRAIN, place_middles, mesh));
    MN_TRY(order_top(mesh, 0, 0, count));
    MN_TRY(mn_parallel_long(mesh->ctx, mesh->tasks.count, 1, run_tasks, mesh));
    measure_top(mesh, 0, &task);
    return MN_OK;
}
