// SPDX-License-Identifier: Apache-2.0
//
// The skin of films that meet: bubbles with walls, foams, films in frames.
//
// Each corner of a triangle has two sides. Around an edge, in the order of turning, the side after one
// triangle and the side before the next face the same gas: their corners are united at both ends of the edge.
// A place is then a sector of gas at a point and has one vertex, whatever number of films meet there:
//
//   x + d (h/2) / c,   d the mean of the sides' normals into the gas, c the mean of d . normal
//
// which is (h/2) / sin of half the sector's angle, so three films at 120 degrees leave a Plateau border of
// the right size. Along free edges both sides are joined by the rows of a rim; where a rim ends at a border
// its two sides are one sector, and its rows shrink to one vertex; where a border ends in the air or at a
// wire a cap closes what its rims leave open. Every edge of the result has two triangles.
#include "base/elementary.h"
#include "mesh/film_skin_state.h"

#include <stdlib.h>

enum { RIM_ROWS = 3, FAN_MAX = 64 };
static const double PI = MN_PI;
static const double LEAST_COSINE = 0.35; // sharper sectors are not filled to their edge

/// A triangle at an edge.
typedef struct fan_entry {
    double angle;
    int64_t low, high; ///< its corners there
    int32_t front;     ///< 1: its front is after it in the order of turning
} fan_entry;

static void sort_fan(fan_entry *fan, int32_t count)
{
    for (int32_t i = 1; i < count; i++)
        for (int32_t k = i; k > 0 && fan[k].angle < fan[k - 1].angle; k--) {
            const fan_entry swap = fan[k];
            fan[k] = fan[k - 1], fan[k - 1] = swap;
        }
}

static int64_t apex_of(int64_t corner)
{
    return mn_film_skin_next_corner(mn_film_skin_next_corner(corner));
}

static void join_around(mn_film_skin *s, const mn_film_sheet *sheet, const sheet_edge *e, int32_t count)
{
    fan_entry fan[FAN_MAX];
    const mn_vec3 from = sheet->positions[e->low];
    mn_vec3 u, v;
    mn_frame(mn_normalize(mn_sub(sheet->positions[e->high], from)), &u, &v);
    for (int32_t i = 0; i < count; i++) {
        const int64_t leaves = e[i].corner, other = mn_film_skin_next_corner(leaves), apex = apex_of(leaves);
        const mn_vec3 out = mn_sub(sheet->positions[sheet->triangles[apex / 3][apex % 3]], from);
        fan[i] = (fan_entry){count > 2 ? mn_atan2(mn_dot(out, v), mn_dot(out, u)) : 0,
                             e[i].rising ? leaves : other, e[i].rising ? other : leaves, e[i].rising};
    }
    if (count > 2) sort_fan(fan, count);
    for (int32_t i = 0; i < count; i++) {
        const fan_entry *a = &fan[i], *b = &fan[(i + 1) % count];
        const int32_t after = a->front, before = 1 - b->front;
        mn_union_join_64(s->root.data, 2 * a->low + after, 2 * b->low + before);
        mn_union_join_64(s->root.data, 2 * a->high + after, 2 * b->high + before);
    }
}

bool mn_film_skin_meets(const mn_film_skin *s)
{
    for (int64_t i = 0; i + 2 < s->edges.count; i++)
        if (s->edges.data[i].low == s->edges.data[i + 2].low &&
            s->edges.data[i].high == s->edges.data[i + 2].high)
            return true;
    return false;
}

static mn_status join_sides(mn_film_skin *s, const mn_film_sheet *sheet)
{
    const int64_t corners = 3 * sheet->triangle_count;
    MN_TRY(mn_array_resize(s->ctx, &s->root, 2 * corners));
    for (int64_t c = 0; c < 2 * corners; c++) s->root.data[c] = c;
    for (int64_t i = 0, end; i < corners; i = end) {
        const sheet_edge *e = &s->edges.data[i];
        for (end = i + 1;
             end < corners && e->low == s->edges.data[end].low && e->high == s->edges.data[end].high;)
            end++;
        const int64_t count = end - i;
        if (e->low == e->high || count > FAN_MAX) // each by itself
            for (int64_t k = i; k < end; k++) s->free.data[s->edges.data[k].corner] = 1;
        else if (count == 1)
            s->free.data[e->corner] = 1;
        else
            for (int64_t k = i; k < end; k++) s->free.data[s->edges.data[k].corner] = 0;
        if (e->low != e->high && count > 1 && count <= FAN_MAX) join_around(s, sheet, e, (int32_t)count);
    }
    for (int64_t c = 0; c < 2 * corners; c++) s->root.data[c] = mn_union_root_64(s->root.data, c);
    return MN_OK;
}

static mn_vec3 side_normal(const mn_film_sheet *sheet, int64_t side)
{
    const int32_t *t = sheet->triangles[side / 6];
    const mn_vec3 *x = sheet->positions;
    const mn_vec3 n = mn_cross(mn_sub(x[t[1]], x[t[0]]), mn_sub(x[t[2]], x[t[0]]));
    return side % 2 ? n : mn_scale(-1, n);
}

// One vertex for each sector, numbered by roots, which are the lowest of theirs.
static mn_status make_sectors(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    const int64_t sides = s->root.count;
    s->places.count = 0;
    for (int64_t c = 0; c < sides; c++) {
        const sheet_place place = {.point = sheet->triangles[c / 6][c / 2 % 3]};
        const bool first = s->root.data[c] == c;
        s->root.data[c] = first ? s->places.count : s->root.data[s->root.data[c]];
        if (first) MN_TRY(mn_array_push(s->ctx, &s->places, &place));
    }
    for (int64_t c = 0; c < sides; c++) {
        sheet_place *place = &s->places.data[s->root.data[c]];
        place->normal = mn_add(place->normal, mn_normalize(side_normal(sheet, c)));
    }
    for (int64_t k = 0; k < s->places.count;
         k++) { // outward: the cosines and their number, until the vertex is made
        s->places.data[k].normal = mn_normalize(s->places.data[k].normal);
        s->places.data[k].outward = mn_v3(0, 0, 0);
    }
    for (int64_t c = 0; c < sides; c++) {
        sheet_place *place = &s->places.data[s->root.data[c]];
        place->outward.x += mn_dot(place->normal, mn_normalize(side_normal(sheet, c)));
        place->outward.y += 1;
    }
    for (int64_t k = 0; k < s->places.count; k++) {
        sheet_place *place = &s->places.data[k];
        const double cosine = fmax(place->outward.x / place->outward.y, LEAST_COSINE);
        const double reach = 0.5 * mn_film_skin_drawn(def, s->thickness.data[place->point]) / cosine;
        place->first = s->vertices.count;
        MN_TRY(
            mn_film_skin_push_vertex(s, place->point, sheet->positions[place->point], place->normal, reach));
    }
    return MN_OK;
}

// ---- rims ----

// The way out of the film at each point of a rim: across its free edges.
static void find_outward(mn_film_skin *s, const mn_film_sheet *sheet)
{
    for (int64_t k = 0; k < s->places.count; k++) s->places.data[k].outward = mn_v3(0, 0, 0);
    for (int64_t c = 0; c < s->free.count; c++) {
        if (!s->free.data[c]) continue;
        const int64_t next = mn_film_skin_next_corner(c);
        const mn_vec3 along = mn_sub(sheet->positions[sheet->triangles[next / 3][next % 3]],
                                     sheet->positions[sheet->triangles[c / 3][c % 3]]);
        const mn_vec3 out = mn_normalize(mn_cross(along, side_normal(sheet, 2 * c + 1)));
        for (int i = 0; i < 4; i++) {
            sheet_place *place = &s->places.data[s->root.data[2 * (i % 2 ? next : c) + i / 2]];
            place->outward = mn_add(place->outward, out);
            place->on_rim = true;
        }
    }
}

// The rows between the two sides of corner c, -1 when they are one sector; those that are there, or new ones.
static mn_status rows_at(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet, int64_t c,
                         int64_t *rows)
{
    const int64_t front = s->root.data[2 * c + 1], back = s->root.data[2 * c];
    const int64_t low = front < back ? front : back, high = front < back ? back : front;
    *rows = -1;
    if (front == back) return MN_OK;
    for (int64_t r = s->places.data[low].rim - 1; r >= 0; r = s->rims.data[r].next)
        if (s->rims.data[r].high == high) {
            *rows = r;
            return MN_OK;
        }
    const int32_t point = sheet->triangles[c / 3][c % 3];
    const double reach = 0.5 * mn_film_skin_drawn(def, s->thickness.data[point]);
    const mn_vec3 n = mn_normalize(mn_sub(s->places.data[low].normal, s->places.data[high].normal));
    mn_vec3 out = mn_add(s->places.data[low].outward, s->places.data[high].outward);
    out = mn_normalize(mn_axpy(out, -mn_dot(out, n), n));
    const skin_rim rim = {low, high, s->vertices.count, s->places.data[low].rim - 1, point, 0, out};
    for (int32_t row = 1; row <= RIM_ROWS; row++) {
        const double a = PI * row / (RIM_ROWS + 1);
        MN_TRY(mn_film_skin_push_vertex(s, point, sheet->positions[point],
                                        mn_axpy(mn_scale(mn_cos(a), n), mn_sin(a), out), reach));
    }
    MN_TRY(mn_array_push(s->ctx, &s->rims, &rim));
    s->places.data[low].rim = s->rims.count;
    *rows = s->rims.count - 1;
    return MN_OK;
}

// Vertex on row 0 (the lower place) .. RIM_ROWS + 1 (the higher).
static int64_t vertex_on(const mn_film_skin *s, const skin_rim *rim, int32_t row)
{
    if (row == 0) return s->places.data[rim->low].first;
    return row == RIM_ROWS + 1 ? s->places.data[rim->high].first : rim->first + row - 1;
}

// At corner c, from its front to its back.
static int64_t from_front(const mn_film_skin *s, int64_t rows, int64_t c, int32_t row)
{
    const int64_t front = s->root.data[2 * c + 1], back = s->root.data[2 * c];
    if (rows < 0) return s->places.data[front].first;
    return vertex_on(s, &s->rims.data[rows], front < back ? row : RIM_ROWS + 1 - row);
}

static mn_status push_unless_flat(mn_film_skin *s, int64_t a, int64_t b, int64_t c)
{
    return a == b || b == c || c == a ? MN_OK : mn_film_skin_push_triangle(s, a, b, c);
}

static void note_use(mn_film_skin *s, int64_t rows, int64_t c, int32_t sign)
{
    if (rows >= 0) s->rims.data[rows].balance += s->root.data[2 * c + 1] < s->root.data[2 * c] ? sign : -sign;
}

static mn_status make_rim(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet, int64_t c)
{
    const int64_t next = mn_film_skin_next_corner(c);
    int64_t from, to;
    MN_TRY(rows_at(s, def, sheet, c, &from));
    MN_TRY(rows_at(s, def, sheet, next, &to));
    note_use(s, from, c, 1), note_use(s, to, next, -1);
    for (int32_t row = 0; row <= RIM_ROWS; row++) {
        const int64_t a = from_front(s, to, next, row), b = from_front(s, from, c, row);
        const int64_t d = from_front(s, from, c, row + 1), e = from_front(s, to, next, row + 1);
        MN_TRY(push_unless_flat(s, a, b, d));
        MN_TRY(push_unless_flat(s, a, d, e));
    }
    return MN_OK;
}

static int by_point(const void *first, const void *second)
{
    const skin_rim *a = first, *b = second;
    if (a->point != b->point) return a->point < b->point ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

// Where a border ends at a wire or in the air, the rims of its films leave a hole between them: a cap closes
// it.
static mn_status make_caps(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    int64_t kept = 0;
    for (int64_t r = 0; r < s->rims.count; r++)
        if (s->rims.data[r].balance != 0) s->rims.data[kept++] = s->rims.data[r];
    s->rims.count = kept;
    if (kept > 1) qsort(s->rims.data, (size_t)kept, sizeof *s->rims.data, by_point);
    for (int64_t r = 0, end; r < kept; r = end) {
        const int32_t point = s->rims.data[r].point;
        mn_vec3 out = {0};
        for (end = r; end < kept && s->rims.data[end].point == point; end++)
            out = mn_add(out, s->rims.data[end].out);
        const int64_t middle = s->vertices.count;
        MN_TRY(mn_film_skin_push_vertex(s, point, sheet->positions[point], mn_normalize(out),
                                        0.5 * mn_film_skin_drawn(def, s->thickness.data[point])));
        for (int64_t k = r; k < end; k++) {
            const skin_rim *rim = &s->rims.data[k];
            for (int32_t row = 0; row <= RIM_ROWS; row++) {
                const int64_t a = vertex_on(s, rim, row), b = vertex_on(s, rim, row + 1);
                MN_TRY(mn_film_skin_push_triangle(s, rim->balance > 0 ? b : a, rim->balance > 0 ? a : b,
                                                  middle));
            }
        }
    }
    return MN_OK;
}

mn_status mn_film_skin_make_sectors(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    s->rims.count = 0;
    MN_TRY(join_sides(s, sheet));
    MN_TRY(make_sectors(s, def, sheet));
    find_outward(s, sheet);
    for (int64_t t = 0; t < sheet->triangle_count; t++) {
        int64_t front[3], back[3];
        bool thin = true;
        for (int i = 0; i < 3; i++) {
            front[i] = s->places.data[s->root.data[6 * t + 2 * i + 1]].first;
            back[i] = s->places.data[s->root.data[6 * t + 2 * i]].first;
            thin = thin && front[i] == back[i];
        }
        if (!thin) { // else its sides are one: nothing is between them
            MN_TRY(mn_film_skin_push_side(s, 2 * t + 1, front[0], front[1], front[2]));
            MN_TRY(mn_film_skin_push_side(s, 2 * t, back[0], back[2], back[1]));
        }
        for (int i = 0; i < 3; i++)
            if (s->free.data[3 * t + i]) MN_TRY(make_rim(s, def, sheet, 3 * t + i));
    }
    return make_caps(s, def, sheet);
}
