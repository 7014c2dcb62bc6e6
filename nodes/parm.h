// SPDX-License-Identifier: Apache-2.0
//
// Rows of a parameter table, each with what its kind needs:
//
//   MN_FLOAT("rate", "Rate", "1/s", 1000, 0, 1e9, 0, 10000, "Emission", NULL,
//            "Drops that are born in a second."),
//
// The four numbers after the default are the hard range and the soft range (the slider); NULL is
// disable_when.
#ifndef MENISCUS_NODES_PARM_H
#define MENISCUS_NODES_PARM_H

#include "nodes/node.h"

/// The largest length, coordinate, angle or factor of a hard range: products of three still fit a float.
#define MN_FAR 1e9

#define MN_FLOAT(name_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,        \
                 disable_when_, tooltip_)                                                                    \
    {                                                                                                        \
        name_, label_, MN_PARM_FLOAT, 1, {default_}, NULL, hard_min_, hard_max_, soft_min_, soft_max_,       \
            unit_, NULL, folder_, disable_when_, tooltip_                                                    \
    }
#define MN_VEC3(name_, label_, unit_, x_, y_, z_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,       \
                disable_when_, tooltip_)                                                                     \
    {                                                                                                        \
        name_, label_, MN_PARM_FLOAT, 3, {x_, y_, z_}, NULL, hard_min_, hard_max_, soft_min_, soft_max_,     \
            unit_, NULL, folder_, disable_when_, tooltip_                                                    \
    }
#define MN_INT(name_, label_, unit_, default_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,          \
               disable_when_, tooltip_)                                                                      \
    {                                                                                                        \
        name_, label_, MN_PARM_INT, 1, {default_}, NULL, hard_min_, hard_max_, soft_min_, soft_max_, unit_,  \
            NULL, folder_, disable_when_, tooltip_                                                           \
    }
#define MN_INT3(name_, label_, unit_, x_, y_, z_, hard_min_, hard_max_, soft_min_, soft_max_, folder_,       \
                disable_when_, tooltip_)                                                                     \
    {                                                                                                        \
        name_, label_, MN_PARM_INT, 3, {x_, y_, z_}, NULL, hard_min_, hard_max_, soft_min_, soft_max_,       \
            unit_, NULL, folder_, disable_when_, tooltip_                                                    \
    }
#define MN_TOGGLE(name_, label_, default_, folder_, disable_when_, tooltip_)                                 \
    {                                                                                                        \
        name_, label_, MN_PARM_TOGGLE, 1, {default_}, NULL, 0, 1, 0, 1, "", NULL, folder_, disable_when_,    \
            tooltip_                                                                                         \
    }
/// `items_` is the table itself, not a pointer: its length gives the range.
#define MN_MENU(name_, label_, items_, default_, folder_, disable_when_, tooltip_)                           \
    {                                                                                                        \
        name_, label_, MN_PARM_MENU, 1, {default_}, NULL, 0, MN_COUNT_OF(items_) - 2, 0,                     \
            MN_COUNT_OF(items_) - 2, "", items_, folder_, disable_when_, tooltip_                            \
    }
#define MN_FILE(name_, label_, default_, folder_, disable_when_, tooltip_)                                   \
    {                                                                                                        \
        name_, label_, MN_PARM_FILE, 1, {0}, default_, 0, 0, 0, 0, "", NULL, folder_, disable_when_,         \
            tooltip_                                                                                         \
    }

#endif
