// SPDX-License-Identifier: Apache-2.0
//
// The lattice of a balanced octree: fine at the surface, coarser with the distance from it [labelle2007]
// section 4.
//
// Two neighbouring leaves of one size make tetrahedra as in the uniform lattice, with an edge cut in two when
// a smaller leaf has a corner in its middle. Between a leaf and a larger one the small square is cut along
// the diagonal from the middle of the large face, and both centres look at both triangles. Balance (leaves
// that share a face or an edge differ by at most two) makes these the only cases.
//
// A leaf within (1 + sqrt 3) h of the surface has size h, so every tetrahedron that stencils cut or warping
// touches is of the uniform kind and keeps its angle bound, provided that the level set is a distance (slope
// at most one).
//
// With curvature_refine r, a leaf at the surface may be as large as min(size, r / kappa), where kappa is the
// largest second difference of the level set along an axis, at the places of the surface nearest to the
// leaf's centre and corners. Leaves of different sizes then meet at the surface.
#include "tetmesh/fill/lattice.h"

#include "base/parallel.h"

#include <string.h>

typedef struct octant {
    int32_t x, y, z, size; ///< lowest corner and edge, in units
    int32_t child;         ///< the first of eight, LEAF or DROPPED
} octant;

enum { LEAF = -1, DROPPED = -2, SMALLEST = 2 };

typedef struct octree {
    mn_context *ctx;
    const mn_tet_stuffing_def *def;
    mn_tet_lattice *lattice;
    int32_t root_size;
    int32_t flat; ///< edge of a leaf where the surface is flat, units; 0 without curvature_refine
    MN_ARRAY(octant) octants;
    MN_ARRAY(int32_t) table; ///< hash of lattice points
    uint32_t mask;
} octree;

// ---- the tree ----

static mn_vec3 octant_centre(const octree *tree, const octant *o)
{
    const mn_lattice_point p = {o->x + o->size / 2, o->y + o->size / 2, o->z + o->size / 2};
    return mn_lattice_position(tree->lattice, p);
}

static mn_status split(octree *tree, int32_t index)
{
    const octant parent = tree->octants.data[index];
    const int32_t half = parent.size / 2;
    tree->octants.data[index].child = (int32_t)tree->octants.count;
    for (int32_t i = 0; i < 8; i++) {
        const octant child = {parent.x + (i & 1) * half, parent.y + (i >> 1 & 1) * half,
                              parent.z + (i >> 2) * half, half, LEAF};
        MN_TRY(mn_array_push(tree->ctx, &tree->octants, &child));
    }
    if (tree->octants.count > INT32_MAX / 16)
        return mn_fail(tree->ctx, MN_ERROR_ARGUMENT,
                       "a size of %g m needs an octree larger than memory; use a larger size",
                       tree->def->size);
    return MN_OK;
}

/// Leaf, drop or split? By the distance at the centre; `target` is the wanted size at the surface nearby.
static int32_t judge(const octree *tree, const octant *o, double value, double target)
{
    const double h = tree->def->size, edge = o->size * tree->lattice->unit,
                 radius = 0.8660254037844387 * edge;
    const double margin = 2.7320508075688772 * h;
    if (value > radius + h) return DROPPED;
    if (o->size == SMALLEST) return LEAF;
    const double clear = fabs(value) - radius - margin;
    if (clear > 0 && edge <= h + tree->def->gradation * clear) return LEAF;
    return o->size <= tree->flat && edge <= target ? LEAF : 0;
}

/// The size that the curvature asks for around an octant at the surface.
static double curved_size(const octree *tree, const octant *o)
{
    const mn_tet_stuffing_def *def = tree->def;
    const double step = 0.25 * def->size;
    const mn_vec3 axes[3] = {{step, 0, 0}, {0, step, 0}, {0, 0, step}};
    double most = 0;
    for (int32_t i = 0; i < 9; i++) {
        // The centre and places half-way to the corners, moved to the surface along the gradient.
        const double quarter = i < 8 ? 0.25 * o->size * tree->lattice->unit : 0;
        mn_vec3 x =
            mn_add(octant_centre(tree, o),
                   mn_v3(i & 1 ? quarter : -quarter, i & 2 ? quarter : -quarter, i & 4 ? quarter : -quarter));
        double value[7];
        for (int32_t walk = 0; walk < 2; walk++) {
            const mn_vec3 at[7] = {x,
                                   mn_add(x, axes[0]),
                                   mn_sub(x, axes[0]),
                                   mn_add(x, axes[1]),
                                   mn_sub(x, axes[1]),
                                   mn_add(x, axes[2]),
                                   mn_sub(x, axes[2])};
            def->level(def->user, 7, at, value);
            const mn_vec3 gradient = mn_v3(value[1] - value[2], value[3] - value[4], value[5] - value[6]);
            if (walk == 0 && mn_norm(gradient) > 0) x = mn_axpy(x, -value[0], mn_normalize(gradient));
        }
        for (int32_t k = 0; k < 3; k++)
            most = fmax(most, fabs(value[2 * k + 1] + value[2 * k + 2] - 2 * value[0]) / (step * step));
    }
    return most > 0 ? def->curvature_refine / most : INFINITY;
}

static mn_status grow_tree(octree *tree)
{
    MN_ARRAY(mn_vec3) centres = {0};
    MN_ARRAY(double) values = {0};
    mn_status status = MN_OK;
    // A level at a time, so that the level set is asked for many places at once.
    for (int64_t begin = 0, end = tree->octants.count; begin < end; begin = end, end = tree->octants.count) {
        MN_TRY_TO(done, status, mn_check_cancelled(tree->ctx));
        MN_TRY_TO(done, status, mn_array_resize(tree->ctx, &centres, end - begin));
        MN_TRY_TO(done, status, mn_array_resize(tree->ctx, &values, end - begin));
        for (int64_t i = begin; i < end; i++)
            centres.data[i - begin] = octant_centre(tree, &tree->octants.data[i]);
        MN_TRY_TO(done, status,
                  mn_level_sample(tree->ctx, tree->def, end - begin, centres.data, values.data));
        for (int64_t i = begin; i < end; i++) {
            const octant *o = &tree->octants.data[i];
            const double reach = 1.9 * o->size * tree->lattice->unit; // half diagonal and one edge
            const bool curved =
                o->size <= tree->flat && o->size > SMALLEST && fabs(values.data[i - begin]) < reach;
            const double target = curved ? curved_size(tree, o) : INFINITY;
            const int32_t verdict = judge(tree, o, values.data[i - begin], target);
            if (verdict < 0)
                tree->octants.data[i].child = verdict;
            else
                MN_TRY_TO(done, status, split(tree, (int32_t)i));
        }
    }
done:
    mn_array_free(tree->ctx, &centres);
    mn_array_free(tree->ctx, &values);
    return status;
}

/// The leaf or dropped octant that contains the unit cell at (x, y, z); -1 outside the tree.
static int32_t find_octant(const octree *tree, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= tree->root_size || y >= tree->root_size || z >= tree->root_size)
        return -1;
    int32_t at = 0;
    while (tree->octants.data[at].child >= 0) {
        const octant *o = &tree->octants.data[at];
        const int32_t half = o->size / 2;
        at = o->child + (x >= o->x + half) + 2 * (y >= o->y + half) + 4 * (z >= o->z + half);
    }
    return at;
}

/// One coordinate of a cell beside, before or behind an octant.
static int32_t beside(int32_t low, int32_t size, int32_t side)
{
    return side < 0 ? low - 1 : side > 0 ? low + size : low + size / 2;
}

/// Splits leaves until those that share a face or an edge differ by at most two.
static mn_status balance(octree *tree)
{
    // Children come to the end of the array, so one walk to the end visits them as well.
    for (int64_t i = 0; i < tree->octants.count; i++) {
        for (int32_t side = 0; side < 27; side++) {
            const octant o = tree->octants.data[i];
            if (o.child != LEAF) break;
            const int32_t dx = side % 3 - 1, dy = side / 3 % 3 - 1, dz = side / 9 - 1;
            if (dx * dx + dy * dy + dz * dz == 0 || dx * dx + dy * dy + dz * dz == 3) continue;
            for (;;) {
                const int32_t other = find_octant(tree, beside(o.x, o.size, dx), beside(o.y, o.size, dy),
                                                  beside(o.z, o.size, dz));
                if (other < 0 || tree->octants.data[other].child != LEAF ||
                    tree->octants.data[other].size <= 2 * o.size)
                    break;
                MN_TRY(split(tree, other));
            }
        }
    }
    return MN_OK;
}

// ---- points ----

static uint32_t point_hash(mn_lattice_point p)
{
    uint64_t h = (uint64_t)(uint32_t)p.x * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ (uint32_t)p.y) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 32) ^ (uint32_t)p.z) * 0x165667B19E3779F9u;
    return (uint32_t)(h >> 32);
}

static uint32_t point_slot(const octree *tree, mn_lattice_point p)
{
    uint32_t at = point_hash(p) & tree->mask;
    while (tree->table.data[at] >= 0) {
        const mn_lattice_point q = tree->lattice->points.data[tree->table.data[at]];
        if (q.x == p.x && q.y == p.y && q.z == p.z) break;
        at = (at + 1) & tree->mask;
    }
    return at;
}

static int32_t find_point(const octree *tree, mn_lattice_point p)
{
    return tree->table.data[point_slot(tree, p)];
}

static mn_status add_point(octree *tree, mn_lattice_point p)
{
    const uint32_t at = point_slot(tree, p);
    if (tree->table.data[at] >= 0) return MN_OK;
    tree->table.data[at] = (int32_t)tree->lattice->points.count;
    return mn_array_push(tree->ctx, &tree->lattice->points, &p);
}

static mn_status number_points(octree *tree)
{
    mn_tet_lattice *lattice = tree->lattice;
    int64_t leaves = 0;
    for (int64_t i = 0; i < tree->octants.count; i++) leaves += tree->octants.data[i].child == LEAF;
    uint32_t size = 64;
    while (size < 18 * leaves && size < 1u << 31) size *= 2;
    MN_TRY(mn_array_resize(tree->ctx, &tree->table, size));
    memset(tree->table.data, 0xff, size * sizeof *tree->table.data);
    tree->mask = size - 1;
    for (int64_t i = 0; i < tree->octants.count; i++) {
        const octant o = tree->octants.data[i];
        if (o.child != LEAF) continue;
        for (int32_t c = 0; c < 8; c++) {
            const mn_lattice_point corner = {o.x + (c & 1) * o.size, o.y + (c >> 1 & 1) * o.size,
                                             o.z + (c >> 2) * o.size};
            MN_TRY(add_point(tree, corner));
        }
        const mn_lattice_point centre = {o.x + o.size / 2, o.y + o.size / 2, o.z + o.size / 2};
        MN_TRY(add_point(tree, centre));
    }
    const int64_t count = lattice->points.count;
    MN_TRY(mn_array_resize(tree->ctx, &lattice->values, count));
    const size_t bytes = mn_bytes(count, sizeof(mn_vec3));
    mn_vec3 *x = mn_allocate(tree->ctx, bytes);
    if (bytes && !x) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) x[i] = mn_lattice_position(lattice, lattice->points.data[i]);
    const mn_status status = mn_level_sample(tree->ctx, tree->def, count, x, lattice->values.data);
    mn_release(tree->ctx, x, bytes);
    return status;
}

// ---- tetrahedra ----

static mn_status add_tet(octree *tree, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const double *value = tree->lattice->values.data;
    if (!(value[a] < 0) && !(value[b] < 0) && !(value[c] < 0) && !(value[d] < 0)) return MN_OK;
    const mn_tet_indices tet = {{a, b, c, d}};
    return mn_array_push(tree->ctx, &tree->lattice->tets, &tet);
}

static mn_lattice_point middle_of(mn_lattice_point p, mn_lattice_point q)
{
    return (mn_lattice_point){(p.x + q.x) / 2, (p.y + q.y) / 2, (p.z + q.z) / 2};
}

/// Around the square between two leaves of one size, a below b along the axis.
static mn_status add_equal(octree *tree, int32_t a, int32_t b, const mn_lattice_point corner[4])
{
    for (int32_t m = 0; m < 4; m++) {
        const int32_t c = find_point(tree, corner[m]), d = find_point(tree, corner[(m + 1) % 4]);
        const int32_t half = find_point(tree, middle_of(corner[m], corner[(m + 1) % 4]));
        if (half < 0) {
            MN_TRY(add_tet(tree, a, b, c, d));
        } else {
            MN_TRY(add_tet(tree, a, b, c, half));
            MN_TRY(add_tet(tree, a, b, half, d));
        }
    }
    return MN_OK;
}

/// On the square of a small leaf that lies on the face of a larger one; `low` and `high` are their centres in
/// the order along the axis.
static mn_status add_unequal(octree *tree, int32_t low, int32_t high, const mn_lattice_point corner[4],
                             int32_t first)
{
    int32_t p[4];
    for (int32_t m = 0; m < 4; m++) p[m] = find_point(tree, corner[(first + m) % 4]);
    for (int32_t m = 1; m < 3; m++) {
        MN_TRY(add_tet(tree, low, p[0], p[m], p[m + 1]));
        MN_TRY(add_tet(tree, p[0], p[m], p[m + 1], high));
    }
    return MN_OK;
}

static int32_t along(mn_lattice_point p, int32_t axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static void move_along(mn_lattice_point *p, int32_t axis, int32_t by)
{
    *(axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z) += by;
}

/// The square of octant o across `axis` (side 1 or -1), counter-clockwise as seen from the far end of the
/// axis.
static void square_of(const octant *o, int32_t axis, int32_t side, mn_lattice_point corner[4])
{
    const int32_t u = (axis + 1) % 3, w = (axis + 2) % 3;
    for (int32_t m = 0; m < 4; m++) {
        corner[m] = (mn_lattice_point){o->x, o->y, o->z};
        if (side > 0) move_along(&corner[m], axis, o->size);
        if (m == 1 || m == 2) move_along(&corner[m], u, o->size);
        if (m >= 2) move_along(&corner[m], w, o->size);
    }
}

static mn_status add_side(octree *tree, const octant *o, int32_t axis, int32_t side)
{
    const int32_t at =
        find_octant(tree, beside(o->x, o->size, axis == 0 ? side : 0),
                    beside(o->y, o->size, axis == 1 ? side : 0), beside(o->z, o->size, axis == 2 ? side : 0));
    if (at < 0 || tree->octants.data[at].child != LEAF) return MN_OK;
    const octant *other = &tree->octants.data[at];
    if (other->size < o->size || (other->size == o->size && side < 0)) return MN_OK;
    mn_lattice_point corner[4];
    square_of(o, axis, side, corner);
    const mn_lattice_point here = {o->x + o->size / 2, o->y + o->size / 2, o->z + o->size / 2};
    const mn_lattice_point there = {other->x + other->size / 2, other->y + other->size / 2,
                                    other->z + other->size / 2};
    const int32_t a = find_point(tree, here), b = find_point(tree, there);
    if (other->size == o->size) return add_equal(tree, a, b, corner);
    // The corner in the middle of the large face starts the diagonal.
    const int32_t u = (axis + 1) % 3, w = (axis + 2) % 3;
    int32_t first = 0;
    for (int32_t m = 0; m < 4; m++)
        if (along(corner[m], u) == along(there, u) && along(corner[m], w) == along(there, w)) first = m;
    return side > 0 ? add_unequal(tree, a, b, corner, first) : add_unequal(tree, b, a, corner, first);
}

static mn_status add_tets(octree *tree)
{
    for (int64_t i = 0; i < tree->octants.count; i++) {
        const octant o = tree->octants.data[i];
        if (o.child != LEAF) continue;
        for (int32_t axis = 0; axis < 3; axis++)
            for (int32_t side = -1; side <= 1; side += 2) MN_TRY(add_side(tree, &o, axis, side));
        if (i % 4096 == 0) MN_TRY(mn_check_cancelled(tree->ctx));
        if (tree->lattice->tets.count > 2 * tree->def->max_tets) break;
    }
    return MN_OK;
}

static double value_at(const octree *tree, mn_lattice_point p)
{
    const int32_t i = find_point(tree, p);
    return i < 0 ? 0 : tree->lattice->values.data[i];
}

/// The edge from p by (x, y, z), with the points behind both ends.
static mn_status look_along(const octree *tree, mn_lattice_point p, int32_t x, int32_t y, int32_t z,
                            mn_thin_segments *segments)
{
    const mn_lattice_point q = {p.x + x, p.y + y, p.z + z}, before = {p.x - x, p.y - y, p.z - z},
                           after = {q.x + x, q.y + y, q.z + z};
    const int32_t i = find_point(tree, p), j = find_point(tree, q);
    if (i < 0 || j < 0) return MN_OK;
    const mn_thin_segment edge = {.a = mn_lattice_position(tree->lattice, p),
                                  .b = mn_lattice_position(tree->lattice, q),
                                  .value_a = tree->lattice->values.data[i],
                                  .value_b = tree->lattice->values.data[j]};
    return mn_thin_add_edge(tree->ctx, segments, &edge, value_at(tree, before), value_at(tree, after));
}

/// From each leaf near the surface: edges to its corners, along the axes from its lowest corner and centre.
static mn_status look_from(const octree *tree, const octant *leaf, mn_thin_segments *segments)
{
    const int32_t size = leaf->size, half = size / 2;
    const mn_lattice_point corner = {leaf->x, leaf->y, leaf->z},
                           centre = {leaf->x + half, leaf->y + half, leaf->z + half};
    if (!(fabs(value_at(tree, centre)) < 2 * size * tree->lattice->unit)) return MN_OK;
    for (int32_t c = 0; c < 8; c++)
        MN_TRY(look_along(tree, centre, c & 1 ? half : -half, c & 2 ? half : -half, c & 4 ? half : -half,
                          segments));
    for (int32_t axis = 0; axis < 3; axis++) {
        const int32_t x = axis == 0 ? size : 0, y = axis == 1 ? size : 0, z = axis == 2 ? size : 0;
        MN_TRY(look_along(tree, corner, x, y, z, segments));
        MN_TRY(look_along(tree, centre, x, y, z, segments));
    }
    return MN_OK;
}

static mn_status look_between(octree *tree)
{
    mn_thin_segments segments = {0};
    mn_status status = MN_OK;
    for (int64_t i = 0; i < tree->octants.count && status == MN_OK; i++)
        if (tree->octants.data[i].child == LEAF) status = look_from(tree, &tree->octants.data[i], &segments);
    if (status == MN_OK) status = mn_thin_count(tree->ctx, tree->def, &segments, &tree->lattice->thin);
    mn_array_free(tree->ctx, &segments);
    return status;
}

mn_status mn_tet_lattice_graded(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice)
{
    const int32_t refinement = def->curvature_refine > 0 ? 8 : 1;
    octree tree = {.ctx = ctx,
                   .def = def,
                   .lattice = lattice,
                   .root_size = SMALLEST,
                   .flat = refinement > 1 ? SMALLEST * refinement : 0};
    const mn_vec3 extent = mn_sub(def->bounds.max, def->bounds.min);
    const double cubes = (ceil(fmax(extent.x, fmax(extent.y, extent.z)) / def->size) + 2) * refinement;
    if (cubes > (1 << 20))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "a size of %g m is less than a millionth of the surface's %g m; use a larger size",
                       def->size, fmax(extent.x, fmax(extent.y, extent.z)));
    while (tree.root_size < SMALLEST * cubes) tree.root_size *= 2;
    lattice->unit = def->size / (SMALLEST * refinement);
    const double half = 0.5 * tree.root_size * lattice->unit;
    lattice->origin = mn_sub(mn_lerp(def->bounds.min, def->bounds.max, 0.5), mn_v3(half, half, half));
    const octant root = {0, 0, 0, tree.root_size, LEAF};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_push(ctx, &tree.octants, &root));
    MN_TRY_TO(done, status, grow_tree(&tree));
    MN_TRY_TO(done, status, balance(&tree));
    MN_TRY_TO(done, status, number_points(&tree));
    MN_TRY_TO(done, status, add_tets(&tree));
    MN_TRY_TO(done, status, look_between(&tree));
done:
    mn_array_free(ctx, &tree.octants);
    mn_array_free(ctx, &tree.table);
    return status;
}
