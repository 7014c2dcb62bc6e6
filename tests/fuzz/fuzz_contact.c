// SPDX-License-Identifier: Apache-2.0
//
// Closest points, conservative advancement and slip on any eight places: places of a coarse lattice make flat
// triangles, parallel edges and touching features likely, raw doubles make them huge, tiny or not a number.
#include "contact/barrier.h"
#include "contact/surface.h"
#include "support/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Eight places from 24 bytes (a lattice) or 192 (doubles). False when there are too few.
static bool read_places(const uint8_t *data, size_t size, mn_vec3 place[8])
{
    double number[24];
    if (size >= 1 + sizeof number) {
        memcpy(number, data + 1, sizeof number);
    } else if (size >= 25) {
        for (int i = 0; i < 24; i++) number[i] = ((int)data[1 + i] - 128) / (data[0] & 2 ? 64.0 : 4.0);
    } else {
        return false;
    }
    memcpy(place, number, sizeof number);
    return true;
}

static bool is_sane(const mn_vec3 *place, int count)
{
    for (int i = 0; i < count; i++)
        if (!mn_is_finite3(place[i]) || mn_norm(place[i]) > 1e6) return false;
    return true;
}

static void try_pair(const mn_vec3 x[4], const mn_vec3 dx[4], bool edges)
{
    const mn_closest r = edges ? mn_closest_edge_edge(x) : mn_closest_point_triangle(x);
    double size = 0;
    for (int k = 0; k < 4; k++) size = fmax(size, mn_norm(x[k]));
    MUST(r.distance >= 0 && r.distance <= 2 * size + 1e-9);
    for (int k = 0; k < 4; k++) MUST(r.c[k] >= -1 && r.c[k] <= 1);
    const double rounding = 1e-6 * (1 + size); // nearly parallel edges have several nearest points
    const int pairs[4][2] = {
        {0, edges ? 2 : 1}, {0, edges ? 3 : 2}, {edges ? 1 : 0, edges ? 2 : 3}, {edges, 3}};
    for (int k = 0; k < 4; k++) MUST(r.distance <= mn_distance(x[pairs[k][0]], x[pairs[k][1]]) + rounding);
    mn_contact_term term = {.near = r, .is_edge_edge = edges};
    double rows[2][12];
    mn_contact_slip(&term, x, rows);
    for (int t = 0; t < 2; t++)
        for (int j = 0; j < 12; j++) MUST(isfinite(rows[t][j]));
    if (!(r.distance > 1e-6 * (1 + size)) || !is_sane(dx, 4)) return;
    const double t = edges ? mn_advance_edge_edge(x, dx, 0.1) : mn_advance_point_triangle(x, dx, 0.1);
    MUST(t > 0 && t <= 1);
    double moved = 0;
    for (int k = 0; k < 4; k++) moved = fmax(moved, mn_norm(dx[k]));
    for (int k = 1; k <= 16; k++) {
        mn_vec3 y[4];
        for (int i = 0; i < 4; i++) y[i] = mn_axpy(x[i], t * k / 16, dx[i]);
        const double d = (edges ? mn_closest_edge_edge(y) : mn_closest_point_triangle(y)).distance;
        MUST(d > 0.04 * r.distance - 1e-9 * (1 + size + moved));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mn_vec3 place[8];
    if (!read_places(data, size, place)) return 0;
    if (!is_sane(place, 4)) {
        mn_closest_point_triangle(place); // must come back
        mn_closest_edge_edge(place);
        return 0;
    }
    try_pair(place, place + 4, (data[0] & 1) != 0);
    return 0;
}
