// SPDX-License-Identifier: Apache-2.0
//
// What Houdini adds to a simulation: whether it goes on, how much of it stays in memory, where its state is
// kept on disk, what is shown between frames and beside the result.
#include <math.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/text_files.h"

static const mn_parm_def sim_parms[] = {
    {.name = MN_HOUDINI_SIMULATE,
     .label = "Enable Simulation",
     .kind = MN_PARM_TOGGLE,
     .size = 1,
     .defaults = {1},
     .folder = "Simulation",
     .tooltip = "Off: frames that were made are shown and no others are made. Follows the switch on the "
                "playbar unless set here."},
    {.name = MN_HOUDINI_CACHE,
     .label = "Cache Memory",
     .kind = MN_PARM_INT,
     .size = 1,
     .defaults = {1024},
     .hard_min = 0,
     .hard_max = INFINITY,
     .soft_min = 0,
     .soft_max = 65536,
     .unit = "MB",
     .folder = "Simulation",
     .tooltip = "Frames and snapshots are kept up to this much; those unused for longest go first."},
    {.name = MN_HOUDINI_CHECKPOINT,
     .label = "Checkpoint File",
     .kind = MN_PARM_FILE,
     .size = 1,
     .default_string = "",
     .folder = "Simulation",
     .tooltip =
         "The state is written here while frames are simulated, and a new session resumes from it. With $F "
         "in its name every state stays, to be another simulation's initial state. Empty for none."},
    {.name = MN_HOUDINI_CHECKPOINT_EVERY,
     .label = "Checkpoint Every",
     .kind = MN_PARM_INT,
     .size = 1,
     .defaults = {10},
     .hard_min = 1,
     .hard_max = INFINITY,
     .soft_min = 1,
     .soft_max = 100,
     .unit = "frames",
     .folder = "Simulation",
     .disable_when = "{ " MN_HOUDINI_CHECKPOINT " == \"\" }",
     .tooltip = "How many frames are simulated between two writes of the checkpoint."},
    {.name = MN_HOUDINI_INITIAL,
     .label = "Initial State",
     .kind = MN_PARM_FILE,
     .size = 1,
     .default_string = "",
     .folder = "Simulation",
     .tooltip =
         "A checkpoint of any frame of this or another simulation: the start frame shows it, and everything "
         "after it comes of it, with the settings here. Empty: the inputs give the start."},
    {.name = MN_HOUDINI_SUBFRAMES,
     .label = "Move Between Frames",
     .kind = MN_PARM_TOGGLE,
     .size = 1,
     .defaults = {1},
     .folder = "Simulation",
     .tooltip = "Between whole frames points go on by their velocity, for motion blur with several samples. "
                "Off: the frame before is shown."},
    {.name = MN_HOUDINI_GUIDES,
     .label = "Show Guides",
     .kind = MN_PARM_TOGGLE,
     .size = 1,
     .defaults = {1},
     .folder = "Simulation",
     .tooltip = "Draws the domain, emitters with their flow, and contact lines beside the result."},
};

const mn_parm_def *mn_houdini_sim_parms(int32_t *count)
{
    *count = MN_COUNT_OF(sim_parms);
    return sim_parms;
}

const mn_parm_def mn_houdini_output_parm = {
    .name = "output",
    .label = "Output",
    .kind = MN_PARM_INT,
    .size = 1,
    .defaults = {2},
    .hard_min = 1,
    .hard_max = 8,
    .soft_min = 1,
    .soft_max = 8,
    .unit = "",
    .folder = "Output",
    .tooltip = "Which output of the solver is given, counted from 1 as on the solver's node.",
};

int32_t mn_houdini_sim_count(const mn_network *network)
{
    int32_t count = 0;
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        if (type && type->sim) count++;
    }
    return count;
}

bool mn_houdini_shared_start(const mn_network *network, mn_parm_value *start)
{
    const mn_asset *asset = mn_network_asset(network);
    bool any = false;
    if (mn_houdini_shows(asset, MN_HOUDINI_START)) return false;
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        mn_parm_value value;
        if (!type || !type->sim) continue;
        const int32_t parm = mn_parm_find(type, MN_HOUDINI_START);
        if (parm < 0 || mn_network_parm(network, i, MN_HOUDINI_START, 1, &value) != MN_OK) return false;
        for (int32_t k = 0; k < asset->parm_count; k++)
            if (asset->parms[k].node == i && asset->parms[k].parm == parm) return false;
        if (any && value.number[0] != start->number[0]) return false;
        *start = value;
        any = true;
    }
    return any;
}
