// SPDX-License-Identifier: Apache-2.0
//
// Sectors of gas around vertices (sectors.h).
#include "film/sectors.h"
#include "base/elementary.h"
#include "base/union_find.h"

// The place after which the wall is, for an edge on a wall; -1 for others.
static int32_t find_gap(const mn_complex *c, int32_t a, int32_t b, const mn_edge_turn *turn)
{
    if (turn->count == 0 || !mn_complex_on_wall(c, a, b)) return -1;
    const mn_vec3 n = c->vertices.data[a].slide, x = mn_complex_position(c, a);
    const mn_vec3 along = mn_cross(mn_normalize(mn_sub(mn_complex_position(c, b), x)), n);
    double first = INFINITY;
    int32_t start = 0;
    for (int32_t i = 0; i < turn->count; i++) {
        const int32_t apex = mn_complex_apex(&c->triangles.data[turn->triangle[i]], a, b);
        const mn_vec3 out = mn_sub(mn_complex_position(c, apex), x);
        const double up = mn_dot(out, n), side = mn_dot(out, along);
        const double angle =
            up < 0 ? mn_atan2(-up, side) : mn_atan2(up, -side); // the same order on either side
        if (angle < first) first = angle, start = i;
    }
    return (start + turn->count - 1) % turn->count;
}

static int32_t region_at(const mn_complex *c, const mn_edge_turn *turn, int32_t i, bool after)
{
    return c->triangles.data[turn->triangle[i]].region[after ? turn->after[i] : 1 - turn->after[i]];
}

static void find_partners(const mn_complex *c, int32_t gap, mn_edge_turn *turn)
{
    bool taken[MN_COMPLEX_EDGE_MAX] = {false};
    const int32_t n = turn->count;
    for (int32_t i = 0; i < n; i++) {
        turn->partner[i] = i == gap ? -1 : (i + 1) % n;
        if (i == gap) taken[(i + 1) % n] = true;
    }
    bool same = true;
    for (int32_t i = 0; i < n; i++)
        same = same && (turn->partner[i] < 0 ||
                        region_at(c, turn, i, true) == region_at(c, turn, turn->partner[i], false));
    if (same) return;
    for (int32_t i = 0; i < n; i++) {
        if (i == gap) continue;
        for (int32_t k = 1; k <= n; k++) {
            const int32_t j = (i + k) % n;
            if (taken[j] || region_at(c, turn, i, true) != region_at(c, turn, j, false)) continue;
            turn->partner[i] = j, taken[j] = true;
            break;
        }
    }
}

bool mn_edge_turn_around(const mn_complex *c, int32_t a, int32_t b, mn_edge_turn *turn)
{
    int32_t *list = turn->triangle;
    turn->count = mn_complex_edge(c, a, b, list, MN_COMPLEX_EDGE_MAX);
    if (turn->count > MN_COMPLEX_EDGE_MAX) return false;
    double angle[MN_COMPLEX_EDGE_MAX];
    if (turn->count > 2) {
        const mn_vec3 from = mn_complex_position(c, a);
        mn_vec3 u, v;
        mn_frame(mn_normalize(mn_sub(mn_complex_position(c, b), from)), &u, &v);
        for (int32_t i = 0; i < turn->count; i++) {
            const int32_t apex = mn_complex_apex(&c->triangles.data[list[i]], a, b);
            const mn_vec3 out = mn_sub(mn_complex_position(c, apex), from);
            angle[i] = mn_atan2(mn_dot(out, v), mn_dot(out, u));
        }
        for (int32_t i = 1; i < turn->count; i++) // insertion is stable
            for (int32_t k = i; k > 0 && angle[k] < angle[k - 1]; k--) {
                const double swap = angle[k];
                angle[k] = angle[k - 1], angle[k - 1] = swap;
                const int32_t other = list[k];
                list[k] = list[k - 1], list[k - 1] = other;
            }
    }
    for (int32_t i = 0; i < turn->count; i++) {
        const mn_complex_triangle *t = &c->triangles.data[list[i]];
        const int32_t k = mn_complex_corner(t, a);
        turn->after[i] =
            t->v[(k + 1) % 3] == b ? 1 : 0; // a to b to apex: the normal points the way of turning
    }
    find_partners(c, find_gap(c, a, b, turn), turn);
    return true;
}

int32_t mn_sectors_find(const mn_sectors *s, int32_t triangle)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->triangle[i] == triangle) return i;
    return -1;
}

static bool gather(const mn_complex *c, const int32_t *centers, int32_t center_count, mn_sectors *s)
{
    s->count = 0;
    for (int32_t i = 0; i < center_count; i++)
        for (int32_t at = c->vertices.data[centers[i]].first; at >= 0;
             at = c->triangles.data[at / 3].next[at % 3]) {
            if (mn_sectors_find(s, at / 3) >= 0) continue;
            if (s->count == MN_COMPLEX_STAR_MAX) return false;
            s->triangle[s->count++] = at / 3;
        }
    return true;
}

static bool join_around(const mn_complex *c, int32_t a, int32_t b, const mn_sectors *s, int32_t *parent)
{
    mn_edge_turn turn;
    if (!mn_edge_turn_around(c, a, b, &turn)) return false;
    for (int32_t i = 0; i < turn.count; i++) {
        const int32_t k = turn.partner[i];
        if (k < 0) continue;
        const int32_t from = 2 * mn_sectors_find(s, turn.triangle[i]) + turn.after[i];
        const int32_t to = 2 * mn_sectors_find(s, turn.triangle[k]) + 1 - turn.after[k];
        parent[mn_union_root(parent, from)] = mn_union_root(parent, to);
    }
    return true;
}

bool mn_sectors_build(const mn_complex *c, const int32_t *centers, int32_t center_count, mn_sectors *s)
{
    if (!gather(c, centers, center_count, s)) return false;
    int32_t parent[2 * MN_COMPLEX_STAR_MAX], neighbours[2 * MN_COMPLEX_STAR_MAX];
    for (int32_t i = 0; i < 2 * s->count; i++) parent[i] = i;
    for (int32_t i = 0; i < center_count; i++) {
        const int32_t count = mn_complex_neighbours(c, centers[i], neighbours, 2 * MN_COMPLEX_STAR_MAX);
        for (int32_t k = 0; k < count; k++)
            if (!join_around(c, centers[i], neighbours[k], s, parent)) return false;
    }
    s->sector_count = 0;
    int32_t number[2 * MN_COMPLEX_STAR_MAX];
    for (int32_t i = 0; i < 2 * s->count; i++) {
        if (mn_union_root(parent, i) != i) continue;
        if (s->sector_count == MN_SECTOR_MAX) return false;
        s->label[s->sector_count] = c->triangles.data[s->triangle[i / 2]].region[i % 2];
        number[i] = s->sector_count++;
    }
    for (int32_t i = 0; i < 2 * s->count; i++) s->sector[i] = number[mn_union_root(parent, i)];
    return true;
}
