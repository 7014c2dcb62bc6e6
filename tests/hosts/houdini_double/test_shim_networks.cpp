// SPDX-License-Identifier: Apache-2.0
//
// Whole networks through the shim: saved, loaded, and cooked from a scene as an asset has them inside.
#include "test_shim.hpp"

using nodes_by_name = std::map<std::string, std::unique_ptr<SOP_Node>>;

/// What a scene file of Houdini's keeps of nodes: their types, parameters and wires, and nothing else.
static std::string saved(const std::vector<SOP_Node *> &nodes)
{
    std::ostringstream out;
    out << std::setprecision(17);
    for (const SOP_Node *node : nodes) {
        out << "node " << node->op->name.c_str() << ' ' << node->name.c_str() << '\n';
        for (const auto &[name, parm] : node->parameters) {
            if (parm.numbers.empty()) continue;
            out << "parm " << name << ' ' << parm.numbers.size();
            for (const auto &number : parm.numbers) out << ' ' << number(0);
            out << '\n';
        }
        for (size_t i = 0; i < node->inputs.size(); i++)
            if (node->inputs[i].source)
                out << "wire " << i << ' ' << node->inputs[i].source->name.c_str() << ' '
                    << node->inputs[i].output << '\n';
    }
    return out.str();
}

static nodes_by_name loaded(const std::string &text)
{
    nodes_by_name nodes;
    std::istringstream in(text);
    std::string word, name, source;
    SOP_Node *last = nullptr;
    while (in >> word) {
        size_t count;
        int output;
        if (word == "node") {
            in >> source >> name;
            last = (nodes[name] = double_::make(source, name)).get();
        } else if (word == "parm") {
            in >> name >> count;
            std::vector<double> values(count);
            for (double &value : values) in >> value;
            double_::set(*last, name, values);
        } else {
            in >> count >> source >> output;
            double_::connect(*last, static_cast<unsigned>(count), *nodes.at(source), output);
        }
    }
    return nodes;
}

static void a_saved_network_reloads_and_gives_the_same_bits(void **)
{
    eyes e;
    std::string text;
    uint64_t before;
    {
        pond p;
        double_::set(*p.liquid, "sigma", {0.485});
        before = e.hash(p.liquid->cook(0, time_of(3)));
        text = saved({p.ball.get(), p.fill.get(), p.liquid.get()});
    } // Houdini is closed
    nodes_by_name again = loaded(text);
    assert_true(e.hash(again.at("liquid")->cook(0, time_of(3))) == before);
    assert_string_equal(
        saved({again.at("ball").get(), again.at("fill").get(), again.at("liquid").get()}).c_str(),
        text.c_str());
}

/// A node Solver Output behind a solver, one for each output.
static SOP_Node *output_of(nodes_by_name &givers, SOP_Node &solver, int output)
{
    const std::string name = std::string(solver.name.c_str()) + "_output" + std::to_string(output + 1);
    if (!givers.count(name)) {
        givers[name] = double_::make(operator_of(MN_HOUDINI_OUTPUT), name);
        double_::set(*givers[name], "output", {output + 1.0});
        double_::connect(*givers[name], 0, solver);
    }
    return givers[name].get();
}

/// The nodes of a scene, with its parameters, keys and wires, as an asset has them inside.
static nodes_by_name nodes_of(const mn_network *network)
{
    nodes_by_name nodes;
    for (int32_t n = 0; n < mn_network_node_limit(network); n++) {
        const mn_node_type *type = mn_network_node_type(network, n);
        if (!type) continue;
        const char *name = mn_network_node_name(network, n);
        auto node = double_::make(operator_of(type->name), name);
        for (int32_t k = 0; k < type->parm_count; k++) {
            const mn_parm_def &def = type->parms[k];
            mn_parm_value value;
            const mn_key *keys;
            assert_int_equal(mn_network_parm(network, n, def.name, 1, &value), MN_OK);
            node->parameters[def.name].animated = mn_network_keys(network, n, def.name, &keys) > 0;
            if (mn_parm_is_text(&def))
                double_::set_text(*node, def.name, value.string ? value.string : "");
            else
                for (int32_t c = 0; c < def.size; c++)
                    node->parameters[def.name].numbers[static_cast<size_t>(c)] = [=](fpreal time) {
                        mn_parm_value then;
                        mn_network_parm(network, n, def.name, CHgetSampleFromTime(time), &then);
                        return then.number[c];
                    };
        }
        nodes[name] = std::move(node);
    }
    nodes_by_name givers; // of other outputs, as assets have them
    for (const auto &[name, node] : nodes) {
        const int32_t n = mn_network_find(network, name.c_str());
        for (int32_t i = 0; i < mn_network_input_count(network, n); i++) {
            int32_t source, output;
            mn_network_input(network, n, i, &source, &output);
            if (source < 0) continue;
            SOP_Node *from = nodes.at(mn_network_node_name(network, source)).get();
            if (output > 0) from = output_of(givers, *from, output);
            double_::connect(*node, static_cast<unsigned>(i), *from);
        }
    }
    nodes.merge(givers);
    return nodes;
}

int cook_scene(char **words)
{
    eyes e;
    mn_network *network;
    int code = 0;
    if (mn_scene_read(e.ctx, nullptr, words[0], &network) != MN_OK) {
        std::fprintf(stderr, "%s\n", mn_context_message(e.ctx));
        return 1;
    }
    {
        CHgetManager()->fps = mn_network_fps(network);
        const nodes_by_name nodes = nodes_of(network);
        SOP_Node &node = *nodes.at(words[1]);
        for (int output = 0; output < std::atoi(words[2]) && code == 0; output++) {
            const GU_Detail *detail = node.cook(output, time_of(std::atof(words[3])));
            if (detail)
                std::printf("%llu\n", static_cast<unsigned long long>(e.hash(detail)));
            else
                code = 1;
        }
        for (const std::string &error : node.errors) std::fprintf(stderr, "%s\n", error.c_str());
    }
    mn_network_free(network);
    return code;
}

int test_shim_networks()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_network_reloads_and_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
