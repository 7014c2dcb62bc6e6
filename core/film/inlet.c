// SPDX-License-Identifier: Apache-2.0
//
// Film that comes out of curves (sources/inlet_curve.h): the sheets of jets that strike a disc or each other,
// without the jets.
//
//     curve      row: held       rows before it: free
//       |           o------o------o
//       |  moves    |  \   |  \   |        behind a row that has moved on by 0.7 to 1.2 of the size the next
//       |   -->     |   \  |   \  |        one is born at the curve, and a strip of triangles between both
//       |           o------o------o
//
// A row moves with the velocity u of the liquid at its places on the curve, and is the edge of the film,
// which pulls at it in vain. It holds what lies in the half strip before it; with the next row, T seconds
// later, it gets what came in since but for the half strip before that one:
//
//   mass in = rho Q (T_first + sum of T),   momentum in = sum over vertices of mass u
//
// to rounding, and the ledger has both. So film is as thick as it left the curve from the start, and rows
// need not wait for steps, nor steps for rows.
#include "film/film_state.h"

#include "base/random.h"

#include <stdlib.h>

static const double DUE = 0.7, THICKEST = 1.2; // strips, of the size
static const double CLOSEST = 0.3;             // sizes, between vertices of a row that fans out
enum { LEAST_AROUND = 5 };

// ---- rows ----

static int by_place(const void *a, const void *b)
{
    const mn_film_place_on_row *x = a, *y = b;
    if (x->along != y->along) return x->along < y->along ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static mn_status find_row(mn_film *film, int64_t inlet, mn_film_places *row)
{
    row->count = 0;
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++) {
        const mn_film_place_on_row place = {film->c.vertices.data[v].along, v};
        if (film->c.vertices.data[v].alive && film->c.vertices.data[v].jet == -1 - (int32_t)inlet)
            MN_TRY(mn_array_push(film->solver.ctx, row, &place));
    }
    if (row->count > 1) qsort(row->data, (size_t)row->count, sizeof *row->data, by_place);
    return MN_OK;
}

static mn_vec3 at_curve(const inlet_arc *arc, const mn_vec3 *values, double along)
{
    double part;
    const int64_t i = mn_inlet_piece_at(arc, along * arc->length[arc->pieces], &part);
    return mn_lerp(values[i], values[inlet_next(arc->inlet, i)], part);
}

// m^3/s that vertex i of the row stands for: half way to the next on either side.
static double share_of(const inlet_arc *arc, const mn_film_places *row, int64_t i)
{
    const double whole = arc->length[arc->pieces], here = row->data[i].along;
    double before = 0, after = 1;
    if (arc->inlet->closed || i > 0)
        before = 0.5 * (here + (i > 0 ? row->data[i - 1].along : row->data[row->count - 1].along - 1));
    if (arc->inlet->closed || i + 1 < row->count)
        after = 0.5 * (here + (i + 1 < row->count ? row->data[i + 1].along : row->data[0].along + 1));
    return mn_inlet_flow_up_to(arc, after * whole) - mn_inlet_flow_up_to(arc, before * whole);
}

// What comes in during `seconds` goes to the row.
static void fill_row(mn_film *film, const inlet_arc *arc, const mn_film_places *row, double seconds)
{
    for (int64_t i = 0; i < row->count; i++) {
        mn_complex_vertex *v = &film->c.vertices.data[row->data[i].vertex];
        const double mass = film->def.density * seconds * share_of(arc, row, i);
        const mn_vec3 u = at_curve(arc, arc->inlet->velocity, row->data[i].along);
        if (mass > 0) v->velocity = mn_lerp(v->velocity, u, mass / (mass + mn_complex_inertia(v)));
        v->mass += mass;
        film->ledger.liquid_in += mass;
        film->ledger.momentum_in = mn_axpy(film->ledger.momentum_in, mass, u);
    }
}

static mn_status bear(mn_film *film, const inlet_arc *arc, int64_t inlet, double along, double lead)
{
    const mn_vec3 u = at_curve(arc, arc->inlet->velocity, along);
    const mn_complex_vertex v = {.position = mn_axpy(at_curve(arc, arc->inlet->position, along), lead, u),
                                 .velocity = u,
                                 .along = along,
                                 .wire = {-1, -1},
                                 .jet = -1 - (int32_t)inlet};
    const mn_film_place_on_row place = {along, mn_complex_add_vertex(&film->c, &v)};
    if (place.vertex < 0) return MN_ERROR_MEMORY;
    return mn_array_push(film->solver.ctx, &film->next_row, &place);
}

// next_row: `lead` seconds from the curve. Every other one is shifted by half a gap, for even triangles.
static mn_status bear_row(mn_film *film, const inlet_arc *arc, int64_t inlet, double lead)
{
    const double wanted = mn_inlet_points(arc, film->def.size, CLOSEST);
    const double shift = film->inlets.data[inlet].rows++ % 2 ? 0.5 : 0;
    film->next_row.count = 0;
    if (arc->inlet->closed) {
        const int64_t count = (int64_t)fmax(LEAST_AROUND, round(wanted));
        const double turn = mn_random_unit(film->def.seed, (uint64_t)inlet, 0);
        for (int64_t i = 0; i < count; i++)
            MN_TRY(bear(film, arc, inlet, ((double)i + fmod(turn + shift, 1)) / (double)count, lead));
        return MN_OK;
    }
    const int64_t gaps = (int64_t)fmax(1, round(wanted));
    MN_TRY(bear(film, arc, inlet, 0, lead));
    for (int64_t i = 1; i < gaps + (shift > 0); i++)
        MN_TRY(bear(film, arc, inlet, ((double)i - shift) / (double)gaps, lead));
    return bear(film, arc, inlet, 1, lead);
}

// ---- strips ----

// Where the i-th of a row is, going on beyond the end of a closed one.
static double unrolled(const mn_film_places *row, int64_t first, int64_t i)
{
    const int64_t at = first + i;
    return row->data[at % row->count].along + (double)(at / row->count);
}

// The triangles between two rows: from both of their beginnings on, always the one with the shorter diagonal.
// False when memory is out.
static bool add_strip(mn_film *film, const mn_film_places *ahead, const mn_film_places *behind, bool closed)
{
    mn_complex *c = &film->c;
    const int64_t n = ahead->count - !closed, m = behind->count - !closed;
    int64_t i = 0, k = 0, first = 0;
    double wrap = 0;
    int32_t region = 0; // an edge of films has the same gas on both sides
    if (c->vertices.data[ahead->data[0].vertex].first >= 0)
        region = c->triangles.data[c->vertices.data[ahead->data[0].vertex].first / 3].region[0];
    for (int64_t j = 1; j < behind->count && closed; j++) { // the one next to ahead[0] on the circle
        const double old = behind->data[first].along - ahead->data[0].along;
        const double d = behind->data[j].along - ahead->data[0].along;
        if (fabs(d - round(d)) < fabs(old - round(old))) first = j;
    }
    if (closed) wrap = -round(behind->data[first].along - ahead->data[0].along);
    while (i < n || k < m) {
        const double a = unrolled(ahead, 0, i), b = unrolled(behind, first, k) + wrap;
        const double next_a = i < n ? fabs(unrolled(ahead, 0, i + 1) - b) : INFINITY;
        const double next_b = k < m ? fabs(unrolled(behind, first, k + 1) + wrap - a) : INFINITY;
        const int32_t va = ahead->data[i % ahead->count].vertex;
        const int32_t vb = behind->data[(first + k) % behind->count].vertex;
        const bool forward = next_a < next_b;
        const int32_t third = forward ? ahead->data[++i % ahead->count].vertex
                                      : behind->data[(first + ++k) % behind->count].vertex;
        if (mn_complex_add_triangle(c, va, third, vb, region, region) < 0) return false;
    }
    return true;
}

static void let_go(mn_film *film, int64_t inlet)
{
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        if (film->c.vertices.data[v].jet == -1 - (int32_t)inlet)
            film->c.vertices.data[v].jet = 0, film->c.vertices.data[v].along = 0;
}

// `row` is let go with a strip behind it, of what came in during `seconds`.
static mn_status add_row(mn_film *film, const inlet_arc *arc, int64_t inlet, double seconds)
{
    let_go(film, inlet);
    MN_TRY(bear_row(film, arc, inlet, 0));
    fill_row(film, arc, &film->row, 0.5 * seconds);
    fill_row(film, arc, &film->next_row, 0.5 * seconds);
    film->inlets.data[inlet].duration = 0;
    return add_strip(film, &film->row, &film->next_row, arc->inlet->closed) ? MN_OK : MN_ERROR_MEMORY;
}

static mn_status open(mn_film *film, const inlet_arc *arc, int64_t inlet)
{
    const double seconds = film->def.size / film->inlets.data[inlet].speed;
    MN_TRY(bear_row(film, arc, inlet, seconds));
    film->row.count = 0;
    for (int64_t i = 0; i < film->next_row.count; i++)
        MN_TRY(mn_array_push(film->solver.ctx, &film->row, &film->next_row.data[i]));
    film->stale = true;
    return add_row(film, arc, inlet, seconds);
}

mn_status mn_film_open_inlets(mn_film *film, int64_t count, const mn_codim_inlet *inlets)
{
    const int64_t known = film->inlets.count;
    for (int64_t i = 0; i < count; i++)
        MN_TRY(mn_inlet_check(film->solver.ctx, &inlets[i], i, film->def.size));
    for (int64_t i = count; i < known; i++) let_go(film, i);
    MN_TRY(mn_array_resize(film->solver.ctx, &film->inlets, count));
    for (int64_t i = 0; i < count; i++) {
        if (i >= known) film->inlets.data[i] = (mn_film_inlet){0};
        film->inlets.data[i].speed = mn_inlet_speed(&inlets[i]);
        if (!(film->inlets.data[i].speed > 0)) {
            let_go(film, i);
            continue;
        }
        inlet_arc arc;
        MN_TRY(find_row(film, i, &film->row));
        if (film->row.count >= 3) continue;
        let_go(film, i);
        MN_TRY(mn_inlet_measure(film->solver.ctx, &inlets[i], &film->arc, &arc));
        MN_TRY(open(film, &arc, i));
    }
    return MN_OK;
}

double mn_film_inlets_limit(const mn_film *film)
{
    double least = INFINITY;
    for (int64_t i = 0; i < film->inlets.count; i++) {
        const mn_film_inlet *inlet = &film->inlets.data[i];
        if (inlet->speed > 0) least = fmin(least, THICKEST * film->def.size / inlet->speed - inlet->duration);
    }
    return least;
}

mn_status mn_film_feed(mn_film *film, double dt)
{
    bool any = false;
    for (int64_t i = 0; i < film->inlets.count; i++) {
        mn_film_inlet *inlet = &film->inlets.data[i];
        inlet_arc arc;
        if (!(inlet->speed > 0)) continue;
        inlet->duration += dt;
        MN_TRY(mn_inlet_measure(film->solver.ctx, &film->inputs->inlets[i], &film->arc, &arc));
        MN_TRY(find_row(film, i, &film->row));
        for (int64_t k = 0; k < film->row.count; k++) // what was merged with it has other velocities
            film->c.vertices.data[film->row.data[k].vertex].velocity =
                at_curve(&arc, arc.inlet->velocity, film->row.data[k].along);
        if (inlet->duration * inlet->speed < DUE * film->def.size || film->row.count < 2) continue;
        MN_TRY(add_row(film, &arc, i, inlet->duration));
        any = true;
    }
    film->stale = film->stale || any;
    return any ? mn_complex_compact(&film->c) : MN_OK;
}
