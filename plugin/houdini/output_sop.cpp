// SPDX-License-Identifier: Apache-2.0
//
// The node Solver Output.
#include "plugin/houdini/output_sop.hpp"
#include "plugin/houdini/sop.hpp"
#include "plugin/houdini/text_files.h"

#include <GU/GU_Detail.h>

namespace mn_houdini
{

output_sop::output_sop(OP_Network *network, const char *name, OP_Operator *op) : SOP_Node(network, name, op)
{
    mySopFlags.setManagesDataIDs(true); // write_detail() says what it has changed
}

OP_Node *output_sop::create(OP_Network *network, const char *name, OP_Operator *op)
{
    return new output_sop(network, name, op);
}

OP_ERROR output_sop::cookMySop(OP_Context &context)
{
    auto *solver = dynamic_cast<sop *>(getInput(0));
    if (!solver) {
        addError(SOP_MESSAGE, "Connect input 1 to a Meniscus solver, without a node in between.");
        return error();
    }
    // Cooks the solver's first output and makes this node follow it, in time and when it is edited.
    if (lockInput(0, context) >= UT_ERROR_ABORT) return error();
    const auto output = static_cast<int>(evalInt(mn_houdini_output_parm.name, 0, context.getTime()));
    std::string sentence;
    const mn_status status = solver->give_output(context, output - 1, *gdp, sentence);
    if (status == MN_ERROR_CANCELLED)
        addWarning(SOP_MESSAGE, sentence.c_str());
    else if (status != MN_OK)
        addError(SOP_MESSAGE, sentence.c_str());
    unlockInput(0);
    return error();
}

} // namespace mn_houdini
