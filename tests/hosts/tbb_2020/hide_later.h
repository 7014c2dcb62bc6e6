// SPDX-License-Identifier: Apache-2.0
//
// Not TBB: the installed TBB 2021 with OpenVDB on top, after which the names that came with 2021 are hidden.
// Whoever says tbb::info behind this does not compile, as with TBB 2020.
#ifndef MENISCUS_TESTS_HIDE_LATER_H
#define MENISCUS_TESTS_HIDE_LATER_H

#include <openvdb/openvdb.h>
#include <openvdb/tools/GridTransformer.h>
#include <openvdb/tools/Interpolation.h>
#include <openvdb/tools/SignedFloodFill.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#define info came_with_tbb_2021
#define collaborative_call_once came_with_tbb_2021_too
#define task_handle came_with_tbb_2021_as_well

#endif
