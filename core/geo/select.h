// SPDX-License-Identifier: Apache-2.0
//
// Elements by a pattern, as artists write it into a group field.
#ifndef MENISCUS_GEO_SELECT_H
#define MENISCUS_GEO_SELECT_H

#include "meniscus/geo.h"

/// Sets a byte for each chosen point and primitive; an empty pattern chooses all. See select.c for the words.
/// MN_ERROR_INPUT with a sentence that names the groups there are for a word that none matches.
mn_status mn_geo_select(const mn_geo *geo, const char *pattern, uint8_t *points, uint8_t *primitives);

#endif
