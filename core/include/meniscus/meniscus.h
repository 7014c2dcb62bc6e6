// SPDX-License-Identifier: Apache-2.0
//
// Everything public in the core.
#ifndef MENISCUS_MENISCUS_H
#define MENISCUS_MENISCUS_H

#include "meniscus/array.h"
#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "meniscus/context.h"
#include "meniscus/elastic.h"
#include "meniscus/film.h"
#include "meniscus/flow.h"
#include "meniscus/geo.h"
#include "meniscus/mpm.h"
#include "meniscus/report.h"
#include "meniscus/spray.h"
#include "meniscus/stream.h"
#include "meniscus/tet.h"
#include "meniscus/tetmesh.h"
#include "meniscus/vec.h"

#endif
