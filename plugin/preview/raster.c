// SPDX-License-Identifier: Apache-2.0
//
// Fills the samples of a tile. A sample belongs to a triangle when its three edge functions
//
//   E_ab(p) = (b - a) x (p - a)                                                        [pineda1988]
//
// are positive; on an edge, when the edge points up or to the left, so that neighbours neither overlap nor
// leave a gap. All of it in whole numbers. Triangles thinner than a sample would be missed by most of them,
// so their longest edge is drawn as a line as well. 1/z is linear on the screen; the largest wins, the first
// of equals.
#include "plugin/preview/raster.h"

#include <string.h>

typedef struct edge {
    int64_t step_x, step_y; ///< change of E from a sample to the next
    int64_t value;          ///< at the first sample of the row, minus 1 where the edge itself does not count
} edge;

static void put(mn_preview_tile *tile, int32_t x, int32_t y, float inverse_z, uint32_t element)
{
    if (x < 0 || y < 0 || x >= tile->width || y >= tile->height) return;
    const int32_t at = y * MN_PREVIEW_TILE + x;
    if (inverse_z <= tile->inverse_z[at]) return;
    tile->inverse_z[at] = inverse_z;
    tile->element[at] = element;
}

static edge make_edge(mn_preview_screen_point a, mn_preview_screen_point b, int64_t x, int64_t y)
{
    const int64_t dx = b.x - a.x, dy = b.y - a.y;
    const bool counts = dy < 0 || (dy == 0 && dx < 0);
    return (edge){-dy * MN_PREVIEW_SUBSAMPLE, dx * MN_PREVIEW_SUBSAMPLE,
                  dx * (y - a.y) - dy * (x - a.x) - !counts};
}

static int64_t length_squared(mn_preview_screen_point a, mn_preview_screen_point b)
{
    const int64_t dx = b.x - a.x, dy = b.y - a.y;
    return dx * dx + dy * dy;
}

static void draw_line(mn_preview_tile *tile, mn_preview_screen_point a, mn_preview_screen_point b,
                      uint32_t element)
{
    const int32_t dx = b.x - a.x, dy = b.y - a.y;
    const int32_t longest =
        (dx < 0 ? -dx : dx) > (dy < 0 ? -dy : dy) ? (dx < 0 ? -dx : dx) : (dy < 0 ? -dy : dy);
    const int32_t steps = longest / MN_PREVIEW_SUBSAMPLE + 1;
    for (int32_t k = 0; k <= steps; k++) {
        const float t = (float)k / (float)steps;
        const int32_t x = a.x + (int32_t)((int64_t)dx * k / steps);
        const int32_t y = a.y + (int32_t)((int64_t)dy * k / steps);
        // Shifts round down for negative positions too.
        put(tile, (x >> 8) - tile->x, (y >> 8) - tile->y, a.inverse_z + t * (b.inverse_z - a.inverse_z),
            element);
    }
}

/// Draws the longest edge when the triangle is thinner than a sample.
static void draw_thin(mn_preview_tile *tile, const mn_preview_screen_point *corner, int64_t area,
                      uint32_t element)
{
    int first = 0;
    int64_t longest = -1;
    for (int k = 0; k < 3; k++) {
        const int64_t square = length_squared(corner[k], corner[(k + 1) % 3]);
        if (square > longest) longest = square, first = k;
    }
    // height = area / longest edge < one sample
    const double step = MN_PREVIEW_SUBSAMPLE;
    if ((double)area * (double)area >= (double)longest * step * step) return;
    draw_line(tile, corner[first], corner[(first + 1) % 3], element);
}

static int32_t smallest(int32_t a, int32_t b, int32_t c)
{
    const int32_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static int32_t largest(int32_t a, int32_t b, int32_t c)
{
    const int32_t ab = a > b ? a : b;
    return ab > c ? ab : c;
}

static void draw_triangle(mn_preview_tile *tile, mn_preview_screen_point a, mn_preview_screen_point b,
                          mn_preview_screen_point c, uint32_t element)
{
    int64_t area = (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x);
    if (area < 0) {
        const mn_preview_screen_point swap = b;
        b = c, c = swap;
        area = -area;
    }
    const mn_preview_screen_point corner[3] = {a, b, c};
    draw_thin(tile, corner, area, element);
    if (area == 0) return;
    int32_t x0 = (smallest(a.x, b.x, c.x) >> 8) - tile->x, x1 = (largest(a.x, b.x, c.x) >> 8) - tile->x;
    int32_t y0 = (smallest(a.y, b.y, c.y) >> 8) - tile->y, y1 = (largest(a.y, b.y, c.y) >> 8) - tile->y;
    x0 = x0 < 0 ? 0 : x0, y0 = y0 < 0 ? 0 : y0;
    x1 = x1 >= tile->width ? tile->width - 1 : x1, y1 = y1 >= tile->height ? tile->height - 1 : y1;
    if (x0 > x1 || y0 > y1) return;
    const int64_t x = (int64_t)(tile->x + x0) * MN_PREVIEW_SUBSAMPLE + MN_PREVIEW_SUBSAMPLE / 2;
    const int64_t y = (int64_t)(tile->y + y0) * MN_PREVIEW_SUBSAMPLE + MN_PREVIEW_SUBSAMPLE / 2;
    edge ab = make_edge(a, b, x, y), bc = make_edge(b, c, x, y), ca = make_edge(c, a, x, y);
    const double scale = 1.0 / (double)area;
    const double to_b = scale * (double)(b.inverse_z - a.inverse_z);
    const double to_c = scale * (double)(c.inverse_z - a.inverse_z);
    const float low = fminf(a.inverse_z, fminf(b.inverse_z, c.inverse_z));
    const float high = fmaxf(a.inverse_z, fmaxf(b.inverse_z, c.inverse_z));
    const float step = (float)(to_b * (double)ca.step_x + to_c * (double)ab.step_x);
    for (int32_t j = y0; j <= y1; j++) {
        int64_t e0 = ab.value, e1 = bc.value, e2 = ca.value;
        const float row = (float)((double)a.inverse_z + to_b * (double)e2 + to_c * (double)e0);
        for (int32_t i = x0; i <= x1; i++) {
            // All three at once: the sign bit of the union is set when one of them is negative.
            if ((e0 | e1 | e2) >= 0)
                put(tile, i, j, float_clamp(row + step * (float)(i - x0), low, high), element);
            e0 += ab.step_x, e1 += bc.step_x, e2 += ca.step_x;
        }
        ab.value += ab.step_y, bc.value += bc.step_y, ca.value += ca.step_y;
    }
}

static void draw_sphere(const mn_preview_raster *r, mn_preview_tile *tile, const mn_preview_sphere *sphere,
                        uint32_t element)
{
    int32_t box[4];
    const float radius = mn_preview_drawn_radius(r, sphere);
    if (!mn_preview_sphere_box(r, sphere, radius, box)) return;
    const f3 c = sphere->center;
    // No sample can be nearer than this: behind what is there already, most of a cloud is done with one
    // glance.
    const float nearest = c.z > radius ? 1.0f / (c.z - radius) : INFINITY;
    const int32_t x0 = box[0] > tile->x ? box[0] - tile->x : 0, y0 = box[1] > tile->y ? box[1] - tile->y : 0;
    const int32_t x1 = box[2] - tile->x < tile->width - 1 ? box[2] - tile->x : tile->width - 1;
    const int32_t y1 = box[3] - tile->y < tile->height - 1 ? box[3] - tile->y : tile->height - 1;
    for (int32_t j = y0; j <= y1; j++)
        for (int32_t i = x0; i <= x1; i++) {
            if (nearest <= tile->inverse_z[j * MN_PREVIEW_TILE + i]) continue;
            // The ray d t comes closest to the centre at t = d.c / d.d, at the distance |c - d t|.
            const f3 d = mn_preview_ray(r, tile->x + i, tile->y + j);
            const float square = f3_dot(d, d), t = f3_dot(d, c) / square;
            const f3 off = f3_axpy(c, -t, d);
            const float inside = radius * radius - f3_dot(off, off);
            if (inside < 0) continue;
            const float z = t - sqrtf(inside / square);
            if (z > 0) put(tile, i, j, 1.0f / z, element);
        }
}

static void draw_tube(const mn_preview_raster *r, mn_preview_tile *tile, int64_t index, uint32_t element)
{
    mn_preview_screen_tube tube;
    if (!mn_preview_screen_tube_of(r, index, &tube)) return;
    const float dx = tube.x[1] - tube.x[0], dy = tube.y[1] - tube.y[0], length = hypotf(dx, dy);
    const float w = fmaxf(tube.half_width[0], tube.half_width[1]);
    for (int32_t j = 0; j < tile->height; j++) {
        const float y = (float)(tile->y + j) + 0.5f;
        if (y < fminf(tube.y[0], tube.y[1]) - w || y > fmaxf(tube.y[0], tube.y[1]) + w) continue;
        // The stretch of the row that the tube may touch: its box, and where the row comes within w of its
        // axis.
        float low = fminf(tube.x[0], tube.x[1]) - w, high = fmaxf(tube.x[0], tube.x[1]) + w;
        if (fabsf(dy) > 1e-3f * length) {
            const float middle = tube.x[0] + (y - tube.y[0]) * dx / dy, reach = w * length / fabsf(dy);
            low = fmaxf(low, middle - reach), high = fminf(high, middle + reach);
        }
        const int32_t i0 = (int32_t)float_clamp(floorf(low) - (float)tile->x, 0, (float)tile->width);
        const int32_t i1 = (int32_t)float_clamp(ceilf(high) - (float)tile->x, -1, (float)(tile->width - 1));
        for (int32_t i = i0; i <= i1; i++) {
            float across[2], t;
            const float square = mn_preview_across_tube(&tube, (float)(tile->x + i) + 0.5f, y, across, &t);
            if (square > 1) continue;
            const float axis = tube.inverse_z[0] + t * (tube.inverse_z[1] - tube.inverse_z[0]);
            const float z = 1.0f / axis - tube.radius * sqrtf(1 - square);
            if (z > 0) put(tile, i, j, 1.0f / z, element);
        }
    }
}

void mn_preview_tile_draw(const mn_preview_raster *r, int32_t tile_x, int32_t tile_y, mn_preview_tile *tile)
{
    const mn_preview_scene *scene = r->scene;
    tile->x = tile_x * r->tile, tile->y = tile_y * r->tile;
    tile->width = r->width - tile->x < r->tile ? r->width - tile->x : r->tile;
    tile->height = r->height - tile->y < r->tile ? r->height - tile->y : r->tile;
    memset(tile->inverse_z, 0, sizeof tile->inverse_z);
    memset(tile->element, 0xff, sizeof tile->element);
    const int64_t index = (int64_t)tile_y * r->tiles_x + tile_x;
    for (int64_t k = r->tile_starts[index]; k < r->tile_starts[index + 1]; k++) {
        const uint32_t element = r->items[k];
        const int64_t sphere = (int64_t)element - scene->triangle_count, tube = sphere - scene->sphere_count;
        if (sphere < 0) {
            mn_preview_screen_point corner[MN_PREVIEW_CLIPPED_MAX];
            const int32_t count = mn_preview_screen_corners(r, element, corner);
            for (int32_t i = 2; i < count; i++)
                draw_triangle(tile, corner[0], corner[i - 1], corner[i], element);
        } else if (tube < 0) {
            draw_sphere(r, tile, &scene->spheres[sphere], element);
        } else {
            draw_tube(r, tile, tube, element);
        }
    }
}
