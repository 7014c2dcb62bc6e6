// SPDX-License-Identifier: Apache-2.0
//
// What a step asks of a material.
#ifndef MENISCUS_TET_MATERIAL_STATE_H
#define MENISCUS_TET_MATERIAL_STATE_H

#include "heat/substance.h"
#include "meniscus/tet_material.h"

/// Shear and bulk modulus, Pa.
static inline double mn_tet_material_shear(const mn_tet_material *m)
{
    return m->young / (2 * (1 + m->poisson));
}
static inline double mn_tet_material_bulk(const mn_tet_material *m)
{
    return m->young / (3 * (1 - 2 * m->poisson));
}
/// Whether it melts and freezes.
static inline bool mn_tet_material_melts(const mn_tet_material *m)
{
    return m->young > 0 && m->melting_point > 0;
}
/// Yield stress after a plastic strain at a temperature, Pa; INFINITY for what never flows. It falls to 0 at
/// the melting point, if there is one.
double mn_tet_material_yield(const mn_tet_material *m, double strain, double temperature);
/// What heat asks of it.
mn_heat_substance mn_tet_material_substance(const mn_tet_material *m);

#endif
