// SPDX-License-Identifier: Apache-2.0
//
// Primitives that mn_geo has no kind for, by what they stand for.
#ifndef MENISCUS_PLUGIN_HOUDINI_STAND_INS_HPP
#define MENISCUS_PLUGIN_HOUDINI_STAND_INS_HPP

#include <string>

#include <GA/GA_Types.h>

class GU_Detail;

namespace mn_houdini
{

/// Puts into the empty `plain` what the primitive stands for. False when Houdini knows no conversion.
bool make_stand_in(const GU_Detail &detail, GA_Offset offset, GU_Detail &plain);

} // namespace mn_houdini

#endif
