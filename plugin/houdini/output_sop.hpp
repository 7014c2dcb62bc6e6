// SPDX-License-Identifier: Apache-2.0
//
// Solver Output: gives another output of the solver that it is connected to. Its wire is an ordinary one from
// the solver's first output, so it rests on nothing but what every SOP does; the geometry comes from the
// solver's C++ object.
#ifndef MENISCUS_PLUGIN_HOUDINI_OUTPUT_SOP_HPP
#define MENISCUS_PLUGIN_HOUDINI_OUTPUT_SOP_HPP

#include <OP/OP_Operator.h>
#include <SOP/SOP_Node.h>

namespace mn_houdini
{

class output_sop final : public SOP_Node
{
  public:
    output_sop(OP_Network *network, const char *name, OP_Operator *op);
    static OP_Node *create(OP_Network *network, const char *name, OP_Operator *op);

  protected:
    OP_ERROR cookMySop(OP_Context &context) override;
};

} // namespace mn_houdini

#endif
