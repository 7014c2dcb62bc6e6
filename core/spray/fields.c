// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a spray.
#include "base/field_groups.h"
#include "meniscus/spray.h"

typedef mn_spray_def def;

static const mn_menu_item emit_items[] = {{"surface", "Surface"}, {"points", "Points"}, {NULL, NULL}};
static const mn_menu_item along_items[] = {{"normal", "Normal"}, {"axis", "Axis"}, {NULL, NULL}};
static const mn_menu_item impact_items[] = {
    {"bounce", "Bounce"}, {"stick", "Stick"}, {"die", "Die"}, {NULL, NULL}};

#define NOT_BOUNCING "{ impact != bounce }"

const mn_field mn_spray_fields[] = {
    MN_FIELD_FLOAT(def, rate, "Rate", "1/s", 1000, 0, 1e12, 0, 100000, "Emission", NULL,
                   "Drops born in a second, spread evenly over time. Animate it for bursts."),
    MN_FIELD_MENU(
        def, emit_from, "Emit From", emit_items, MN_SPRAY_FROM_SURFACE, "Emission", NULL,
        "Everywhere on the source's polygons, or at its points only. A source without polygons emits from "
        "its points."),
    MN_FIELD_FLOAT(def, speed, "Speed", "m/s", 1, -1e6, 1e6, 0, 20, "Emission", NULL,
                   "How fast drops leave the source, on top of the source's own motion."),
    MN_FIELD_FLOAT(
        def, speed_variation, "Speed Variation", "", 0.1, 0, 1, 0, 1, "Emission", NULL,
        "Speeds vary evenly by this fraction to either side: 0.1 gives 0.9 to 1.1 times the speed."),
    MN_FIELD_MENU(def, along, "Along", along_items, MN_SPRAY_ALONG_NORMAL, "Emission", NULL,
                  "Drops leave along the source's normals (its N, or the polygons' own) or along one axis."),
    MN_FIELD_VEC3(
        def, direction, "Direction", "", 0, 1, 0, -MN_FAR, MN_FAR, -1, 1, "Emission", NULL,
        "The axis to emit along, and the direction where the source has no normals. Its length does not "
        "matter."),
    MN_FIELD_FLOAT(
        def, spread, "Spread", "deg", 10, 0, 180, 0, 90, "Emission", NULL,
        "Half angle of the cone that drops leave in: 0 is a jet, 90 a half ball, 180 all directions."),
    MN_FIELD_FLOAT(
        def, inherit_velocity, "Inherit Velocity", "", 1, -1000, 1000, 0, 1, "Emission", NULL,
        "Fraction of the source's velocity that drops start with: its v, or the motion of its points from "
        "frame to frame."),
    MN_FIELD_FLOAT(def, radius, "Radius", "m", 0.001, 1e-9, 1000, 1e-5, 0.01, "Drops", NULL,
                   "Radius of newborn drops. The air stops small ones; large ones fly far."),
    MN_FIELD_FLOAT(def, radius_variation, "Radius Variation", "", 0.3, 0, 0.99, 0, 0.99, "Drops", NULL,
                   "Radii vary evenly by this fraction to either side."),
    MN_PARM_MATERIAL("Drops"),
    MN_FIELD_DENSITY(def, "Drops", ""),
    MN_FIELD_FLOAT(def, life, "Life", "s", 0, 0, 1e9, 0, 10, "Drops", NULL,
                   "How long drops live; with 0 they live until something removes them."),
    MN_FIELD_FLOAT(def, life_variation, "Life Variation", "", 0.2, 0, 1, 0, 1, "Drops", "{ life == 0 }",
                   "Lives vary evenly by this fraction to either side."),
    MN_FIELD_GRAVITY(def, "Air"),
    MN_FIELDS_AIR(def, "Air"),
    MN_FIELD_FLOAT(def, drag, "Drag", "", 1, 0, 1e6, 0, 4, "Air", NULL,
                   "Factor on the drag of a sphere; 0 lets drops fly as in a vacuum."),
    MN_FIELD_MENU(def, impact, "Impact", impact_items, MN_IMPACT_BOUNCE, "Impact", NULL,
                  "What happens to a drop that meets a collider."),
    MN_FIELD_FLOAT(
        def, restitution, "Restitution", "", 0.3, 0, 1, 0, 1, "Impact", NOT_BOUNCING,
        "Speed away from the collider over speed towards it. A drop bounces to the square of this times its "
        "height."),
    MN_FIELD_FRICTION(def, 0.2, "Impact", NOT_BOUNCING,
                      "Coulomb friction coefficient; drops slide on slopes steeper than its arc tangent."),
    MN_FIELD_FLOAT(
        def, cfl, "Collider Step", "voxel", 1, 0.01, 100, 0.1, 2, "Impact", NULL,
        "At a collider a drop moves by at most this many of its voxels at once. Smaller is finer."),
    MN_FIELDS_LIMITS(def, 10),
    MN_FIELD_INT(def, max_drops, "Maximum Drops", "", 50000000, 0, 2000000000, 1000, 10000000, "Limits", NULL,
                 "More drops than this end the simulation with an error instead of filling the memory."),
    MN_FIELD_SEED(def, "Simulation", "Another number gives other drops of the same kind."),
    MN_FIELDS_STEPS(def),
};
MN_FIELDS_END(mn_spray_fields, MN_SPRAY_FIELD_COUNT);

mn_spray_def mn_spray_default_def(void)
{
    mn_spray_def made = {0};
    mn_def_default(mn_spray_fields, MN_SPRAY_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}
