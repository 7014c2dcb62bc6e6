// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the Houdini shim share: a way to look at details, and a small simulation.
#ifndef MENISCUS_TESTS_HOSTS_TEST_SHIM_HPP
#define MENISCUS_TESTS_HOSTS_TEST_SHIM_HPP

#include "double.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>

extern "C" {
#include <unistd.h>

#include <cmocka.h>
}

#include "meniscus/geo.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/text_files.h"

namespace double_ = houdini_double;

inline fpreal time_of(double frame)
{
    return CHgetTimeFromFrame(frame);
}

inline std::string operator_of(const char *name)
{
    char text[MN_HOUDINI_NAME];
    mn_houdini_operator_name(name, text);
    return text;
}

/// A context and a way to look at a detail with our own eyes.
struct eyes {
    mn_context *ctx = mn_context_create(nullptr);
    std::vector<std::string> warnings;
    ~eyes() { mn_context_free(ctx); }
    mn_geo *see(const GU_Detail &detail)
    {
        mn_geo *geo = nullptr;
        const mn_status status = mn_houdini::read_detail(
            ctx, detail, [this](const std::string &text) { warnings.push_back(text); }, &geo);
        if (status != MN_OK) fail_msg("%s", mn_context_message(ctx));
        return geo;
    }
    uint64_t hash(const GU_Detail *detail)
    {
        assert_non_null(detail);
        mn_geo *geo = see(*detail);
        const uint64_t hash = mn_geo_hash(geo);
        mn_geo_free(geo);
        return hash;
    }
};

/// A drop that swims in nothing.
struct pond {
    std::unique_ptr<SOP_Node> ball = double_::make(operator_of("shape"), "ball"),
                              fill = double_::make(operator_of("fill"), "fill"),
                              liquid = double_::make(operator_of("mpm_solver"), "liquid");
    pond()
    {
        double_::set(*ball, "radius", {0.004, 0.003, 0.003});
        double_::set(*ball, "kind", {1});
        double_::set(*fill, "dx", {0.001});
        double_::set(*liquid, "dx", {0.001});
        double_::set(*liquid, "gravity", {0, 0, 0});
        double_::set(*liquid, "time_scale", {0.02});
        double_::connect(*fill, 0, *ball);
        double_::connect(*liquid, 0, *fill);
    }
};

/// Each runs its tests and gives the number that failed.
int test_shim_cooking();
int test_shim_networks();
int test_shim_guides();
/// `hosts_test_houdini_shim SCENE NODE OUTPUTS FRAME` prints the hashes of what the node gives in Houdini's
/// stead at its first outputs, for tests that compare hosts.
int cook_scene(char **words);

#endif
