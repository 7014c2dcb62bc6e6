// SPDX-License-Identifier: Apache-2.0
//
// What a node shows besides its geometry: the information window and guides.
#include "plugin/host/network/guides.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/sop.hpp"
#include "plugin/houdini/text_files.h"

#include <CH/CH_Manager.h>
#include <GU/GU_Detail.h>
#include <SOP/SOP_Guide.h>
#include <UT/UT_InfoTree.h>
#include <UT/UT_Interrupt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mn_houdini
{

// ---- the information window ----

/// What the solver says of the frame that is shown.
void sop::fillInfoTreeNodeSpecific(UT_InfoTree &tree, const OP_NodeInfoTreeParms &asked)
{
    SOP_Node::fillInfoTreeNodeSpecific(tree, asked);
    if (!sim) return;
    UT_InfoTree *branch = tree.addChildMap("Meniscus");
    const mn_report *report = mn_sim_report(sim);
    for (int key = 0; branch && key < MN_REPORT_COUNT; key++) {
        if (!report->set[key]) continue;
        std::string text;
        for (int32_t i = 0; i < mn_report_key_components(static_cast<mn_report_key>(key)); i++) {
            char number[32];
            std::snprintf(number, sizeof number, "%s%.6g", i > 0 ? " " : "", report->value[key][i]);
            text += number;
        }
        branch->addProperties(mn_report_key_name(static_cast<mn_report_key>(key)), text.c_str());
    }
    for (int32_t i = 0; branch && i < report->seconds.count; i++) {
        char number[32];
        std::snprintf(number, sizeof number, "%.3g s", report->seconds.seconds[i]);
        branch->addProperties(report->seconds.name[i], number);
    }
}

// ---- guides ----

/// Lines beside the result: domain, emitters, contact lines. A simulation is asked for the frame that it has
/// just given and for no other, so that a guide never starts one; after a failure or a cancel the guides show
/// what there is without it.
mn_status sop::cook_guides(double frame)
{
    mn_cooked *cooked = nullptr;
    frame = std::floor(frame);
    MN_TRY(evaluate(frame, parms));
    const auto shown =
        static_cast<int32_t>(std::max(frame, mn_parm_number(type, parms.data(), "start_frame", frame)));
    if (sim && mn_sim_is_cached(sim, shown)) simulate(shown, 0, &cooked);
    mn_status status = evaluate(frame, parms);
    if (status == MN_OK) status = gather(frame);
    mn_guide_source source = {};
    source.type = type;
    source.parms = parms.data();
    source.inputs = inputs.data();
    source.input_count = static_cast<int32_t>(inputs.size());
    source.outputs = cooked ? cooked->outputs : nullptr;
    source.fps = CHgetManager()->getSamplesPerSec();
    mn_geo *guides = nullptr;
    if (status == MN_OK) status = mn_guides_create(ctx, &source, &guides);
    if (status == MN_OK) status = write_detail(ctx, guides, *myGuide1);
    mn_geo_free(guides);
    mn_cooked_release(cooked);
    return status;
}

OP_ERROR sop::cookMyGuide1(OP_Context &context)
{
    myGuide1->clearAndDestroy();
    if (!ctx || !type || !mn_guides_exist(type)) return error();
    if (type->sim && !evalInt(MN_HOUDINI_GUIDES, 0, context.getTime())) return error();
    UT_AutoInterrupt interrupt(type->label);
    visit now = {&context, &interrupt, 0, true, {}};
    current = &now;
    if (type->sim) mySopFlags.setTimeDepGuide1(true);
    if (cook_guides(mn_sim_snap_frame(CHgetSampleFromTime(context.getTime()))) != MN_OK)
        myGuide1->clearAndDestroy();
    current = nullptr;
    return error();
}

} // namespace mn_houdini
