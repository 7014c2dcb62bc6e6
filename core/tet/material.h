// SPDX-License-Identifier: Apache-2.0
//
// What tetrahedra are made of.
#ifndef MENISCUS_TET_MATERIAL_H
#define MENISCUS_TET_MATERIAL_H

#include "heat/substance.h"
#include "meniscus/tet.h"

enum { MN_TET_MATERIAL_NAME_MAX = 32, MN_TET_MATERIALS_MAX = 32 };

struct mn_tet_material {
    char name[MN_TET_MATERIAL_NAME_MAX];
    double density;      ///< kg/m^3, > 0; of the solid where it melts
    double melt_density; ///< kg/m^3, of the melt; 0: the same
    double young;        ///< Pa, >= 0; 0: a liquid at any temperature
    double poisson;      ///< [0, 0.5)
    double yield;        ///< Pa, von Mises stress at which it begins to flow; 0: it never does
    double hardening;    ///< Pa, yield stress per plastic strain, >= 0
    double creep;        ///< Pa s, viscosity by which the solid flows under any stress; 0: it does not
    double viscosity;    ///< Pa s, >= 0; of the melt, and what damps a solid
    double sigma;        ///< surface tension, N/m, >= 0; of the melt where it melts
    double conductivity, melt_conductivity;   ///< W/(m K), >= 0; 0 for the melt: the same
    double heat_capacity, melt_heat_capacity; ///< J/(kg K), > 0; 0 for the melt: the same
    double latent_heat;                       ///< J/kg, >= 0
    double melting_point;                     ///< K; 0: a solid stays solid, a liquid liquid
    double melting_range;                     ///< K, width of the interval around it, >= 0
    double expansion;                         ///< 1/K, of lengths, >= 0
    double reference_temperature;             ///< K, at which it has its density
    double toughness;                         ///< Pa m^1/2, >= 0: where a crack goes on; 0: by strength
    double strength;                          ///< Pa, >= 0, of what has no crack; 0: it never breaks
    double ductility;                         ///< plastic strain at which it tears, >= 0; 0: it never does
    double emissivity;                        ///< [0, 1]
};

/// Water without a melting point.
mn_tet_material mn_tet_default_material(void);
/// Fails with a sentence that names the material and the parameter.
mn_status mn_tet_check_material(mn_context *ctx, const mn_tet_material *material);

/// Materials by name: jelly, rubber, wax, ice, water, lead, copper, gallium, glass, clay, honey; `index` from
/// 0 on; NULL behind the last.
const mn_tet_material *mn_tet_material_preset(int32_t index);

/// The numbers of a material by name, as attributes of tetrahedra have them; `offset` into the struct.
typedef struct mn_tet_material_number {
    const char *name;
    size_t offset;
} mn_tet_material_number;
/// `index` from 0 on; NULL behind the last.
const mn_tet_material_number *mn_tet_material_number_at(int32_t index);
static inline double *mn_tet_material_value(mn_tet_material *m, const mn_tet_material_number *number)
{
    return (double *)(void *)((char *)m + number->offset);
}

/// Whether the mesh's fields describe materials: it has a value `young`.
bool mn_tet_mesh_has_materials(const mn_tet_mesh *mesh);
/// The different materials that the values of a mesh's tetrahedra describe, in the order in which they come;
/// where `density` is 0 it is `base`. The value `material` of the mesh becomes their numbers. Fails with a
/// sentence when there are more than `most`.
mn_status mn_tet_mesh_list_materials(mn_tet_mesh *mesh, const mn_tet_material *base, int32_t most,
                                     mn_tet_material *materials, int32_t *count);

/// Shear and bulk modulus, Pa.
static inline double mn_tet_material_shear(const mn_tet_material *m)
{
    return m->young / (2 * (1 + m->poisson));
}
static inline double mn_tet_material_bulk(const mn_tet_material *m)
{
    return m->young / (3 * (1 - 2 * m->poisson));
}
/// Whether a solid of it can break.
static inline bool mn_tet_material_breaks(const mn_tet_material *m)
{
    return m->young > 0 && (m->strength > 0 || m->toughness > 0 || m->ductility > 0);
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
