// SPDX-License-Identifier: Apache-2.0
//
// Rows of parameters that solvers share, written once. Each macro is one or more rows of a table
// (meniscus/field.h) over a def type with members of these names:
//
//   MN_FIELDS_LIQUID    sigma, density, viscosity             and the menu of materials
//   MN_FIELD_GRAVITY    gravity
//   MN_FIELDS_AIR       wind, air_density, air_viscosity
//   MN_FIELDS_LIMITS    use_limits, limits (mn_box)           what leaves the box is removed
//   MN_PARMS_DOMAIN     (node only: use_domain, domain_center, domain_size), read with mn_domain_box()
//   MN_PARMS_SIDES      (node only: boundary_x_min to boundary_z_max), read with mn_domain_side()
//   MN_FIELD_CONTACT_ANGLE, MN_FIELD_FRICTION
//   MN_FIELDS_STEPS     min_substeps, max_substeps            and start_frame, time_scale for the host
//   MN_FIELD_MAX_DT     max_dt
//   MN_FIELD_SEED       seed
//
// Every solver needs MN_FIELDS_STEPS.
#ifndef MENISCUS_BASE_FIELD_GROUPS_H
#define MENISCUS_BASE_FIELD_GROUPS_H

#include "material_rows.h"
#include "meniscus/field.h"

// ---- the liquid ----

/// The liquids of presets/materials.json; the first item is "custom".
extern const mn_menu_item mn_material_items[MN_MATERIAL_COUNT + 1];
/// Of a material by its place in the menu, in SI units; `custom` for the first item and for MN_PROPERTY_NONE.
double mn_material_value(int32_t material, mn_property property, double custom);

#define MN_PARM_MATERIAL(folder_)                                                                            \
    MN_MENU("material", "Material", mn_material_items, 0, folder_, NULL,                                     \
            "A liquid with its measured values in place of those below; custom takes those.")
/// For the rows that a material stands in for.
#define MN_WITH_MATERIAL "{ material != custom }"

#define MN_FIELD_PROPERTY(type_, member_, property_, label_, unit_, default_, least_, most_, soft_min_,      \
                          soft_max_, folder_, tooltip_)                                                      \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 1, #member_, label_, unit_, least_, most_, soft_min_, soft_max_,        \
                      folder_, MN_WITH_MATERIAL, tooltip_),                                                  \
            .defaults = {default_}, .property = property_, MN_ROW_AT(type_, member_)                         \
    }
/// `note_` is a further sentence with a space before it, or "".
#define MN_FIELD_SIGMA(type_, default_, folder_, note_)                                                      \
    MN_FIELD_PROPERTY(type_, sigma, MN_PROPERTY_SIGMA, "Surface Tension", "N/m", default_, 0, 1e9, 0, 1,     \
                      folder_, "Surface tension of the liquid: water in air 0.072, mercury 0.485." note_)
#define MN_FIELD_DENSITY(type_, folder_, note_)                                                              \
    MN_FIELD_PROPERTY(type_, density, MN_PROPERTY_DENSITY, "Density", "kg/m^3", 1000, 1e-9, 1e12, 100,       \
                      14000, folder_, "Density of the liquid: water 1000, mercury 13534." note_)
#define MN_FIELD_VISCOSITY(type_, default_, folder_, note_)                                                  \
    MN_FIELD_PROPERTY(type_, viscosity, MN_PROPERTY_VISCOSITY, "Viscosity", "Pa s", default_, 0, 1e9, 0, 1,  \
                      folder_, "Viscosity of the liquid: water 0.001, oil 0.1, honey 5." note_)
#define MN_FIELDS_LIQUID(type_, sigma_, viscosity_, folder_)                                                 \
    MN_PARM_MATERIAL(folder_), MN_FIELD_SIGMA(type_, sigma_, folder_, ""),                                   \
        MN_FIELD_DENSITY(type_, folder_, ""), MN_FIELD_VISCOSITY(type_, viscosity_, folder_, "")

#define MN_FIELD_GRAVITY(type_, folder_)                                                                     \
    MN_FIELD_VEC3(type_, gravity, "Gravity", "m/s^2", 0, -9.81, 0, -1e9, 1e9, -20, 20, folder_, NULL,        \
                  "Acceleration of gravity.")

// ---- what is around it ----

#define MN_FIELD_WIND(type_, folder_)                                                                        \
    MN_FIELD_VEC3(type_, wind, "Wind", "m/s", 0, 0, 0, -1e6, 1e6, -20, 20, folder_, NULL,                    \
                  "Velocity of the air everywhere; the wind input adds to it.")
#define MN_FIELDS_AIR(type_, folder_)                                                                        \
    MN_FIELD_WIND(type_, folder_),                                                                           \
        MN_FIELD_FLOAT(type_, air_density, "Air Density", "kg/m^3", 1.2, 0, 1e6, 0, 2, folder_, NULL,        \
                       "Density of the air; 0 is a vacuum."),                                                \
        MN_FIELD_FLOAT(type_, air_viscosity, "Air Viscosity", "Pa s", 1.8e-5, 0, 1e6, 0, 1e-4, folder_,      \
                       NULL, "Viscosity of the air, which stops very small drops.")

#define MN_ROW_BOX(type_, member_, storage_) .storage = storage_, .offset = offsetof(type_, member_)
#define MN_FIELD_BOX_CENTER(type_, member_, name_, label_, soft_, folder_, disable_when_)                    \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 3, name_, label_, "m", -MN_FAR, MN_FAR, -(soft_), soft_, folder_,       \
                      disable_when_, "Center of the box."),                                                  \
            MN_ROW_BOX(type_, member_, MN_STORE_BOX_CENTER)                                                  \
    }
#define MN_FIELD_BOX_SIZE(type_, member_, name_, label_, default_, soft_, folder_, disable_when_)            \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 3, name_, label_, "m", 0, MN_FAR, 0, soft_, folder_, disable_when_,     \
                      "Edge lengths of the box."),                                                           \
            .defaults = {default_, default_, default_}, MN_ROW_BOX(type_, member_, MN_STORE_BOX_SIZE)        \
    }
/// What leaves the box is removed; `edge_` is the default length of its edges.
#define MN_FIELDS_LIMITS(type_, edge_)                                                                       \
    MN_FIELD_TOGGLE(type_, use_limits, "Use Limits", 0, "Limits", NULL,                                      \
                    "Removes what leaves the limit box."),                                                   \
        MN_FIELD_BOX_CENTER(type_, limits, "limit_center", "Limit Center", edge_, "Limits",                  \
                            "{ use_limits == 0 }"),                                                          \
        MN_FIELD_BOX_SIZE(type_, limits, "limit_size", "Limit Size", edge_, 2 * (edge_), "Limits",           \
                          "{ use_limits == 0 }")

/// The box that the liquid is kept in, for the node alone (nodes/domain.h): its sides become the solver's
/// walls.
#define MN_PARMS_DOMAIN(folder_)                                                                             \
    MN_TOGGLE("use_domain", "Domain", 0, folder_, NULL, "Encloses the liquid in a box."),                    \
        MN_VEC3("domain_center", "Domain Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, folder_,             \
                "{ use_domain == 0 }", "Center of the box."),                                                \
        MN_VEC3("domain_size", "Domain Size", "m", 1, 1, 1, 0, MN_FAR, 0, 2, folder_, "{ use_domain == 0 }", \
                "Edge lengths of the box.")
/// A menu for each side of the domain; all start with the first item.
#define MN_PARM_SIDE(name_, label_, items_, folder_, tooltip_)                                               \
    MN_MENU(name_, label_, items_, 0, folder_, "{ use_domain == 0 }", tooltip_)
#define MN_PARMS_SIDES(items_, folder_, tooltip_)                                                            \
    MN_PARM_SIDE("boundary_x_min", "Left Side", items_, folder_, tooltip_),                                  \
        MN_PARM_SIDE("boundary_x_max", "Right Side", items_, folder_, tooltip_),                             \
        MN_PARM_SIDE("boundary_y_min", "Floor", items_, folder_, tooltip_),                                  \
        MN_PARM_SIDE("boundary_y_max", "Ceiling", items_, folder_, tooltip_),                                \
        MN_PARM_SIDE("boundary_z_min", "Back Side", items_, folder_, tooltip_),                              \
        MN_PARM_SIDE("boundary_z_max", "Front Side", items_, folder_, tooltip_)

#define MN_FIELD_CONTACT_ANGLE(type_, folder_, note_)                                                        \
    MN_FIELD_FLOAT(                                                                                          \
        type_, contact_angle, "Contact Angle", "deg", 90, 0, 180, 0, 180, folder_, NULL,                     \
        "Angle between the liquid's surface and a solid at rest, measured through the liquid: water on "     \
        "clean glass 20, on plastic 90, on wax 110, on a lotus leaf 160." note_)
#define MN_FIELD_FRICTION(type_, default_, folder_, disable_when_, tooltip_)                                 \
    MN_FIELD_FLOAT(type_, friction, "Friction", "", default_, 0, 1e6, 0, 1, folder_, disable_when_, tooltip_)

/// friction_min, friction_max, contact_angle_min and contact_angle_max (mn_vec3): what each side of the
/// domain has, x, y and z.
#define MN_FIELD_SIDES(type_, member_, label_, unit_, most_, soft_, folder_, tooltip_)                       \
    MN_FIELD_VEC3(type_, member_, label_, unit_, -1, -1, -1, -1, most_, -1, soft_, folder_,                  \
                  "{ use_domain == 0 }", tooltip_)
#define MN_FIELDS_SIDE_LAWS(type_, folder_)                                                                  \
    MN_FIELD_SIDES(type_, friction_min, "Friction Left, Floor, Back", "", 1e6, 1, folder_,                   \
                   "Friction of these sides of the domain; -1 takes the friction above."),                   \
        MN_FIELD_SIDES(type_, friction_max, "Friction Right, Ceiling, Front", "", 1e6, 1, folder_,           \
                       "Friction of these sides of the domain; -1 takes the friction above."),               \
        MN_FIELD_SIDES(type_, contact_angle_min, "Angle Left, Floor, Back", "deg", 180, 180, folder_,        \
                       "Contact angle of these sides of the domain; -1 takes the contact angle above."),     \
        MN_FIELD_SIDES(type_, contact_angle_max, "Angle Right, Ceiling, Front", "deg", 180, 180, folder_,    \
                       "Contact angle of these sides of the domain; -1 takes the contact angle above.")

// ---- pipes ----

/// Tetrahedra that come out of emitters; the host reads these two (nodes/tet_emitters.c).
#define MN_FIELDS_TET_EMITTERS(folder_)                                                                      \
    MN_FLOAT("flow_rate", "Flow Rate", "m^3/s", 0, 0, 1e9, 0, 1e-3, folder_, NULL,                           \
             "Volume per second that the emitter gives, along its v; 0 takes the speed of v times the area " \
             "of its end. A litre a second is 0.001."),                                                      \
        MN_VEC3("inflow_velocity", "Inflow Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -1, 1, folder_, NULL,       \
                "Velocity of the liquid in the emitter, across its flat end, when its points have no v. "    \
                "With a flow rate only its direction counts.")

// ---- time ----

/// The host reads these two.
#define MN_PARM_START_FRAME                                                                                  \
    MN_INT("start_frame", "Start Frame", "frame", 1, -100000, 1000000, 1, 240, "Simulation", NULL,           \
           "The frame of the initial state. Before it the node gives that state unchanged.")
#define MN_PARM_TIME_SCALE                                                                                   \
    MN_FLOAT("time_scale", "Time Scale", "", 1, 0, 1000, 0, 2, "Simulation", NULL,                           \
             "Simulated seconds per second on screen; 0.1 is ten times slow motion.")
/// Substeps that one frame may take: the least (finer motion) and the most (a bound on the time a frame
/// takes).
#define MN_MIN_SUBSTEPS_ROW(row_, ...)                                                                       \
    row_(__VA_ARGS__, "Minimum Substeps", "", 1, 1, 1000000, 1, 20, "Simulation", NULL,                      \
         "Every frame is cut into at least this many steps.")
#define MN_MAX_SUBSTEPS_ROW(row_, ...)                                                                       \
    row_(__VA_ARGS__, "Maximum Substeps", "", 100000, 1, 100000000, 10, 100000, "Simulation", NULL,          \
         "A frame that needs more steps than this ends with an error instead of running for hours.")
#define MN_PARM_MIN_SUBSTEPS MN_MIN_SUBSTEPS_ROW(MN_INT, "min_substeps")
#define MN_PARM_MAX_SUBSTEPS MN_MAX_SUBSTEPS_ROW(MN_INT, "max_substeps")
#define MN_FIELDS_STEPS(type_)                                                                               \
    MN_PARM_START_FRAME, MN_PARM_TIME_SCALE, MN_MIN_SUBSTEPS_ROW(MN_FIELD_INT, type_, min_substeps),         \
        MN_MAX_SUBSTEPS_ROW(MN_FIELD_INT, type_, max_substeps)
#define MN_FIELD_MAX_DT(type_, default_, folder_)                                                            \
    MN_FIELD_FLOAT(type_, max_dt, "Maximum Time Step", "s", default_, 1e-12, 1e6, 1e-5, 0.1, folder_, NULL,  \
                   "Longest time step.")
#define MN_FIELD_SEED(type_, folder_, tooltip_)                                                              \
    MN_FIELD_INT(type_, seed, "Seed", "", 0, 0, 2147483647, 0, 100, folder_, NULL, tooltip_)

#endif
