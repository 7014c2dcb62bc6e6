// SPDX-License-Identifier: Apache-2.0
//
// Everything public in the core.
#ifndef MENISCUS_MENISCUS_H
#define MENISCUS_MENISCUS_H

#include "meniscus/arena.h"
#include "meniscus/array.h"
#include "meniscus/band.h"
#include "meniscus/blocks.h"
#include "meniscus/collider.h"
#include "meniscus/context.h"
#include "meniscus/fill.h"
#include "meniscus/geo.h"
#include "meniscus/hash.h"
#include "meniscus/isosurface.h"
#include "meniscus/krylov.h"
#include "meniscus/level_set.h"
#include "meniscus/mesh_smooth.h"
#include "meniscus/mls_operators.h"
#include "meniscus/mpm.h"
#include "meniscus/neighbours.h"
#include "meniscus/parallel.h"
#include "meniscus/predicates.h"
#include "meniscus/random.h"
#include "meniscus/report.h"
#include "meniscus/shape.h"
#include "meniscus/skin.h"
#include "meniscus/sparse.h"
#include "meniscus/spray.h"
#include "meniscus/status.h"
#include "meniscus/stream.h"
#include "meniscus/tet_geo.h"
#include "meniscus/tet_mesh.h"
#include "meniscus/tet_quality.h"
#include "meniscus/tet_remesh.h"
#include "meniscus/tet_resample.h"
#include "meniscus/tet_stuffing.h"
#include "meniscus/timer.h"
#include "meniscus/triangles.h"
#include "meniscus/vec.h"
#include "meniscus/volume.h"

#endif
