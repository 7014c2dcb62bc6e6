// SPDX-License-Identifier: Apache-2.0
//
// The skin of tetrahedra: the sides that no other tetrahedron shares. Sides are listed by their lowest point,
// so the twin of a side stands in the same short list; linear time but for the sorting of these.
#include "plugin/io/tet_skin.h"

#include <stdlib.h>
#include <string.h>

/// Corners of the face opposite to each corner, outward for a positive tetrahedron.
static const int tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

typedef struct tet_side {
    int64_t low, middle, high; ///< its points in order
    int64_t vertex[3];
} tet_side;

static tet_side make_side(const int64_t *vertex_points, int64_t first_vertex, int side)
{
    tet_side s;
    int64_t p[3];
    for (int k = 0; k < 3; k++) {
        s.vertex[k] = first_vertex + tet_face[side][k];
        p[k] = vertex_points[s.vertex[k]];
    }
    s.low = p[0] < p[1] ? (p[0] < p[2] ? p[0] : p[2]) : (p[1] < p[2] ? p[1] : p[2]);
    s.high = p[0] > p[1] ? (p[0] > p[2] ? p[0] : p[2]) : (p[1] > p[2] ? p[1] : p[2]);
    s.middle = p[0] + p[1] + p[2] - s.low - s.high;
    return s;
}

static int compare_sides(const void *a, const void *b)
{
    const tet_side *x = a, *y = b;
    if (x->middle != y->middle) return x->middle < y->middle ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/// The sides of a list that have no twin in it. Returns how many.
static int64_t pick_single(tet_side *sides, int64_t count, int64_t (*single)[3])
{
    if (count > 1) qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    int64_t made = 0;
    for (int64_t i = 0; i < count;) {
        int64_t next = i + 1;
        while (next < count && compare_sides(&sides[i], &sides[next]) == 0) next++;
        if (next == i + 1) memcpy(single[made++], sides[i].vertex, sizeof *single);
        i = next;
    }
    return made;
}

static int64_t find_single(const mn_geo *geo, int64_t *begins, tet_side *sides, int64_t (*skin)[3])
{
    const int64_t points = mn_geo_point_count(geo), primitives = mn_geo_primitive_count(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *vertex_points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    memset(begins, 0, mn_bytes(points + 2, sizeof *begins));
    for (int64_t i = 0; i < primitives; i++)
        for (int k = 0; k < 4 && kinds[i] == MN_TETRAHEDRON; k++)
            begins[make_side(vertex_points, starts[i], k).low + 2]++;
    for (int64_t p = 2; p < points + 2; p++) begins[p] += begins[p - 1];
    for (int64_t i = 0; i < primitives; i++)
        for (int k = 0; k < 4 && kinds[i] == MN_TETRAHEDRON; k++) {
            const tet_side side = make_side(vertex_points, starts[i], k);
            sides[begins[side.low + 1]++] = side;
        }
    int64_t count = 0;
    for (int64_t p = 0; p < points; p++)
        count += pick_single(sides + begins[p], begins[p + 1] - begins[p], skin + count);
    return count;
}

mn_status mn_tet_skin_make(mn_context *ctx, const mn_geo *geo, mn_tet_skin *skin)
{
    memset(skin, 0, sizeof *skin);
    const int64_t tets = mn_geo_kind_count(geo, MN_TETRAHEDRON), points = mn_geo_point_count(geo);
    if (tets == 0) return MN_OK;
    int64_t *begins = mn_allocate(ctx, mn_bytes(points + 2, sizeof *begins));
    tet_side *sides = mn_allocate(ctx, mn_bytes(4 * tets, sizeof *sides));
    skin->size = mn_bytes(4 * tets, sizeof *skin->faces);
    skin->faces = mn_allocate(ctx, skin->size);
    if (begins && sides && skin->faces) skin->count = find_single(geo, begins, sides, skin->faces);
    const bool made = begins && sides && skin->faces;
    mn_release(ctx, begins, mn_bytes(points + 2, sizeof *begins));
    mn_release(ctx, sides, mn_bytes(4 * tets, sizeof *sides));
    if (made) return MN_OK;
    mn_tet_skin_free(ctx, skin);
    return MN_ERROR_MEMORY;
}

void mn_tet_skin_free(mn_context *ctx, mn_tet_skin *skin)
{
    mn_release(ctx, skin->faces, skin->size);
    memset(skin, 0, sizeof *skin);
}
