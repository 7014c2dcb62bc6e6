// SPDX-License-Identifier: Apache-2.0
//
// Bubbles that are thrown at each other: contact, common walls, rearrangements, bursts and pockets that
// vanish, by the steps of the solver. After each step the invariants of the complex, mass, and gas: what is
// in the pockets and what went out is what came in. Six bytes are one bubble, one more byte after them is one
// step.
#include "meniscus/context.h"
#include "meniscus/vec.h"
#include "support/film_bubbles.h"
#include "support/must.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUBBLES = 4, BYTES = 6, STEPS = 12 };

static double of(uint8_t byte, double low, double high)
{
    return low + (high - low) * byte / 255;
}

static void check(const mn_film *film, double mass)
{
    double sum = 0, gas = film->ledger.gas_out - film->ledger.gas_in;
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        MUST(mn_is_finite3(vertex->position) && mn_is_finite3(vertex->velocity));
        sum += vertex->mass;
    }
    for (int64_t b = 1; b < film->pockets.count; b++) gas += film->pockets.data[b].amount;
    MUST(mn_film_check(film) == MN_OK);
    MUST(fabs(sum - mass) <= 1e-11 * mass);
    MUST(fabs(gas) <= 1e-9 * (fabs(film->ledger.gas_in) + fabs(film->ledger.gas_out)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t bubbles = size < 1 ? 0 : 1 + data[0] % BUBBLES;
    if (size < 1 + BYTES * bubbles) return 0;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_film_def def = bubbles_def(0.4);
    def.max_dt = 0.05, def.damping = 1, def.gibbs = data[0] & 64 ? 0.5 : 0, def.burst = data[0] & 128;
    mn_film *film = NULL;
    for (size_t i = 0; i < bubbles; i++) {
        const uint8_t *d = data + 1 + BYTES * i;
        const mn_vec3 x = {of(d[0], -2, 2), of(d[1], -2, 2), of(d[2], -1, 1)};
        const double r = of(d[3], 0.85, 1.4);
        mn_film *one = bubbles_cluster(ctx, 1, &x, &r, &def);
        for (int64_t v = 0; v < one->c.vertices.count; v++)
            one->c.vertices.data[v].velocity = mn_v3(of(d[4], -3, 3), of(d[5], -3, 3), 0);
        if (!film) {
            film = one;
            continue;
        }
        const int64_t n = one->c.vertices.count, triangles = one->c.triangles.count;
        mn_vec3 *p = malloc(sizeof *p * (size_t)n), *u = malloc(sizeof *u * (size_t)n);
        int32_t(*t)[3] = malloc(sizeof *t * (size_t)triangles);
        for (int64_t v = 0; v < n; v++)
            p[v] = one->c.vertices.data[v].position, u[v] = one->c.vertices.data[v].velocity;
        for (int64_t k = 0; k < triangles; k++)
            for (int j = 0; j < 3; j++) t[k][j] = one->c.triangles.data[k].v[j];
        const mn_film_source source = {.point_count = n,
                                       .positions = p,
                                       .velocities = u,
                                       .triangle_count = triangles,
                                       .triangles = (const int32_t(*)[3])t};
        MUST(mn_film_add(film, &source) == MN_OK);
        free(p), free(u), free(t);
        mn_film_free(one);
    }
    double mass = 0;
    for (int64_t v = 0; v < film->c.vertices.count; v++) mass += film->c.vertices.data[v].mass;
    const size_t first = 1 + BYTES * bubbles;
    for (size_t i = first; i < size && i < first + STEPS; i++) {
        const mn_vec3 prick = {of(data[i], -2, 2), 0, 0};
        const mn_film_inputs own = {.prick_count = data[i] % 4 == 3, .pricks = &prick};
        const mn_solver_inputs inputs = {.own = &own};
        // A step may be refused, with the film as it was.
        const mn_status status = mn_film_advance(film, &inputs, of(data[i], 0.01, 0.1));
        check(film, mass);
        if (status != MN_OK) break;
    }
    mn_film_free(film);
    mn_context_free(ctx);
    return 0;
}
