// SPDX-License-Identifier: Apache-2.0
//
// Surface tension of threads as the gradient of an energy, and what of its second derivative is never
// negative.
//
// Node p with volume V_p and half the length of its links, L_p, has the radius r_p = sqrt(V_p / (pi L_p)). A
// link of length l is a frustum, the free end of a thread a disc:
//
//   E = sigma sum_links pi (r_a + r_b) S + sigma sum_ends pi r^2,   S = sqrt(l^2 + d^2),  d = r_a - r_b
//
// Its forces act along the links, with dE/dl = sigma pi (r_a + r_b) l/S + (W_a + W_b)/2, W_p = dE/dr_p
// dr_p/dL_p and dr/dL = -r/(2 L): a uniform thread has the tension pi r sigma, half of what its side area
// alone would pull. The slope in S is what makes waves shorter than the circumference stable. S as a function
// of (l, d) has the second derivative (d, -l)(d, -l)^T / S^3, never negative, and so has the disc sigma V/L:
// these and the tension across the links make up B. The rest, the slow instability itself, is left explicit.
//
// Where a thread is thicker than its links are long they can be under pressure (a bud that rounds off) and
// would buckle as no liquid does: there a node's neighbours keep straight,
// E_bend = bend/2 |across (x_a - 2 x_p + x_b)|^2.
//
// Viscosity: 3 mu pi r^2 / l along each link (Trouton). As L_p does not see points that pair up, neighbouring
// links that stretch differently are damped a little, with the speed of capillary waves over the length; this
// falls with the fourth power of the spacing for waves that are resolved.
#include "codim/thread/graph.h"

#include <string.h>

static const double PI = MN_PI;
static const double PAIRING = 0.05; // of the capillary speed over the length
static const double STRAIGHT = 1.0; // in pi r^2 sigma

// ---- shape ----

static bool is_thread(const mn_codim_thread_graph *g, int32_t node)
{
    return g->nodes.data[node].volume > 0;
}

static void measure_links(const mn_codim_thread_graph *g, const mn_vec3 *x, mn_codim_thread_shape *s)
{
    for (int64_t n = 0; n < g->nodes.count; n++) s->beads.data[n] = (mn_codim_thread_bead){0};
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        const mn_vec3 d = mn_sub(x[g->nodes.data[link->b].point], x[g->nodes.data[link->a].point]);
        const double length = mn_norm(d);
        s->pieces.data[i] = (mn_codim_thread_piece){.along = mn_normalize(d), .length = length};
        s->beads.data[link->a].room += 0.5 * length;
        s->beads.data[link->b].room += 0.5 * length;
    }
}

static void measure_radii(const mn_codim_thread_graph *g, double sigma, mn_codim_thread_shape *s)
{
    for (int64_t n = 0; n < g->nodes.count; n++) {
        mn_codim_thread_bead *bead = &s->beads.data[n];
        const mn_codim_thread_node *node = &g->nodes.data[n];
        if (!(node->volume > 0 && bead->room > 0)) continue;
        bead->radius = sqrt(node->volume / (PI * bead->room));
        if (!node->capped) continue;
        bead->steepness = 2 * PI * sigma * bead->radius;
        s->energy += sigma * PI * bead->radius * bead->radius;
    }
}

static void measure_areas(const mn_codim_thread_graph *g, double sigma, mn_codim_thread_shape *s)
{
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        mn_codim_thread_piece *piece = &s->pieces.data[i];
        // On a film, and where both ends are films' points, the thread goes on as it is.
        const int32_t a = is_thread(g, link->a) ? link->a : link->b, b = is_thread(g, link->b) ? link->b : a;
        const double ra = s->beads.data[a].radius, rb = s->beads.data[b].radius, d = ra - rb;
        piece->radius[0] = ra, piece->radius[1] = rb;
        piece->slant = sqrt(piece->length * piece->length + d * d);
        if (!(piece->slant > 0)) continue;
        const double around = sigma * PI * (ra + rb);
        s->energy += around * piece->slant;
        piece->tension = around * piece->length / piece->slant;
        s->beads.data[a].steepness += sigma * PI * piece->slant + around * d / piece->slant;
        s->beads.data[b].steepness += sigma * PI * piece->slant - around * d / piece->slant;
    }
}

static void measure_tensions(const mn_codim_thread_graph *g, double sigma, mn_codim_thread_shape *s)
{
    for (int64_t n = 0; n < g->nodes.count; n++) {
        mn_codim_thread_bead *bead = &s->beads.data[n];
        const mn_codim_thread_node *node = &g->nodes.data[n];
        bead->steepness = bead->room > 0 ? -0.5 * bead->steepness * bead->radius / bead->room : 0;
        if (node->degree != 2 || !(bead->radius > 0.5 * bead->room)) continue;
        const double stiff = STRAIGHT * PI * sigma * bead->radius * (bead->radius - 0.5 * bead->room);
        bead->bend = stiff / (bead->room * bead->room);
        mn_vec3 along[2];
        for (int k = 0; k < 2; k++) {
            const int32_t link = node->link[k];
            const double sign = g->links.data[link].a == n ? 1 : -1;
            along[k] = mn_scale(sign, s->pieces.data[link].along);
        }
        bead->along = mn_normalize(mn_sub(along[1], along[0]));
    }
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        s->pieces.data[i].tension +=
            0.5 * (s->beads.data[link->a].steepness + s->beads.data[link->b].steepness);
    }
}

mn_status mn_codim_thread_measure(const mn_codim_thread_graph *g, const mn_vec3 *x, double sigma,
                                  mn_codim_thread_shape *s)
{
    MN_TRY(mn_array_resize(g->ctx, &s->pieces, g->links.count));
    MN_TRY(mn_array_resize(g->ctx, &s->beads, g->nodes.count));
    s->energy = 0;
    measure_links(g, x, s);
    measure_radii(g, sigma, s);
    measure_areas(g, sigma, s);
    measure_tensions(g, sigma, s);
    return MN_OK;
}

// ---- forces ----

static void add_bending(const mn_codim_thread_graph *g, const mn_codim_thread_shape *s, const mn_vec3 *x,
                        double factor, mn_vec3 *out)
{
    for (int64_t n = 0; n < g->nodes.count; n++) {
        const mn_codim_thread_bead *bead = &s->beads.data[n];
        if (!(bead->bend > 0)) continue;
        const mn_codim_thread_node *node = &g->nodes.data[n];
        const int32_t p = node->point,
                      a = g->nodes.data[mn_codim_thread_other(g, node->link[0], (int32_t)n)].point,
                      b = g->nodes.data[mn_codim_thread_other(g, node->link[1], (int32_t)n)].point;
        mn_vec3 f = mn_axpy(mn_add(x[a], x[b]), -2, x[p]);
        f = mn_scale(factor * bead->bend, mn_axpy(f, -mn_dot(f, bead->along), bead->along));
        out[a] = mn_add(out[a], f);
        out[b] = mn_add(out[b], f);
        out[p] = mn_axpy(out[p], -2, f);
    }
}

static void pull(const mn_codim_thread_graph *g, int64_t link, mn_vec3 f, mn_vec3 *out)
{
    const int32_t p = g->nodes.data[g->links.data[link].a].point,
                  q = g->nodes.data[g->links.data[link].b].point;
    out[p] = mn_add(out[p], f);
    out[q] = mn_sub(out[q], f);
}

void mn_codim_thread_add_forces(const mn_codim_thread_graph *g, const mn_codim_thread_shape *s,
                                const mn_vec3 *x, double factor, mn_vec3 *out)
{
    for (int64_t i = 0; i < g->links.count; i++)
        pull(g, i, mn_scale(factor * s->pieces.data[i].tension, s->pieces.data[i].along), out);
    add_bending(g, s, x, -factor, out);
}

// ---- stiffness ----

// Weight of (d dl - l dd)^2 in the second derivative.
static double slant_weight(double sigma, const mn_codim_thread_piece *piece)
{
    const double s3 = piece->slant * piece->slant * piece->slant;
    return s3 > 0 ? sigma * PI * (piece->radius[0] + piece->radius[1]) / s3 : 0;
}

// Of (d room)^2 at a free end.
static double cap_weight(double sigma, const mn_codim_thread_node *node, const mn_codim_thread_bead *bead)
{
    return node->capped && bead->room > 0 ? 2 * sigma * node->volume / (bead->room * bead->room * bead->room)
                                          : 0;
}

// What a change of the room does to the radius.
static double thinning(const mn_codim_thread_bead *bead)
{
    return bead->room > 0 ? -0.5 * bead->radius / bead->room : 0;
}

static double trouton(const mn_codim_thread_operator *op, const mn_codim_thread_piece *piece)
{
    if (!(piece->length > 0)) return 0;
    const double r2 = 0.5 * (piece->radius[0] * piece->radius[0] + piece->radius[1] * piece->radius[1]);
    return 3 * op->viscosity * PI * r2 / piece->length;
}

static double pairing(const mn_codim_thread_operator *op, const mn_codim_thread_node *node,
                      const mn_codim_thread_bead *bead)
{
    if (node->degree != 2 || !(bead->radius > 0)) return 0;
    const double speed = sqrt(op->sigma / (op->density * bead->radius));
    return PAIRING * op->density * node->volume * speed / bead->room;
}

static void gather_rates(const mn_codim_thread_operator *op, const mn_vec3 *u)
{
    mn_codim_thread_graph *g = op->graph;
    mn_codim_thread_shape *s = &g->shape;
    for (int64_t n = 0; n < g->nodes.count; n++) s->beads.data[n].rate = s->beads.data[n].weight = 0;
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        mn_codim_thread_piece *piece = &s->pieces.data[i];
        piece->rate =
            mn_dot(piece->along, mn_sub(u[g->nodes.data[link->b].point], u[g->nodes.data[link->a].point]));
        s->beads.data[link->a].rate += 0.5 * piece->rate;
        s->beads.data[link->b].rate += 0.5 * piece->rate;
    }
}

// pull of each link and weight of each node from their rates.
static void stiffen(const mn_codim_thread_operator *op)
{
    mn_codim_thread_graph *g = op->graph;
    mn_codim_thread_shape *s = &g->shape;
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        mn_codim_thread_piece *piece = &s->pieces.data[i];
        piece->pull = op->viscous * trouton(op, piece) * piece->rate;
        if (!is_thread(g, link->a) || !is_thread(g, link->b)) continue;
        mn_codim_thread_bead *a = &s->beads.data[link->a], *b = &s->beads.data[link->b];
        const double d = piece->radius[0] - piece->radius[1];
        const double change =
            d * piece->rate - piece->length * (thinning(a) * a->rate - thinning(b) * b->rate);
        const double y = op->stiff * slant_weight(op->sigma, piece) * change;
        piece->pull += y * d;
        a->weight -= y * piece->length * thinning(a);
        b->weight += y * piece->length * thinning(b);
    }
    for (int64_t n = 0; n < g->nodes.count; n++) {
        const mn_codim_thread_node *node = &g->nodes.data[n];
        mn_codim_thread_bead *bead = &s->beads.data[n];
        bead->weight += op->stiff * cap_weight(op->sigma, node, bead) * bead->rate;
        const double pair = op->viscous * pairing(op, node, bead);
        if (!(pair > 0)) continue;
        mn_codim_thread_piece *first = &s->pieces.data[node->link[0]],
                              *second = &s->pieces.data[node->link[1]];
        const double y = pair * (first->rate - second->rate);
        first->pull += y, second->pull -= y;
    }
}

void mn_codim_thread_apply(const mn_codim_thread_operator *op, const mn_vec3 *u, mn_vec3 *out)
{
    mn_codim_thread_graph *g = op->graph;
    const mn_codim_thread_shape *s = &g->shape;
    gather_rates(op, u);
    stiffen(op);
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        const mn_codim_thread_piece *piece = &s->pieces.data[i];
        if (!(piece->length > 0)) continue;
        const double axial =
            piece->pull + 0.5 * (s->beads.data[link->a].weight + s->beads.data[link->b].weight);
        const double across = op->stiff * fmax(0, piece->tension) / piece->length;
        const mn_vec3 du = mn_sub(u[g->nodes.data[link->b].point], u[g->nodes.data[link->a].point]);
        const mn_vec3 f = mn_axpy(mn_scale(across, du), axial - across * piece->rate, piece->along);
        pull(g, i, mn_scale(-1, f), out);
    }
    add_bending(g, s, u, op->stiff, out);
}

void mn_codim_thread_add_diagonal(const mn_codim_thread_operator *op, double *diagonal)
{
    const mn_codim_thread_graph *g = op->graph;
    const mn_codim_thread_shape *s = &g->shape;
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_thread_link *link = &g->links.data[i];
        const mn_codim_thread_piece *piece = &s->pieces.data[i];
        if (!(piece->length > 0)) continue;
        const mn_codim_thread_bead *a = &s->beads.data[link->a], *b = &s->beads.data[link->b];
        const double d = piece->radius[0] - piece->radius[1], l = piece->length;
        const double most = fabs(d) + 0.5 * l * (fabs(thinning(a)) + fabs(thinning(b)));
        const double k =
            op->stiff * (fmax(0, piece->tension) / l + slant_weight(op->sigma, piece) * most * most +
                         0.25 * (cap_weight(op->sigma, &g->nodes.data[link->a], a) +
                                 cap_weight(op->sigma, &g->nodes.data[link->b], b))) +
            op->viscous * (trouton(op, piece) + 2 * pairing(op, &g->nodes.data[link->a], a) +
                           2 * pairing(op, &g->nodes.data[link->b], b));
        diagonal[g->nodes.data[link->a].point] += k;
        diagonal[g->nodes.data[link->b].point] += k;
    }
    for (int64_t n = 0; n < g->nodes.count; n++) {
        const double k = op->stiff * s->beads.data[n].bend;
        if (!(k > 0)) continue;
        diagonal[g->nodes.data[n].point] += 4 * k;
        for (int i = 0; i < 2; i++) {
            const int32_t other = mn_codim_thread_other(g, g->nodes.data[n].link[i], (int32_t)n);
            diagonal[g->nodes.data[other].point] += k;
        }
    }
}
