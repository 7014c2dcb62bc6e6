// SPDX-License-Identifier: Apache-2.0
//
// One SOP class for every node type: the type's table says what it is. Nodes without memory cook; simulating
// ones go through the driver that all hosts share (plugin/host/sim/sim.h), so that a frame is the same
// whichever way it was reached.
#ifndef MENISCUS_PLUGIN_HOUDINI_SOP_HPP
#define MENISCUS_PLUGIN_HOUDINI_SOP_HPP

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <GU/GU_DetailHandle.h>
#include <OP/OP_Operator.h>
#include <PRM/PRM_Template.h>
#include <SOP/SOP_Node.h>

#include "plugin/host/sim/sim.h"

class OP_OperatorTable;
class UT_AutoInterrupt;
class UT_InfoTree;
class OP_NodeInfoTreeParms;

namespace mn_houdini
{

/// What a virtual function with one argument returns and takes. Houdini counts inputs by another integer type
/// in one version than in the next; an override made of these follows it.
template <typename Function> struct signature;
template <typename Class, typename Result, typename Argument>
struct signature<Result (Class::*)(Argument) const> {
    using result = Result;
    using argument = Argument;
};

class sop final : public SOP_Node
{
    using asks_of_input = signature<decltype(&OP_Node::isRefInput)>;

  public:
    sop(OP_Network *network, const char *name, OP_Operator *op);
    ~sop() override;

    static OP_Node *create(OP_Network *network, const char *name, OP_Operator *op);
    /// The reset button.
    static int reset(void *node, int index, fpreal64 time, const PRM_Template *);
    /// Of types without memory, for compiled blocks; NULL for simulations.
    const SOP_NodeVerb *cookVerb() const override;
    /// Wires of colliders, sinks, wind and the like are dashed.
    asks_of_input::result isRefInput(asks_of_input::argument input) const override;
    void opChanged(OP_EventType reason, void *data = nullptr) override;
    void fillInfoTreeNodeSpecific(UT_InfoTree &tree, const OP_NodeInfoTreeParms &asked) override;
    /// Any output into a detail of somebody else's, with the sentence of a failure or a cancel.
    mn_status give_output(OP_Context &context, int output, GU_Detail &detail, std::string &sentence);

  protected:
    OP_ERROR cookMySop(OP_Context &context) override;
    GU_DetailHandle cookMySopOutput(OP_Context &context, int output, SOP_Node *interests) override;
    OP_ERROR cookMyGuide1(OP_Context &context) override;

  private:
    /// What one cook needs of Houdini, alive while it runs.
    struct visit {
        OP_Context *context;
        UT_AutoInterrupt *interrupt;
        double progress;
        bool silent;                ///< what is said was said before, by the cook that a guide follows
        std::set<std::string> said; ///< warnings of this cook: inputs are read more than once
    };

    /// An input as it was read last. Houdini's numbers say when it is the same geometry again.
    struct reading {
        exint detail = -1, count = -1;
        mn_geo *geo = nullptr;
        uint64_t hash = 0;
        std::vector<std::string> warnings; ///< what was left out, said again by each cook that uses it
    };

    mn_status cook_outputs(OP_Context &context, int output, mn_cooked **cooked);
    mn_status cook_once(double frame, mn_cooked **cooked);
    mn_status simulate(double frame, uint64_t outputs, mn_cooked **cooked);
    void resume(const mn_sim_host &host, const char *path);
    void write_checkpoint(const mn_sim_host &host, const char *path, int32_t every);
    mn_status cook_guides(double frame);
    mn_status evaluate(double frame, std::vector<mn_parm_value> &values);
    void evaluate_one(int32_t parm, double frame, mn_parm_value *value);
    mn_status gather(double frame);
    mn_status read_input(int input, OP_Context &there);
    const char *label_of(int input) const;
    void forget_readings();
    mn_sim_look look_at(double frame);
    void say(mn_status status);
    bool is_there(double frame);
    mn_status write_own(const mn_geo *geo);
    mn_status write_moved(const mn_geo *geo, GU_Detail &detail);

    static mn_status sample(void *user, int32_t frame, mn_sim_want want, mn_sim_sample *taken);
    static void warn(void *user, const char *sentence);
    static void parm_at(void *user, int32_t parm, double frame, mn_parm_value *value);
    static bool cancelled(void *user);
    static void progress(void *user, double fraction, const char *what);

    const mn_node_type *type = nullptr;
    mn_context *ctx = nullptr;
    mn_sim *sim = nullptr;
    visit *current = nullptr;
    std::vector<mn_parm_value> parms;
    std::vector<std::string> strings, strings_elsewhere; ///< by parameter: this frame's, and another's
    std::vector<reading> readings;                       ///< by input
    std::vector<mn_geo *> inputs;                        ///< those of this cook; the readings own them
    uint64_t input_stamp = 0;
    bool edited = true;            ///< since the last frame that was simulated
    double last_frame = 0;         ///< that frame
    bool held = false;             ///< the playbar says not to simulate, and the frame is not there
    double between = 0;            ///< seconds since the whole frame that is shown
    mn_geo *written_geo = nullptr; ///< what this node's detail holds, of a simulation
    exint written_into = -1;       ///< that detail
    bool is_reset = false;         ///< by the button: the checkpoint on disk is not gone back to
    int32_t written = INT32_MIN;   ///< the frame of the checkpoint on disk
};

/// Adds every node type of this build to Houdini's table.
void register_all(OP_OperatorTable *table);

} // namespace mn_houdini

#endif
