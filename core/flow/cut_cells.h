// SPDX-License-Identifier: Apache-2.0
#ifndef MENISCUS_FLOW_CUT_CELLS_H
#define MENISCUS_FLOW_CUT_CELLS_H

#include "flow/grid.h"

/// Where fluid is: distances at nodes, in cells. Either may be NULL for none.
typedef struct mn_flow_region {
    const double *surface; ///< at nodes, negative in the liquid; NULL: fluid everywhere
    const double *solid;   ///< at nodes, negative in solids; NULL: no solids
} mn_flow_region;

typedef enum mn_flow_cell_kind { MN_FLOW_EMPTY, MN_FLOW_FULL, MN_FLOW_CUT } mn_flow_cell_kind;

enum { MN_FLOW_POINTS = 64 }; ///< 4 x 4 x 4 Gauss points

/// What a cut cell holds. Weights at the Gauss points of the whole cell reproduce the integral over the cut
/// part of every polynomial of degree 3 per axis that the rule on the parts integrates.
typedef struct mn_flow_cut {
    double fraction;                   ///< of the cell that is fluid
    double volume[MN_FLOW_POINTS];     ///< integral over the fluid
    double surface[3][MN_FLOW_POINTS]; ///< over the free surface, times its outward normal
    double area;                       ///< of the free surface, in faces of a cell
    double wet;                        ///< of the solid's surface in the liquid
    mn_vec3 wall;                      ///< integral of the normal (out of the fluid) over that
} mn_flow_cut;

/// Eight distances at the corners of a cell, corner 4 x + 2 y + z. What of its faces is wet counts as free
/// surface on the sides of the mask `open`: bit 2 axis + 0 low, 1 high.
void mn_flow_cut_cell(const double *surface, const double *solid, uint32_t open, mn_flow_cut *cut);
/// Its fraction and the area of its free surface alone.
void mn_flow_cut_volume(const double *surface, const double *solid, double *fraction, double *area);
/// From the signs alone; a cut cell may still turn out to hold nothing.
mn_flow_cell_kind mn_flow_classify(const double *surface, const double *solid);

/// Every triangle of the free surface and of the wetted solid in a cut cell, for integrals of other things.
typedef void mn_flow_triangle_fn(void *user, bool solid, const mn_vec3 corners[3], mn_vec3 area_normal);
void mn_flow_cut_triangles(const double *surface, const double *solid, mn_flow_triangle_fn *fn, void *user);

/// The four Gauss points of [0, 1] and the seven points and weights of the triangle rule (barycentric).
extern const double mn_flow_gauss[4];
extern const double mn_flow_triangle_points[7][3];
extern const double mn_flow_triangle_weights[7];

#endif
