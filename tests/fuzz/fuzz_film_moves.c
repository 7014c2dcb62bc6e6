// SPDX-License-Identifier: Apache-2.0
//
// Long sequences of everything that changes a complex of films: splits, flips, collapses, merges, peels,
// punctures, rearrangements, shaking, undo. After each the invariants, the mass and the momentum. Four bytes
// are one move.
#include "meniscus/context.h"
#include "meniscus/vec.h"
#include "support/film_bubbles.h"
#include "support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPLIT, FLIP, COLLAPSE, MERGE, PEEL, PUNCTURE, EVENTS, REMESH, SHAKE, COMPACT, KINDS };

static double mass_of(const mn_complex *c)
{
    double sum = 0;
    for (int64_t v = 0; v < c->vertices.count; v++)
        sum += c->vertices.data[v].alive ? c->vertices.data[v].mass : 0;
    return sum;
}

static int32_t neighbour(const mn_complex *c, int32_t v, uint8_t which)
{
    int32_t w[2 * MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_neighbours(c, v, w, 2 * MN_COMPLEX_STAR_MAX);
    return count > 0 ? w[which % count] : -1;
}

static void puncture(mn_context *ctx, mn_complex *c, int32_t v)
{
    int32_t joined[2 * MN_PUNCTURE_MAX], count;
    if (!mn_film_puncture(c, v, joined, &count)) return;
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = joined[2 * i], b = joined[2 * i + 1];
        const int32_t kept = a < b ? a : b, gone = a < b ? b : a;
        for (int64_t t = 0; t < c->triangles.count; t++)
            for (int k = 0; k < 2; k++)
                if (c->triangles.data[t].region[k] == gone) c->triangles.data[t].region[k] = kept;
        for (int32_t k = 2 * i + 2; k < 2 * count; k++)
            if (joined[k] == gone) joined[k] = kept;
    }
    (void)ctx;
}

static void one_move(mn_context *ctx, mn_complex *c, const uint8_t *data)
{
    const double excess[8] = {0, 1, 2, 1, 2, 1, 2, 1};
    const mn_film_forces forces = {1, excess, 8};
    mn_remesh_counts counts = {0};
    const int32_t v = (int32_t)(((uint32_t)data[1] | (uint32_t)data[2] << 8) % (uint32_t)c->vertices.count);
    const int32_t w = c->vertices.data[v].alive ? neighbour(c, v, data[3]) : -1;
    mn_sectors s;
    mn_resolve_list list = {1, {v}};
    switch (data[0] % KINDS) {
    case SPLIT:
        if (w >= 0) mn_complex_split(c, v, w);
        break;
    case FLIP:
        if (w >= 0) mn_complex_flip(c, v, w);
        break;
    case COLLAPSE:
        if (w >= 0) mn_complex_collapse(c, v, w);
        break;
    case MERGE:
        if (w < 0) break;
        mn_complex_begin(c);
        if (mn_complex_merge(c, v, w, mn_complex_position(c, v)) && data[3] % 2 &&
            (mn_resolve(c, &list, 0.3) || true) && !c->broken)
            mn_complex_commit(c);
        else
            mn_complex_undo(c);
        break;
    case PEEL:
        if (w < 0 || !mn_sectors_build(c, &v, 1, &s)) break;
        mn_complex_begin(c);
        if (mn_peel(c, v, &s, data[3] % s.sector_count, 0.1, &list) && data[3] & 128)
            mn_complex_commit(c);
        else
            mn_complex_undo(c);
        break;
    case PUNCTURE:
        if (w >= 0 && data[3] % 8 == 0) puncture(ctx, c, v);
        break;
    case EVENTS:
        MUST(mn_film_events(c, &forces, 0.3, 0.02 * (data[3] % 8), &counts) == MN_OK);
        break;
    case REMESH:
        MUST(mn_complex_remesh(c, 0.1, 0.35 + 0.01 * (data[3] % 32), &counts) == MN_OK);
        break;
    case SHAKE:
        for (int64_t i = 0; i < c->vertices.count; i++) {
            const double a = 0.3 * (double)((i * 2654435761u + data[3] * 97u) % 1000) / 1000 - 0.15;
            c->vertices.data[i].position.x += a * (data[1] % 4) / 4;
            c->vertices.data[i].position.y -= a * (data[2] % 4) / 4;
        }
        break;
    default:
        MUST(mn_complex_compact(c) == MN_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_complex c;
    const mn_vec3 x[4] = {{-0.5, 0, 0}, {0.5, 0, 0}, {0, 0.87, 0}, {0, 0.3, 0.8}};
    const double r[4] = {1, 1, 1, 1};
    mn_complex_init(&c, ctx);
    MUST(mn_film_cluster(&c, size > 0 ? 1 + data[0] % 4 : 4, x, r, 0.5, 1000000) == MN_OK);
    for (int64_t v = 0; v < c.vertices.count; v++) c.vertices.data[v].mass = 1 + (double)(v % 7);
    const double mass = mass_of(&c);
    for (size_t i = 1; i + 4 <= size && i < 4000; i += 4) {
        if (c.vertices.count == 0 || c.vertices.count > 20000) break;
        one_move(ctx, &c, data + i);
        MUST(mn_complex_check(&c) == MN_OK);
        MUST(fabs(mass_of(&c) - mass) <= 1e-11 * mass);
    }
    mn_complex_free(&c);
    mn_context_free(ctx);
    return 0;
}
