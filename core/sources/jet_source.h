// SPDX-License-Identifier: Apache-2.0
//
// Where sheets of liquid start: curves with the velocity and thickness of the film that leaves them, for the
// inlets of an mls_solver.
//
//   - A jet of diameter D and speed U on a disc, or two equal ones against each other, leaves as a round
//     sheet with the speed of the jet and all that flows: thickness Q / (2 pi r U) at radius r.
//   - Two equal jets that cross at an angle make a leaf in the plane between them; the thickness over the
//     direction is that of [hasson1964], which has the mass and the momentum of the jets.
//   - Any curve.
#ifndef MENISCUS_SOURCES_JET_SOURCE_H
#define MENISCUS_SOURCES_JET_SOURCE_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_jet_kind {
    MN_JET_DISC,     ///< a jet along the axis on a disc; the sheet leaves its rim
    MN_JET_OPPOSED,  ///< two jets along the axis and against it; the sheet leaves across it
    MN_JET_CROSSING, ///< two jets at an angle to the axis each; the sheet lies in the plane between them
    MN_JET_CURVES,   ///< the polylines and outlines of polygons of `geo`
} mn_jet_kind;

typedef struct mn_jet_source_def {
    mn_jet_kind kind;
    const mn_geo
        *geo; ///< MN_JET_CURVES: the curves; others: what is struck, which gives center and radius, or NULL
    mn_vec3 center;   ///< m, where the jet strikes; not for curves
    mn_vec3 axis;     ///< any length above 0: where the jet goes; for curves without v, where film goes
    mn_vec3 side;     ///< crossing jets: normal of the sheet; need not be quite across the axis
    double diameter;  ///< m, > 0, of each jet
    double speed;     ///< m/s, >= 0
    double flow;      ///< m^3/s of each jet; 0: pi/4 diameter^2 speed
    double angle;     ///< degrees in (0, 180) from the axis: of the sheet (disc), of either jet (crossing)
    double radius;    ///< m, > 0, at which the sheet starts; not for curves
    double thickness; ///< m, > 0; curves without the attribute
    double spacing;   ///< m, > 0, that the solver should keep between points
} mn_jet_source_def;

/// The jet of a small water bell: 3 mm at 2 m/s onto a disc of 2 mm radius, downward, 60 degrees.
mn_jet_source_def mn_jet_source_default_def(void);

/// Polylines with P, v, thickness; closed ones end at their first point. Detail attribute spacing.
mn_status mn_jet_source_create(mn_context *ctx, const mn_jet_source_def *def, mn_geo **geo);

#ifdef __cplusplus
}
#endif
#endif
