// SPDX-License-Identifier: Apache-2.0
//
// A parameter is one row of a table. The row says everything there is to say about it: name, label, unit,
// range, default and sentence for artists, and where its value stands in the solver's def. From the table
// come the def's defaults, its check, the parameters of the node in every host, and the documentation.
//
//   typedef struct mn_spray_def { double rate; mn_vec3 gravity; ... } mn_spray_def;
//
//   const mn_field mn_spray_fields[] = {
//       MN_FIELD_FLOAT(mn_spray_def, rate, "Rate", "1/s", 1000, 0, 1e9, 0, 10000, "Emission", NULL,
//                      "Drops that are born in a second."),
//       MN_FIELD_GRAVITY(mn_spray_def, "Air"),
//       MN_FIELDS_STEPS(mn_spray_def),
//   };
//   MN_FIELDS_END(mn_spray_fields, MN_SPRAY_FIELD_COUNT);
//
// MN_FIELD_* rows stand for a member of the def, which has the row's name; MN_FLOAT, MN_MENU and so on are
// rows that only the node reads. The four numbers after the default are the hard range (values outside are
// errors) and the soft range (the slider); the two strings before the sentence are the folder and
// disable_when, which is NULL or Houdini's syntax: "{ kind == sphere } { kind == torus }".
#ifndef MENISCUS_FIELD_H
#define MENISCUS_FIELD_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_parm_kind {
    MN_PARM_FLOAT,  ///< `size` components
    MN_PARM_INT,    ///< `size` components
    MN_PARM_TOGGLE, ///< 0 or 1
    MN_PARM_MENU,   ///< one of `items`; its value is the item's index, scenes and scripts use its token
    MN_PARM_STRING,
    MN_PARM_FILE, ///< a string that is a path
} mn_parm_kind;

typedef struct mn_menu_item {
    const char *token; ///< lower_snake, for scenes and scripts
    const char *label; ///< for artists
} mn_menu_item;

/// How a value stands in memory.
typedef enum mn_storage {
    MN_STORE_NONE, ///< not in the def: only the node reads the row
    MN_STORE_F64,
    MN_STORE_F32,
    MN_STORE_I64,
    MN_STORE_I32,
    MN_STORE_U64,
    MN_STORE_U32, ///< and enums
    MN_STORE_U8,  ///< and bool
    /// An mn_box by its middle and its edges; the row with the edges comes right after the one with the
    /// middle.
    MN_STORE_BOX_CENTER,
    MN_STORE_BOX_SIZE,
} mn_storage;

/// What a material stands in for.
typedef enum mn_property {
    MN_PROPERTY_NONE,
    MN_PROPERTY_DENSITY,
    MN_PROPERTY_VISCOSITY,
    MN_PROPERTY_SIGMA
} mn_property;

typedef struct mn_field {
    const char *name;  ///< lower_snake, unique in its table
    const char *label; ///< for artists, without the unit
    mn_parm_kind kind;
    int32_t size;               ///< components, 1 to 4; 1 for everything but float and int
    double defaults[4];         ///< numeric kinds; a menu's is the index of its item
    const char *default_string; ///< string and file
    double hard_min, hard_max;  ///< values outside are errors; -INFINITY and INFINITY for none
    double soft_min, soft_max;  ///< the slider
    const char *unit;           ///< "m", "kg/m^3", "deg", "" for a pure number
    const mn_menu_item *items;  ///< menus; ends with a NULL token
    const char *folder;         ///< the tab it stands in
    const char *disable_when;   ///< NULL, or Houdini's syntax
    const char *tooltip;        ///< one or two sentences: what it does and when to change it
    mn_storage storage;         ///< of each component in the def
    size_t offset;              ///< of the first component in the def, bytes
    mn_property property;       ///< that a material gives in its place
    double of_dx; ///< a length of the grid: times the network's dx, where neither is set to another; 0: it is
                  ///< not
} mn_field;

/// Writes the defaults of every row that the def holds; the rest of the def stays as it is.
MN_API void mn_def_default(const mn_field *fields, int32_t count, void *def);
/// MN_ERROR_ARGUMENT with a sentence (name, value, range) for the first value outside its hard range.
MN_API mn_status mn_def_check(mn_context *ctx, const mn_field *fields, int32_t count, const void *def);
/// A row's value out of the def and into it; `value` has room for four. Nothing happens to rows of the node
/// alone.
MN_API void mn_field_get(const mn_field *field, const void *def, double *value);
MN_API void mn_field_set(const mn_field *field, void *def, const double *value);

/// `size` numbers of a storage as doubles, out and in.
MN_API void mn_storage_get(mn_storage storage, int32_t size, const void *at, double *value);
MN_API void mn_storage_set(mn_storage storage, int32_t size, void *at, const double *value);
/// Of one number; 0 for boxes.
MN_API size_t mn_storage_bytes(mn_storage storage);

#ifdef __cplusplus
}
#endif

#define MN_COUNT_OF(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

/// After a table: the count that its header gives must be right, since node types are made from it. When it
/// is not, the compiler's message names both.
#define MN_FIELDS_END(table_, count_)                                                                        \
    extern const char table_##_count[sizeof(table_) / sizeof((table_)[0])];                                  \
    extern const char table_##_count[count_]

/// The largest length, coordinate, angle or factor of a hard range: products of three still fit a float.
#define MN_FAR 1e9

// ---- rows that only the node reads ----

#define MN_ROW_NUMBER(kind_, size_, name_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,        \
                      folder_, disable_when_, tooltip_)                                                      \
    .name = name_, .label = label_, .kind = kind_, .size = size_, .hard_min = hard_min_,                     \
    .hard_max = hard_max_, .soft_min = soft_min_, .soft_max = soft_max_, .unit = unit_, .folder = folder_,   \
    .disable_when = disable_when_, .tooltip = tooltip_

#define MN_FLOAT(name_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,        \
                 disable_when_, tooltip_)                                                                    \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 1, name_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,    \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {                                                                                    \
                default_                                                                                     \
            }                                                                                                \
    }
/// A length that follows the network's dx, times `of_dx_`, until it is set itself; always in metres.
#define MN_LENGTH_OF_DX(of_dx_, name_, label_, default_, hard_min_, hard_max_, soft_min_, soft_max_,         \
                        folder_, tooltip_)                                                                   \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 1, name_, label_, "m", hard_min_, hard_max_, soft_min_, soft_max_,      \
                      folder_, NULL, tooltip_),                                                              \
            .defaults = {default_}, .of_dx = of_dx_                                                          \
    }
#define MN_VEC3(name_, label_, unit_, x_, y_, z_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,       \
                disable_when_, tooltip_)                                                                     \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 3, name_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,    \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {                                                                                    \
                x_,                                                                                          \
                y_,                                                                                          \
                z_                                                                                           \
            }                                                                                                \
    }
#define MN_INT(name_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,          \
               disable_when_, tooltip_)                                                                      \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_INT, 1, name_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,      \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {                                                                                    \
                default_                                                                                     \
            }                                                                                                \
    }
#define MN_INT3(name_, label_, unit_, x_, y_, z_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,       \
                disable_when_, tooltip_)                                                                     \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_INT, 3, name_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,      \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {                                                                                    \
                x_,                                                                                          \
                y_,                                                                                          \
                z_                                                                                           \
            }                                                                                                \
    }
#define MN_TOGGLE(name_, label_, default_, folder_, disable_when_, tooltip_)                                 \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_TOGGLE, 1, name_, label_, "", 0, 1, 0, 1, folder_, disable_when_, tooltip_),   \
            .defaults = {                                                                                    \
                default_                                                                                     \
            }                                                                                                \
    }
/// `items_` is the table itself, not a pointer: its length gives the range.
#define MN_MENU(name_, label_, items_, default_, folder_, disable_when_, tooltip_)                           \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_MENU, 1, name_, label_, "", 0, MN_COUNT_OF(items_) - 2, 0,                     \
                      MN_COUNT_OF(items_) - 2, folder_, disable_when_, tooltip_),                            \
            .defaults = {default_}, .items = items_                                                          \
    }
#define MN_TEXT(name_, label_, default_, folder_, disable_when_, tooltip_)                                   \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_STRING, 1, name_, label_, "", 0, 0, 0, 0, folder_, disable_when_, tooltip_),   \
            .default_string = default_                                                                       \
    }
#define MN_FILE(name_, label_, default_, folder_, disable_when_, tooltip_)                                   \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FILE, 1, name_, label_, "", 0, 0, 0, 0, folder_, disable_when_, tooltip_),     \
            .default_string = default_                                                                       \
    }

// ---- rows of a def: `type_` is the def, `member_` its member and the row's name ----

#define MN_STORE_OF(type_, member_)                                                                          \
    _Generic(((type_ *)0)->member_,                                                                                    \
             double: MN_STORE_F64,                                                                                     \
             double *: MN_STORE_F64,                                                                                   \
             mn_vec3: MN_STORE_F64,                                                                                    \
             float: MN_STORE_F32,                                                                                      \
             int64_t: MN_STORE_I64,                                                                                    \
             uint64_t: MN_STORE_U64,                                                                                   \
             int32_t: MN_STORE_I32,                                                                                    \
             uint32_t: MN_STORE_U32,                                                                                   \
             bool: MN_STORE_U8)
#define MN_ROW_AT(type_, member_) .storage = MN_STORE_OF(type_, member_), .offset = offsetof(type_, member_)

#define MN_FIELD_FLOAT(type_, member_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_,  \
                       folder_, disable_when_, tooltip_)                                                     \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 1, #member_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_, \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {default_}, MN_ROW_AT(type_, member_)                                                \
    }
/// The edge of the cells of a grid, which follows the network's dx until it is set itself.
#define MN_FIELD_DX(type_, member_, label_, default_, soft_min_, soft_max_, folder_, tooltip_)               \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 1, #member_, label_, "m", 1e-9, 1e6, soft_min_, soft_max_, folder_,     \
                      NULL, tooltip_),                                                                       \
            .defaults = {default_}, .of_dx = 1, MN_ROW_AT(type_, member_)                                    \
    }
#define MN_FIELD_VEC3(type_, member_, label_, unit_, x_, y_, z_, hard_min_, hard_max_, soft_min_, soft_max_, \
                      folder_, disable_when_, tooltip_)                                                      \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_FLOAT, 3, #member_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_, \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {x_, y_, z_}, MN_ROW_AT(type_, member_)                                              \
    }
#define MN_FIELD_INT(type_, member_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_,    \
                     folder_, disable_when_, tooltip_)                                                       \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_INT, 1, #member_, label_, unit_, hard_min_, hard_max_, soft_min_, soft_max_,   \
                      folder_, disable_when_, tooltip_),                                                     \
            .defaults = {default_}, MN_ROW_AT(type_, member_)                                                \
    }
#define MN_FIELD_TOGGLE(type_, member_, label_, default_, folder_, disable_when_, tooltip_)                  \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_TOGGLE, 1, #member_, label_, "", 0, 1, 0, 1, folder_, disable_when_,           \
                      tooltip_),                                                                             \
            .defaults = {default_}, MN_ROW_AT(type_, member_)                                                \
    }
/// An enum whose values are the places of `items_`.
#define MN_FIELD_MENU(type_, member_, label_, items_, default_, folder_, disable_when_, tooltip_)            \
    {                                                                                                        \
        MN_ROW_NUMBER(MN_PARM_MENU, 1, #member_, label_, "", 0, MN_COUNT_OF(items_) - 2, 0,                  \
                      MN_COUNT_OF(items_) - 2, folder_, disable_when_, tooltip_),                            \
            .defaults = {default_}, .items = items_, MN_ROW_AT(type_, member_)                               \
    }

#endif
