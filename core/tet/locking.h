// SPDX-License-Identifier: Apache-2.0
//
// Division of what locks, for the time of a step (locking.c).
#ifndef MENISCUS_TET_LOCKING_H
#define MENISCUS_TET_LOCKING_H

#include "tet/state.h"

/// Divides what locks, when the def asks for it; the mesh is kept aside.
mn_status mn_tet_liquid_divide(mn_tet_liquid *liquid);
/// Whether the mesh that was kept stays positive with its nodes at these places.
bool mn_tet_liquid_may_rejoin(const mn_tet_liquid *liquid, const mn_vec3 *place);
/// Back to the mesh as it was, with its nodes moved.
mn_status mn_tet_liquid_rejoin(mn_tet_liquid *liquid);
/// Back to the mesh as it was, and to where it was.
void mn_tet_liquid_forget_division(mn_tet_liquid *liquid);

#endif
