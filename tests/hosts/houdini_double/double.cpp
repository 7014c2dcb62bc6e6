// SPDX-License-Identifier: Apache-2.0
//
// The double's geometry and nodes.
#include "double.h"

#include <algorithm>
#include <stdexcept>

// ---- attributes ----

void GA_Attribute::resize(GA_Offset elements)
{
    const auto count = static_cast<size_t>(elements * size);
    if (storage == GA_STORE_STRING)
        strings.resize(count);
    else if (storage >= GA_STORE_REAL16)
        reals.resize(count);
    else
        integers.resize(count);
}

const GA_AIFTuple *GA_Attribute::getAIFTuple() const
{
    static const GA_AIFTuple tuple;
    return storage == GA_STORE_STRING || is_array ? nullptr : &tuple;
}

const GA_AIFStringTuple *GA_Attribute::getAIFStringTuple() const
{
    static const GA_AIFStringTuple tuple;
    return storage == GA_STORE_STRING && !is_array ? &tuple : nullptr;
}

int GA_AIFTuple::getTupleSize(const GA_Attribute *attribute) const
{
    return attribute->size;
}
GA_Storage GA_AIFTuple::getStorage(const GA_Attribute *attribute) const
{
    return attribute->storage;
}
int GA_AIFStringTuple::getTupleSize(const GA_Attribute *attribute) const
{
    return attribute->size;
}
const char *GA_AIFStringTuple::getString(const GA_Attribute *attribute, GA_Offset offset, int index) const
{
    return attribute->strings.at(static_cast<size_t>(offset * attribute->size + index)).c_str();
}

template <typename T> static bool get_tuples(const GA_Attribute *attribute, const GA_Range &range, T *values)
{
    GA_AIFTuple::calls++;
    for (const GA_Offset offset : range.offsets)
        for (int i = 0; i < attribute->size; i++) {
            const auto at = static_cast<size_t>(offset * attribute->size + i);
            *values++ = attribute->storage >= GA_STORE_REAL16 ? static_cast<T>(attribute->reals.at(at))
                                                              : static_cast<T>(attribute->integers.at(at));
        }
    return true;
}

template <typename T> static bool set_tuples(GA_Attribute *attribute, const GA_Range &range, const T *values)
{
    GA_AIFTuple::calls++;
    for (const GA_Offset offset : range.offsets)
        for (int i = 0; i < attribute->size; i++) {
            const auto at = static_cast<size_t>(offset * attribute->size + i);
            const T value = *values++;
            if (attribute->storage == GA_STORE_REAL32)
                attribute->reals.at(at) = static_cast<float>(value);
            else if (attribute->storage >= GA_STORE_REAL16)
                attribute->reals.at(at) = static_cast<double>(value);
            else
                attribute->integers.at(at) = static_cast<int64>(value);
        }
    return true;
}

#define TUPLES_OF(T)                                                                                         \
    bool GA_AIFTuple::getRange(const GA_Attribute *a, const GA_Range &r, T *v) const                         \
    {                                                                                                        \
        return get_tuples(a, r, v);                                                                          \
    }                                                                                                        \
    bool GA_AIFTuple::setRange(GA_Attribute *a, const GA_Range &r, const T *v) const                         \
    {                                                                                                        \
        return set_tuples(a, r, v);                                                                          \
    }
TUPLES_OF(int32)
TUPLES_OF(int64)
TUPLES_OF(fpreal32)
TUPLES_OF(fpreal64)

// ---- details ----

static exint next_detail_id = 0;

GU_Detail::GU_Detail() : unique_id(next_detail_id++)
{
    clearAndDestroy();
}
GU_Detail::~GU_Detail() = default;

void GU_Detail::clearAndDestroy()
{
    point_alive.clear();
    vertex_points.clear();
    primitives.clear();
    for (GA_AttributeDict &dict : attributes) dict.all.clear();
    for (GA_ElementGroupTable &table : groups) table.all.clear();
    addFloatTuple(GA_ATTRIB_POINT, "P", 3, GA_Defaults(0))->setTypeInfo(GA_TYPE_POINT);
}

GA_Offset GU_Detail::element_count(GA_AttributeOwner owner) const
{
    return owner == GA_ATTRIB_POINT       ? getNumPointOffsets()
           : owner == GA_ATTRIB_VERTEX    ? getNumVertices()
           : owner == GA_ATTRIB_PRIMITIVE ? getNumPrimitives()
                                          : 1;
}

void GU_Detail::resize(GA_AttributeOwner owner)
{
    for (auto &attribute : attributes[owner].all) attribute->resize(element_count(owner));
}

GA_Size GU_Detail::getNumPoints() const
{
    return std::count(point_alive.begin(), point_alive.end(), true);
}

GA_Range GU_Detail::getPointRange() const
{
    GA_Range range;
    for (size_t i = 0; i < point_alive.size(); i++)
        if (point_alive[i]) range.offsets.push_back(static_cast<GA_Offset>(i));
    return range;
}

GA_Range GU_Detail::getPrimitiveRange() const
{
    GA_Range range;
    for (size_t i = 0; i < primitives.size(); i++) range.offsets.push_back(static_cast<GA_Offset>(i));
    return range;
}

GA_Offset GU_Detail::pointOffset(GA_Index index) const
{
    return getPointRange().offsets.at(static_cast<size_t>(index));
}

void GU_Detail::bumpAllDataIds()
{
    data_id++;
    topology_id++;
    for (const GA_AttributeDict &dict : attributes)
        for (const auto &attribute : dict.all) attribute->bumpDataId();
}

GA_Offset GU_Detail::appendPointBlock(GA_Size count)
{
    const GA_Offset first = getNumPointOffsets();
    point_alive.resize(static_cast<size_t>(first + count), true);
    resize(GA_ATTRIB_POINT);
    return first;
}

void GU_Detail::setPos3(GA_Offset offset, const UT_Vector3 &position)
{
    const float values[3] = {position(0), position(1), position(2)};
    set_tuples(findAttribute(GA_ATTRIB_POINT, "P"), GA_Range({}, offset, offset + 1), values);
}

UT_Vector3 GU_Detail::getPos3(GA_Offset offset) const
{
    float values[3];
    get_tuples(findAttribute(GA_ATTRIB_POINT, "P"), GA_Range({}, offset, offset + 1), values);
    return {values[0], values[1], values[2]};
}

GA_Attribute *GU_Detail::add(GA_AttributeOwner owner, const UT_StringHolder &name, int size,
                             GA_Storage storage)
{
    auto made = std::make_unique<GA_Attribute>();
    made->name = name;
    made->size = size;
    made->storage = storage;
    made->resize(element_count(owner));
    attributes[owner].all.push_back(std::move(made));
    return attributes[owner].all.back().get();
}

GA_Attribute *GU_Detail::addFloatTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size,
                                       const GA_Defaults &, const void *, const void *, GA_Storage storage)
{
    return add(owner, name, size, storage);
}

GA_Attribute *GU_Detail::addIntTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size,
                                     const GA_Defaults &, const void *, const void *, GA_Storage storage)
{
    return add(owner, name, size, storage);
}

GA_Attribute *GU_Detail::addStringTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size)
{
    return add(owner, name, size, GA_STORE_STRING);
}

GA_Attribute *GU_Detail::findAttribute(GA_AttributeOwner owner, const char *name) const
{
    for (const auto &attribute : attributes[owner].all)
        if (attribute->name == UT_StringHolder(name)) return attribute.get();
    return nullptr;
}

GA_ElementGroup *GU_Detail::createElementGroup(GA_AttributeOwner owner, const UT_StringHolder &name)
{
    auto made = std::make_unique<GA_ElementGroup>();
    made->name = name;
    groups[owner].all.push_back(std::move(made));
    return groups[owner].all.back().get();
}

GA_Offset GU_Detail::add_vertex(GA_Offset point)
{
    vertex_points.push_back(point);
    resize(GA_ATTRIB_VERTEX);
    return getNumVertices() - 1;
}

// ---- primitives ----

const GA_PrimitiveDefinition &GEO_Primitive::getTypeDef() const
{
    static const GA_PrimitiveDefinition kinds[] = {
        GA_PrimitiveDefinition("Polygon"),         GA_PrimitiveDefinition("Polygon Soup"),
        GA_PrimitiveDefinition("Tetrahedron"),     GA_PrimitiveDefinition("VDB"),
        GA_PrimitiveDefinition("Sphere"),          GA_PrimitiveDefinition("Volume"),
        GA_PrimitiveDefinition("Packed Geometry"), GA_PrimitiveDefinition("Agent")};
    return kinds[type];
}

GA_Offset GEO_Primitive::getPointOffset(GA_Size i) const
{
    return detail->vertex_points.at(static_cast<size_t>(getVertexOffset(i)));
}

GA_Offset GU_PrimPoly::buildBlock(GU_Detail *detail, GA_Offset first_point, GA_Size,
                                  const GEO_PolyCounts &counts, const int *points, bool closed)
{
    const GA_Offset first = detail->getNumPrimitives();
    for (const GA_Size count : counts.counts) {
        auto *made = detail->add_primitive<GU_PrimPoly>(GEO_PRIMPOLY);
        made->closed = closed;
        for (GA_Size i = 0; i < count; i++) made->appendVertex(first_point + *points++);
    }
    return first;
}

GA_Size GU_PrimPoly::appendVertex(GA_Offset point)
{
    vertices.push_back(detail->add_vertex(point));
    return getVertexCount() - 1;
}

GA_Offset GEO_PrimTetrahedron::buildBlock(GU_Detail *detail, GA_Offset first_point, GA_Size, GA_Size count,
                                          const int *points)
{
    const GA_Offset first = detail->getNumPrimitives();
    for (GA_Size i = 0; i < count; i++) {
        auto *made = detail->add_primitive<GEO_PrimTetrahedron>(GEO_PRIMTETRAHEDRON);
        for (int k = 0; k < 4; k++) made->vertices.push_back(detail->add_vertex(first_point + *points++));
    }
    return first;
}

GU_PrimVDB *GU_PrimVDB::buildFromGrid(GU_Detail &detail, openvdb::GridBase::Ptr grid, const GEO_PrimVDB *,
                                      const char *name)
{
    auto *made = detail.add_primitive<GU_PrimVDB>(GEO_PRIMVDB);
    made->grid = std::move(grid);
    made->name = name;
    made->vertices.push_back(detail.add_vertex(detail.appendPointBlock(1)));
    return made;
}

// ---- what Houdini makes of other primitives ----

bool GU_PrimPacked::unpackUsingPolygons(GU_Detail &plain) const
{
    const UT_Vector3 at = detail->getPos3(getPointOffset(0));
    plain.mergePrimitives(*inside, inside->getPrimitiveRange());
    for (const GA_Offset point : plain.getPointRange().offsets) {
        const UT_Vector3 x = plain.getPos3(point);
        plain.setPos3(point, UT_Vector3(x(0) + at(0), x(1) + at(1), x(2) + at(2)));
    }
    return true;
}

/// Polygons, spheres and packed primitives, without attributes but P.
void GU_Detail::mergePrimitives(const GU_Detail &source, const GA_Range &range)
{
    for (const GA_Offset offset : range.offsets) {
        const GEO_Primitive *from = source.getGEOPrimitive(offset);
        const GA_Offset first = appendPointBlock(from->getVertexCount());
        for (GA_Size i = 0; i < from->getVertexCount(); i++)
            setPos3(first + i, source.getPos3(from->getPointOffset(i)));
        GEO_Primitive *made;
        if (from->type == GEO_PRIMPACKED) {
            auto *packed = add_primitive<GU_PrimPacked>(GEO_PRIMPACKED);
            packed->inside = static_cast<const GU_PrimPacked *>(from)->inside;
            made = packed;
        } else if (from->type == GEO_PRIMPOLY) {
            auto *polygon = add_primitive<GU_PrimPoly>(GEO_PRIMPOLY);
            polygon->closed = static_cast<const GEO_PrimPoly *>(from)->closed;
            made = polygon;
        } else {
            made = add_primitive<GEO_Primitive>(from->type);
        }
        for (GA_Size i = 0; i < from->getVertexCount(); i++) made->vertices.push_back(add_vertex(first + i));
    }
}

/// Spheres become octahedra of radius 1, facing out the way Houdini's polygons do; agents stay.
void GU_Detail::convert(GU_ConvertParms &)
{
    std::vector<UT_Vector3> centers;
    for (size_t i = primitives.size(); i-- > 0;) {
        if (primitives[i]->type != GEO_PRIMSPHERE) continue;
        const GA_Offset point = primitives[i]->getPointOffset(0);
        centers.push_back(getPos3(point));
        destroyPointOffset(point);
        primitives.erase(primitives.begin() + static_cast<std::ptrdiff_t>(i));
    }
    static const int faces[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    for (const UT_Vector3 &center : centers) {
        const GA_Offset first = appendPointBlock(6);
        for (int i = 0; i < 6; i++) {
            UT_Vector3 x = center;
            x(i / 2) += i % 2 ? -1.0f : 1.0f;
            setPos3(first + i, x);
        }
        GEO_PolyCounts counts;
        for (int i = 0; i < 8; i++) counts.append(3);
        GU_PrimPoly::buildBlock(this, first, 6, counts, faces, true);
    }
}

GU_PrimVDB *GU_PrimVDB::buildFromPrimVolume(GU_Detail &detail, const GEO_PrimVolume &volume, const char *name)
{
    auto grid = openvdb::FloatGrid::create(0);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(volume.voxel));
    for (int i = 0; i < static_cast<int>(volume.values.size()); i++)
        grid->tree().setValue(openvdb::Coord(i % volume.resolution, i / volume.resolution % volume.resolution,
                                             i / volume.resolution / volume.resolution),
                              volume.values[static_cast<size_t>(i)]);
    return buildFromGrid(detail, grid, nullptr, name);
}

// ---- interrupts and time ----

static int questions_left = -1;

UT_AutoInterrupt::UT_AutoInterrupt(const char *) {}

bool UT_AutoInterrupt::wasInterrupted(int)
{
    if (questions_left < 0) return false;
    if (questions_left > 0) questions_left--;
    return questions_left == 0;
}

UT_Interrupt *UTgetInterrupt()
{
    static UT_Interrupt interrupt;
    return &interrupt;
}

CH_Manager *CHgetManager()
{
    static CH_Manager manager;
    return &manager;
}

// ---- nodes ----

OP_Operator::OP_Operator(const char *operator_name, const char *english, OP_Constructor construct,
                         PRM_Template *parameters, unsigned min_inputs, unsigned max_inputs, void *,
                         unsigned operator_flags, const char **labels, int max_outputs, const char *tab_menu)
    : name(operator_name), label(english), menu(tab_menu ? tab_menu : ""), constructor(construct),
      templates(parameters), least(min_inputs), most(max_inputs), flags(operator_flags), outputs(max_outputs)
{
    for (; labels && *labels; labels++) input_labels.emplace_back(*labels);
}

static bool simulation_enabled = true;

OP_Node::OP_Node(OP_Network *, const char *node_name, OP_Operator *of) : name(node_name), op(of)
{
    for (const PRM_Template *parm = op->templates; !parm->is_end; parm++) {
        parameter &made = parameters[parm->name];
        made.made_from = parm;
        if (parm->type == "string" || parm->type == "file") {
            made.text = parm->defaults.empty() ? "" : parm->defaults[0];
            continue;
        }
        for (int i = 0; i < parm->size; i++) {
            const std::string &text = parm->defaults.at(static_cast<size_t>(i));
            if (text == "hou.simulationEnabled()") {
                made.numbers.emplace_back([](fpreal) { return simulation_enabled ? 1 : 0; });
                continue;
            }
            const double value = std::stod(text);
            made.numbers.push_back([value](fpreal) { return value; });
        }
    }
}

OP_Node::~OP_Node()
{
    for (const wire &w : inputs)
        if (w.source) {
            auto &readers = w.source->outputs;
            readers.erase(std::find(readers.begin(), readers.end(), this));
        }
    for (OP_Node *reader : outputs)
        for (wire &w : reader->inputs)
            if (w.source == this) w.source = nullptr;
}

void OP_Node::opChanged(OP_EventType, void *)
{
    dirty = true;
    for (OP_Node *reader : outputs) reader->opChanged(OP_INPUT_CHANGED);
}

const OP_Node::parameter &OP_Node::find_parm(const char *parm) const
{
    const auto found = parameters.find(parm);
    if (found == parameters.end()) throw std::runtime_error(std::string("no parameter ") + parm);
    return found->second;
}

fpreal OP_Node::evalFloat(const char *parm, int component, fpreal time) const
{
    const parameter &found = find_parm(parm);
    if (found.animated) node_flags.setTimeDep(true);
    return found.numbers.at(static_cast<size_t>(component))(time);
}

exint OP_Node::evalInt(const char *parm, int component, fpreal time) const
{
    return static_cast<exint>(evalFloat(parm, component, time));
}

void OP_Node::evalString(UT_String &text, const char *parm, int, fpreal) const
{
    text.value = find_parm(parm).text;
}

const GU_Detail *SOP_Node::cook(int output, fpreal time)
{
    OP_Context context(time);
    if (dirty) made.clear();
    dirty = false; // before the cook: an edit in the middle of it counts
    const auto last = made.find(output);
    if (last == made.end() || (node_flags.getTimeDep() && time != last->second)) {
        errors.clear();
        warnings.clear();
        node_flags.setTimeDep(false);
        if (output == 0) {
            cook_count++;
            cookMySop(context);
            gdp->data_id++;
            if (!mySopFlags.getManagesDataIDs()) gdp->bumpAllDataIds();
        } else {
            other_outputs[output] = cookMySopOutput(context, output, nullptr);
        }
        made[output] = time;
        if (error() >= UT_ERROR_ABORT) made.erase(output);
    }
    for (const auto &[index, locks] : inputs_locked)
        if (locks != 0) throw std::runtime_error("an input stays locked after the cook");
    if (error() >= UT_ERROR_ABORT) return nullptr;
    return output == 0 ? gdp : other_outputs[output].gdp();
}

const GU_Detail *SOP_Node::cook_guide(fpreal time)
{
    OP_Context context(time);
    if (!mySopFlags.getNeedGuide1()) return nullptr;
    cookMyGuide1(context);
    for (const auto &[index, locks] : inputs_locked)
        if (locks != 0) throw std::runtime_error("an input stays locked after the guide's cook");
    return myGuide1;
}

OP_ERROR SOP_Node::lockInput(unsigned index, OP_Context &context)
{
    auto *source = static_cast<SOP_Node *>(inputs.at(index).source);
    if (!source->cook(inputs[index].output, context.getTime())) return UT_ERROR_ABORT;
    if (source->node_flags.getTimeDep()) node_flags.setTimeDep(true);
    inputs_locked[index]++;
    return UT_ERROR_NONE;
}

const GU_Detail *SOP_Node::inputGeo(unsigned index, OP_Context &)
{
    if (inputs_locked[index] <= 0) throw std::runtime_error("an input is read without a lock");
    auto *source = static_cast<SOP_Node *>(inputs.at(index).source);
    const int output = inputs[index].output;
    return output == 0 ? source->gdp : source->other_outputs[output].gdp();
}

// ---- verbs ----

SOP_NodeParmsOptions::SOP_NodeParmsOptions(PRM_Template *list)
{
    for (const PRM_Template *parm = list; !parm->is_end; parm++)
        if (parm->type == "string" || parm->type == "file")
            texts[parm->name] = parm->defaults.empty() ? "" : parm->defaults[0];
        else
            for (const std::string &text : parm->defaults) numbers[parm->name].push_back(std::stod(text));
}

static std::map<std::string, SOP_NodeVerb *> &verbs()
{
    static std::map<std::string, SOP_NodeVerb *> all;
    return all;
}

void SOP_NodeVerb::registerVerb(SOP_NodeVerb *verb)
{
    if (!verbs().emplace(verb->name().c_str(), verb).second)
        throw std::runtime_error("two verbs of one name");
}

const SOP_NodeVerb *SOP_NodeVerb::lookupVerb(const UT_StringRef &name)
{
    const auto found = verbs().find(name.c_str());
    return found == verbs().end() ? nullptr : found->second;
}

OP_ERROR SOP_NodeCacheOptions::doCook(const SOP_NodeVerb *, const SOP_NodeVerb::CookParms &asked)
{
    OP_Context context(asked.time);
    now = &asked;
    gdp = asked.gdp;
    const OP_ERROR error = cook(context);
    now = nullptr;
    return error;
}

fpreal SOP_NodeCacheOptions::evalFloat(const char *parm, int component, fpreal) const
{
    return now->parms->numbers.at(parm).at(static_cast<size_t>(component));
}

exint SOP_NodeCacheOptions::evalInt(const char *parm, int component, fpreal time) const
{
    return static_cast<exint>(evalFloat(parm, component, time));
}

void SOP_NodeCacheOptions::evalString(UT_String &text, const char *parm, int, fpreal) const
{
    text.value = now->parms->texts.at(parm);
}

// ---- for tests ----

namespace houdini_double
{

OP_OperatorTable &operators()
{
    static OP_OperatorTable table;
    if (table.operators.empty()) newSopOperator(&table);
    return table;
}

std::unique_ptr<SOP_Node> make(const std::string &operator_name, const std::string &node_name)
{
    static OP_Network network;
    for (const auto &op : operators().operators)
        if (op->name == UT_StringHolder(operator_name))
            return std::unique_ptr<SOP_Node>(
                static_cast<SOP_Node *>(op->constructor(&network, node_name.c_str(), op.get())));
    throw std::runtime_error("no operator " + operator_name);
}

void set(OP_Node &node, const std::string &parm, const std::vector<double> &values)
{
    node.find_parm(parm.c_str());
    for (size_t i = 0; i < values.size(); i++) {
        const double value = values[i];
        node.parameters[parm].numbers.at(i) = [value](fpreal) { return value; };
    }
    node.opChanged(OP_PARM_CHANGED);
}

void animate(OP_Node &node, const std::string &parm, std::function<double(fpreal)> value)
{
    node.find_parm(parm.c_str());
    node.parameters[parm].numbers.at(0) = std::move(value);
    node.parameters[parm].animated = true;
    node.opChanged(OP_PARM_CHANGED);
}

void set_text(OP_Node &node, const std::string &parm, const std::string &text)
{
    node.find_parm(parm.c_str());
    node.parameters[parm].text = text;
    node.opChanged(OP_PARM_CHANGED);
}

void connect(OP_Node &node, unsigned input, OP_Node &source, int output)
{
    if (node.inputs.size() <= input) node.inputs.resize(input + 1);
    node.inputs[input] = {&source, output};
    source.outputs.push_back(&node);
    node.opChanged(OP_INPUT_REWIRED);
}

void press(OP_Node &node, const std::string &button)
{
    const PRM_Template *parm = node.find_parm(button.c_str()).made_from;
    parm->callback.call(&node, 0, 0, parm);
}

std::shared_ptr<GU_Detail> cook_compiled(SOP_Node &node, fpreal time, std::vector<std::string> &errors)
{
    const SOP_NodeVerb *verb = node.cookVerb();
    if (!verb) throw std::runtime_error(std::string(node.name.c_str()) + " cannot be compiled");
    std::vector<std::shared_ptr<GU_Detail>> inputs;
    SOP_NodeVerb::CookParms asked;
    for (const OP_Node::wire &w : node.inputs) {
        inputs.push_back(w.source ? cook_compiled(static_cast<SOP_Node &>(*w.source), time, errors)
                                  : nullptr);
        asked.inputs.push_back(inputs.back().get());
    }
    const std::unique_ptr<SOP_NodeParms> parms(verb->allocParms());
    auto &bag = dynamic_cast<SOP_NodeParmsOptions &>(*parms);
    for (const auto &[name, parm] : node.parameters) {
        for (size_t i = 0; i < parm.numbers.size(); i++) bag.numbers.at(name).at(i) = parm.numbers[i](time);
        if (bag.texts.count(name)) bag.texts[name] = parm.text;
    }
    const std::unique_ptr<SOP_NodeCache> cache(verb->allocCache());
    const auto made = std::make_shared<GU_Detail>();
    std::vector<std::string> warnings;
    asked.kept = cache.get();
    asked.parms = &bag;
    asked.gdp = made.get();
    asked.time = time;
    asked.errors = &errors;
    asked.warnings = &warnings;
    verb->cook(asked);
    return made;
}

void enable_simulation(bool on)
{
    simulation_enabled = on;
}

void interrupt_after(int questions)
{
    questions_left = questions;
}

} // namespace houdini_double
