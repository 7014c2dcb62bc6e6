// SPDX-License-Identifier: Apache-2.0
//
// A double of the HDK classes that plugin/houdini uses. Not Houdini: written from the public reference, for
// tests. Each class names its page under https://www.sidefx.com/docs/hdk/.
#ifndef MENISCUS_HOUDINI_DOUBLE_H
#define MENISCUS_HOUDINI_DOUBLE_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <openvdb/openvdb.h>

#define SYS_VISIBILITY_EXPORT __attribute__((visibility("default")))

// ---- SYS_Types.h ----
using fpreal32 = float;
using fpreal64 = double;
using fpreal = double;
using int32 = std::int32_t;
using int64 = std::int64_t;
using exint = std::int64_t;
using GA_Size = exint;
using GA_Offset = exint;
using GA_Index = exint;

// ---- UT: class_u_t___string_holder.html, class_u_t___string.html, class_u_t___vector3_t.html ----

class UT_StringHolder
{
  public:
    UT_StringHolder() = default;
    UT_StringHolder(const char *text) : value(text ? text : "") {}
    UT_StringHolder(const std::string &text) : value(text) {}
    const char *c_str() const { return value.c_str(); }
    bool operator<(const UT_StringHolder &other) const { return value < other.value; }
    bool operator==(const UT_StringHolder &other) const { return value == other.value; }

  private:
    std::string value;
};
using UT_StringRef = UT_StringHolder;

class UT_String
{
  public:
    const char *c_str() const { return value.c_str(); }
    bool isstring() const { return !value.empty(); }
    std::string value;
};

class UT_Vector3
{
  public:
    UT_Vector3() = default;
    UT_Vector3(float x, float y, float z) : v{x, y, z} {}
    float &operator()(int i) { return v[i]; }
    float operator()(int i) const { return v[i]; }

  private:
    float v[3] = {0, 0, 0};
};

// ---- UT_Interrupt: class_u_t___auto_interrupt.html ----

class UT_AutoInterrupt
{
  public:
    explicit UT_AutoInterrupt(const char *operation);
    bool wasInterrupted(int percent = -1);
};

/// class_u_t___interrupt.html
class UT_Interrupt
{
  public:
    void setLongOpText(const char *text) { long_text = text; }
    std::string long_text;
};
UT_Interrupt *UTgetInterrupt();

// ---- UT_InfoTree: class_u_t___info_tree.html; here one level of names and texts ----

class UT_InfoTree
{
  public:
    UT_InfoTree *addChildMap(const char *name)
    {
        branches.emplace_back(new UT_InfoTree);
        branches.back()->name = name;
        return branches.back().get();
    }
    void addProperties(const char *key, const char *value) { properties[key] = value; }
    std::string name;
    std::map<std::string, std::string> properties;
    std::vector<std::unique_ptr<UT_InfoTree>> branches;
};
class OP_NodeInfoTreeParms
{
};

// ---- CH_Manager: class_c_h___manager.html; frame 1 is at time 0 ----

class CH_Manager
{
  public:
    fpreal getSamplesPerSec() const { return fps; }
    fpreal fps = 24;
};
CH_Manager *CHgetManager();
inline fpreal CHgetTimeFromFrame(fpreal frame)
{
    return (frame - 1) / CHgetManager()->getSamplesPerSec();
}
inline fpreal CHgetSampleFromTime(fpreal time)
{
    return time * CHgetManager()->getSamplesPerSec() + 1;
}

// ---- GA: class_g_a___attribute.html, class_g_a___a_i_f_tuple.html, class_g_a___a_i_f_string_tuple.html ----

enum GA_AttributeOwner { GA_ATTRIB_VERTEX, GA_ATTRIB_POINT, GA_ATTRIB_PRIMITIVE, GA_ATTRIB_DETAIL };
enum GA_AttributeScope { GA_SCOPE_PUBLIC, GA_SCOPE_PRIVATE };
enum GA_Storage {
    GA_STORE_INVALID = -1,
    GA_STORE_INT8,
    GA_STORE_INT16,
    GA_STORE_INT32,
    GA_STORE_INT64,
    GA_STORE_REAL16,
    GA_STORE_REAL32,
    GA_STORE_REAL64,
    GA_STORE_STRING
};
enum GA_TypeInfo {
    GA_TYPE_VOID,
    GA_TYPE_POINT,
    GA_TYPE_HPOINT,
    GA_TYPE_VECTOR,
    GA_TYPE_NORMAL,
    GA_TYPE_COLOR,
    GA_TYPE_QUATERNION,
    GA_TYPE_TEXTURE_COORD
};

class GA_Attribute;

/// class_g_a___index_map.html: here it knows nothing; ranges of the double hold their offsets.
class GA_IndexMap
{
};

/// class_g_a___range.html and class_g_a___iterator.html: the offsets that are in use, or [start, end).
class GA_Range
{
  public:
    GA_Range() = default;
    GA_Range(const GA_IndexMap &, GA_Offset start, GA_Offset end)
    {
        for (GA_Offset i = start; i < end; i++) offsets.push_back(i);
    }
    std::vector<GA_Offset> offsets;
};
class GA_Iterator
{
  public:
    explicit GA_Iterator(GA_Range of) : range(std::move(of)) {}
    bool atEnd() const { return at == range.offsets.size(); }
    GA_Offset operator*() const { return range.offsets[at]; }
    GA_Iterator &operator++()
    {
        ++at;
        return *this;
    }

  private:
    GA_Range range;
    size_t at = 0;
};

/// Whole ranges at once: all components of the elements, one element after the other. Calls are counted, so
/// that tests see when somebody goes element by element.
class GA_AIFTuple
{
  public:
    int getTupleSize(const GA_Attribute *attribute) const;
    GA_Storage getStorage(const GA_Attribute *attribute) const;
    bool getRange(const GA_Attribute *attribute, const GA_Range &range, int32 *values) const;
    bool getRange(const GA_Attribute *attribute, const GA_Range &range, int64 *values) const;
    bool getRange(const GA_Attribute *attribute, const GA_Range &range, fpreal32 *values) const;
    bool getRange(const GA_Attribute *attribute, const GA_Range &range, fpreal64 *values) const;
    bool setRange(GA_Attribute *attribute, const GA_Range &range, const int32 *values) const;
    bool setRange(GA_Attribute *attribute, const GA_Range &range, const int64 *values) const;
    bool setRange(GA_Attribute *attribute, const GA_Range &range, const fpreal32 *values) const;
    bool setRange(GA_Attribute *attribute, const GA_Range &range, const fpreal64 *values) const;
    static inline int64 calls = 0;
};

class GA_AIFStringTuple
{
  public:
    int getTupleSize(const GA_Attribute *attribute) const;
    const char *getString(const GA_Attribute *attribute, GA_Offset offset, int index = 0) const;
};

class GA_Attribute
{
  public:
    const UT_StringHolder &getName() const { return name; }
    GA_TypeInfo getTypeInfo() const { return info; }
    void setTypeInfo(GA_TypeInfo type) { info = type; }
    const GA_AIFTuple *getAIFTuple() const;
    const GA_AIFStringTuple *getAIFStringTuple() const;
    const GA_IndexMap &getIndexMap() const { return map; }
    void bumpDataId() { data_id = ++last_id; } // no two contents have the same, in one process
    int64 getDataId() const { return data_id; }

    // Kept wide; what a component of this storage cannot hold is cut off on the way in.
    UT_StringHolder name;
    GA_Storage storage = GA_STORE_REAL32;
    GA_TypeInfo info = GA_TYPE_VOID;
    int size = 1;
    bool is_array = false; ///< an attribute of neither kind
    GA_IndexMap map;
    static inline int64 last_id = 0;
    int64 data_id = 0;
    std::vector<double> reals;
    std::vector<int64> integers;
    std::vector<std::string> strings;
    void resize(GA_Offset elements);
};

/// class_g_a___attribute_dict.html
class GA_AttributeDict
{
  public:
    class iterator
    {
      public:
        GA_Attribute *attrib() const { return at->get(); }
        bool atEnd() const { return at == end; }
        iterator &operator++()
        {
            ++at;
            return *this;
        }
        std::vector<std::unique_ptr<GA_Attribute>>::const_iterator at, end;
    };
    iterator begin(GA_AttributeScope) const { return {all.begin(), all.end()}; }
    std::vector<std::unique_ptr<GA_Attribute>> all;
};

/// class_g_a___defaults.html
class GA_Defaults
{
  public:
    explicit GA_Defaults(double) {}
};

/// class_g_a___handle_base.html: here only the one for strings.
class GA_RWHandleS
{
  public:
    explicit GA_RWHandleS(GA_Attribute *a) : attribute(a && a->storage == GA_STORE_STRING ? a : nullptr) {}
    bool isValid() const { return attribute != nullptr; }
    void set(GA_Offset offset, int component, const char *text) const
    {
        attribute->strings[static_cast<size_t>(offset * attribute->size + component)] = text;
    }

  private:
    GA_Attribute *attribute;
};

class GA_ROHandleS
{
  public:
    explicit GA_ROHandleS(const GA_Attribute *a) : attribute(a && a->storage == GA_STORE_STRING ? a : nullptr)
    {
    }
    bool isValid() const { return attribute != nullptr; }
    UT_StringHolder get(GA_Offset offset) const { return attribute->strings.at(static_cast<size_t>(offset)); }

  private:
    const GA_Attribute *attribute;
};

/// class_g_a___element_group.html
class GA_ElementGroup
{
  public:
    const UT_StringHolder &getName() const { return name; }
    bool isInternal() const { return internal; }
    bool containsOffset(GA_Offset offset) const
    {
        return static_cast<size_t>(offset) < members.size() && members[static_cast<size_t>(offset)];
    }
    void addOffset(GA_Offset offset)
    {
        if (members.size() <= static_cast<size_t>(offset)) members.resize(static_cast<size_t>(offset) + 1);
        members[static_cast<size_t>(offset)] = true;
    }
    UT_StringHolder name;
    bool internal = false;
    std::vector<bool> members;
};

/// class_g_a___element_group_table.html
class GA_ElementGroupTable
{
  public:
    class iterator
    {
      public:
        GA_ElementGroup *group() const { return at->get(); }
        bool atEnd() const { return at == end; }
        iterator &operator++()
        {
            ++at;
            return *this;
        }
        std::vector<std::unique_ptr<GA_ElementGroup>>::const_iterator at, end;
    };
    iterator beginTraverse() const { return {all.begin(), all.end()}; }
    std::vector<std::unique_ptr<GA_ElementGroup>> all;
};

// ---- primitives: class_g_e_o___primitive.html and those below it ----

enum GA_PrimitiveTypeId {
    GEO_PRIMPOLY,
    GEO_PRIMPOLYSOUP,
    GEO_PRIMTETRAHEDRON,
    GEO_PRIMVDB,
    GEO_PRIMSPHERE,
    GEO_PRIMVOLUME,
    GEO_PRIMPACKED, ///< in Houdini each kind of packed primitive has a number of its own
    GEO_PRIMAGENT   ///< one that nothing can be made of
};

class GU_Detail;

/// class_g_a___primitive_definition.html
class GA_PrimitiveDefinition
{
  public:
    explicit GA_PrimitiveDefinition(const char *of) : label(of) {}
    const UT_StringHolder &getLabel() const { return label; }

  private:
    UT_StringHolder label;
};

class GEO_Primitive
{
  public:
    virtual ~GEO_Primitive() = default;
    GA_PrimitiveTypeId getTypeId() const { return type; }
    const GA_PrimitiveDefinition &getTypeDef() const;
    GA_Size getVertexCount() const { return static_cast<GA_Size>(vertices.size()); }
    GA_Offset getVertexOffset(GA_Size i) const { return vertices[static_cast<size_t>(i)]; }
    GA_Offset getPointOffset(GA_Size i) const;
    GA_PrimitiveTypeId type = GEO_PRIMPOLY;
    GU_Detail *detail = nullptr;
    std::vector<GA_Offset> vertices;
};

class GEO_PrimPoly : public GEO_Primitive
{
  public:
    bool isClosed() const { return closed; }
    bool closed = true;
};

/// class_g_e_o___prim_poly_soup.html: polygons that share vertices; `polygons` are numbers into `vertices`.
class GEO_PrimPolySoup : public GEO_Primitive
{
  public:
    class PolygonIterator
    {
      public:
        explicit PolygonIterator(const GEO_PrimPolySoup &of) : soup(&of) {}
        bool atEnd() const { return at == soup->polygons.size(); }
        PolygonIterator &operator++()
        {
            ++at;
            return *this;
        }
        GA_Size getVertexCount() const { return static_cast<GA_Size>(soup->polygons[at].size()); }
        GA_Offset getVertexOffset(GA_Size i) const
        {
            return soup->GEO_Primitive::getVertexOffset(soup->polygons[at][static_cast<size_t>(i)]);
        }
        GA_Offset getPointOffset(GA_Size i) const
        {
            return soup->GEO_Primitive::getPointOffset(soup->polygons[at][static_cast<size_t>(i)]);
        }

      private:
        const GEO_PrimPolySoup *soup;
        size_t at = 0;
    };
    std::vector<std::vector<GA_Size>> polygons;
};

class GEO_PrimVDB : public GEO_Primitive
{
  public:
    openvdb::GridBase::ConstPtr getConstGridPtr() const { return grid; }
    const char *getGridName() const { return name.c_str(); }
    openvdb::GridBase::Ptr grid;
    std::string name;
};

/// class_g_e_o___prim_volume.html: here a cube of voxels, x fastest, from its point on.
class GEO_PrimVolume : public GEO_Primitive
{
  public:
    int resolution = 0;
    double voxel = 1;
    std::vector<float> values;
};

/// class_g_u___prim_packed.html: here geometry that its point moves.
class GU_PrimPacked : public GEO_Primitive
{
  public:
    static bool isPackedPrimitive(const GA_PrimitiveDefinition &kind)
    {
        return kind.getLabel() == UT_StringHolder("Packed Geometry");
    }
    bool unpackUsingPolygons(GU_Detail &plain) const;
    std::shared_ptr<GU_Detail> inside;
};

/// class_g_e_o___convert_parms.html, as openvdb's plugin fills it.
struct GEO_PrimTypeCompat {
    enum TypeMask { GEOPRIMPOLY = 1, GEOPRIMALL = 0xff };
};
class GU_ConvertParms
{
  public:
    void setFromType(GEO_PrimTypeCompat::TypeMask) {}
    void setToType(GEO_PrimTypeCompat::TypeMask) {}
};

/// class_g_e_o___poly_counts.html
class GEO_PolyCounts
{
  public:
    void append(GA_Size count) { counts.push_back(count); }
    std::vector<GA_Size> counts;
};

class GEO_PrimTetrahedron : public GEO_Primitive
{
  public:
    static GA_Offset buildBlock(GU_Detail *detail, GA_Offset first_point, GA_Size point_count, GA_Size count,
                                const int *points);
};

class GU_PrimPoly : public GEO_PrimPoly
{
  public:
    static GA_Offset buildBlock(GU_Detail *detail, GA_Offset first_point, GA_Size point_count,
                                const GEO_PolyCounts &counts, const int *points, bool closed = true);
    GA_Size appendVertex(GA_Offset point);
};

class GU_PrimVDB : public GEO_PrimVDB
{
  public:
    static GU_PrimVDB *buildFromGrid(GU_Detail &detail, openvdb::GridBase::Ptr grid,
                                     const GEO_PrimVDB *source, const char *name);
    static GU_PrimVDB *buildFromPrimVolume(GU_Detail &detail, const GEO_PrimVolume &volume, const char *name);
};

// ---- GU_Detail: class_g_u___detail.html, class_g_e_o___detail.html, class_g_a___detail.html ----

class GU_Detail
{
  public:
    GU_Detail();
    ~GU_Detail();
    void clearAndDestroy();
    void bumpAllDataIds();
    void incrementMetaCacheCount() { data_id++; }
    /// Together they name what the detail holds: the first is of the object, the second grows with each cook.
    exint getUniqueId() const { return unique_id; }
    exint getMetaCacheCount() const { return data_id; }

    GA_Size getNumPoints() const;
    GA_Size getNumPointOffsets() const { return static_cast<GA_Size>(point_alive.size()); }
    GA_Size getNumPrimitives() const { return static_cast<GA_Size>(primitives.size()); }
    GA_Size getNumVertices() const { return static_cast<GA_Size>(vertex_points.size()); }
    GA_Range getPointRange() const;
    GA_Range getPrimitiveRange() const;
    GA_Offset primitiveOffset(GA_Index index) const { return index; }
    GA_Offset pointOffset(GA_Index index) const;
    const GA_IndexMap &getPrimitiveMap() const { return primitive_map; }
    void mergePrimitives(const GU_Detail &source, const GA_Range &range);
    void convert(GU_ConvertParms &parms);
    const GEO_Primitive *getGEOPrimitive(GA_Offset offset) const
    {
        return primitives[static_cast<size_t>(offset)].get();
    }
    GEO_Primitive *getGEOPrimitive(GA_Offset offset) { return primitives[static_cast<size_t>(offset)].get(); }
    GA_PrimitiveTypeId getPrimitiveTypeId(GA_Offset offset) const
    {
        return getGEOPrimitive(offset)->getTypeId();
    }
    bool getPrimitiveClosedFlag(GA_Offset offset) const
    {
        const auto *polygon = dynamic_cast<const GEO_PrimPoly *>(getGEOPrimitive(offset));
        return polygon && polygon->isClosed();
    }
    GA_Size getPrimitiveVertexCount(GA_Offset offset) const
    {
        return getGEOPrimitive(offset)->getVertexCount();
    }
    GA_Offset getPrimitiveVertexOffset(GA_Offset offset, GA_Size i) const
    {
        return getGEOPrimitive(offset)->getVertexOffset(i);
    }
    GA_Offset vertexPoint(GA_Offset vertex) const { return vertex_points[static_cast<size_t>(vertex)]; }

    GA_Offset appendPointBlock(GA_Size count);
    void destroyPointOffset(GA_Offset offset) { point_alive[static_cast<size_t>(offset)] = false; }
    void setPos3(GA_Offset offset, const UT_Vector3 &position);
    UT_Vector3 getPos3(GA_Offset offset) const;

    const GA_AttributeDict &getAttributeDict(GA_AttributeOwner owner) const { return attributes[owner]; }
    GA_Attribute *addFloatTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size,
                                const GA_Defaults &defaults, const void *create = nullptr,
                                const void *options = nullptr, GA_Storage storage = GA_STORE_REAL32);
    GA_Attribute *addIntTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size,
                              const GA_Defaults &defaults, const void *create = nullptr,
                              const void *options = nullptr, GA_Storage storage = GA_STORE_INT32);
    GA_Attribute *addStringTuple(GA_AttributeOwner owner, const UT_StringHolder &name, int size);
    GA_Attribute *findAttribute(GA_AttributeOwner owner, const char *name) const;
    const GA_Attribute *findStringTuple(GA_AttributeOwner owner, const char *name, int) const
    {
        const GA_Attribute *found = findAttribute(owner, name);
        return found && found->storage == GA_STORE_STRING ? found : nullptr;
    }
    GA_Attribute *getP() { return findAttribute(GA_ATTRIB_POINT, "P"); }

    const GA_ElementGroupTable &getElementGroupTable(GA_AttributeOwner owner) const { return groups[owner]; }
    GA_ElementGroup *createElementGroup(GA_AttributeOwner owner, const UT_StringHolder &name);

    // ---- how the double keeps it ----
    GA_Offset add_vertex(GA_Offset point);
    template <typename Primitive> Primitive *add_primitive(GA_PrimitiveTypeId type)
    {
        auto made = std::make_unique<Primitive>();
        made->type = type;
        made->detail = this;
        Primitive *raw = made.get();
        primitives.push_back(std::move(made));
        resize(GA_ATTRIB_PRIMITIVE);
        return raw;
    }
    void resize(GA_AttributeOwner owner);
    GA_Offset element_count(GA_AttributeOwner owner) const;
    std::vector<bool> point_alive;
    std::vector<GA_Offset> vertex_points;
    std::vector<std::unique_ptr<GEO_Primitive>> primitives;
    GA_AttributeDict attributes[4];
    GA_ElementGroupTable groups[4];
    GA_IndexMap primitive_map;
    exint data_id = 0;
    int64 topology_id = 0;
    const exint unique_id;

  private:
    GA_Attribute *add(GA_AttributeOwner owner, const UT_StringHolder &name, int size, GA_Storage storage);
};

/// class_g_u___detail_handle.html
class GU_DetailHandle
{
  public:
    void allocateAndSet(GU_Detail *made) { detail.reset(made); }
    const GU_Detail *gdp() const { return detail.get(); }
    bool isValid() const { return detail != nullptr; }

  private:
    std::shared_ptr<GU_Detail> detail;
};

// ---- PRM: class_p_r_m___template_builder.html, class_p_r_m___callback.html ----

class PRM_Template;
class PRM_Callback
{
  public:
    using function = int (*)(void *data, int index, fpreal64 time, const PRM_Template *);
    PRM_Callback() = default;
    PRM_Callback(function f) : call(f) {}
    function call = nullptr;
};

/// class_p_r_m___template.html: as the dialog script has it.
class PRM_Template
{
  public:
    std::string name, label, type, disable_when, help, folder;
    std::vector<std::string> defaults;
    std::vector<std::pair<std::string, std::string>> menu;
    std::map<std::string, std::string> tags;
    int size = 1;
    double range[2] = {0, 1};
    bool hard[2] = {false, false};
    PRM_Callback callback;
    bool is_end = false; ///< the list ends with an empty one
};

/// Reads DialogScript with a reader of its own, and throws on what it does not know.
class PRM_TemplateBuilder
{
  public:
    PRM_TemplateBuilder(const UT_StringHolder &name, const char *dialog_script);
    PRM_Template *templates() const { return list.get(); }
    void setCallback(const UT_StringRef &name, PRM_Callback callback);

  private:
    std::unique_ptr<PRM_Template[]> list;
};

// ---- OP and SOP: class_o_p___operator.html, class_o_p___context.html, class_s_o_p___node.html ----

enum OP_ERROR { UT_ERROR_NONE, UT_ERROR_MESSAGE, UT_ERROR_WARNING, UT_ERROR_ABORT, UT_ERROR_FATAL };
enum SOP_ErrorCodes { SOP_MESSAGE = 0 };
/// _o_p___node_8h.html, some of them.
enum OP_EventType { OP_PARM_CHANGED, OP_INPUT_CHANGED, OP_INPUT_REWIRED };
constexpr unsigned OP_MULTI_INPUT_MAX = 9999;
constexpr unsigned OP_FLAG_GENERATOR = 1;

class OP_Network;
class OP_Node;
class OP_Operator;
class SOP_Node;
using OP_Constructor = OP_Node *(*)(OP_Network *, const char *, OP_Operator *);

class OP_Context
{
  public:
    explicit OP_Context(fpreal at = 0) : time(at) {}
    fpreal getTime() const { return time; }
    void setTime(fpreal at) { time = at; }

  private:
    fpreal time;
};

class OP_Operator
{
  public:
    OP_Operator(const char *operator_name, const char *english, OP_Constructor construct,
                PRM_Template *parameters, unsigned min_inputs, unsigned max_inputs, void *variables = nullptr,
                unsigned operator_flags = 0, const char **input_labels = nullptr, int max_outputs = 1,
                const char *tab_menu = nullptr);
    const UT_StringHolder &getName() const { return name; }
    void setIconName(const char *icon_name) { icon = icon_name; }
    UT_StringHolder name;
    std::string label, icon, menu;
    std::vector<std::string> input_labels;
    OP_Constructor constructor;
    PRM_Template *templates;
    unsigned least, most, flags;
    int outputs;
};

class OP_OperatorTable
{
  public:
    void addOperator(OP_Operator *op) { operators.emplace_back(op); }
    void addOpHidden(const char *name) { hidden.emplace_back(name); } ///< from the Tab menu
    std::vector<std::string> hidden;
    std::vector<std::unique_ptr<OP_Operator>> operators;
};

class OP_NodeFlags
{
  public:
    void setTimeDep(bool on) { time_dependent = on; }
    bool getTimeDep() const { return time_dependent; }
    bool time_dependent = false;
};

class OP_Node
{
  public:
    OP_Node(OP_Network *network, const char *node_name, OP_Operator *op);
    virtual ~OP_Node();
    OP_Node(const OP_Node &) = delete;
    OP_Node &operator=(const OP_Node &) = delete;
    /// The argument is `unsigned` in 20.5 (openvdb_houdini overrides it so) and may be another type later;
    /// tests compile the shim with both.
#ifdef HOUDINI_DOUBLE_INPUT_INDEX
    using input_index = HOUDINI_DOUBLE_INPUT_INDEX;
#else
    using input_index = unsigned;
#endif
    virtual int isRefInput(input_index) const
    {
        return 0;
    } ///< drawn with a dashed wire
    /// Somebody has edited this node, or one above it: what it gave is out of date.
    virtual void opChanged(OP_EventType reason, void *data = nullptr);
    const UT_StringHolder &getName() const
    {
        return name;
    }
    OP_NodeFlags &flags()
    {
        return node_flags;
    }
    OP_Operator *getOperator() const
    {
        return op;
    }
    unsigned nInputs() const
    {
        return static_cast<unsigned>(inputs.size());
    }
    OP_Node *getInput(unsigned index) const
    {
        return index < inputs.size() ? inputs[index].source : nullptr;
    }
    void forceRecook()
    {
        opChanged(OP_PARM_CHANGED);
    }
    virtual void fillInfoTreeNodeSpecific(UT_InfoTree &, const OP_NodeInfoTreeParms &) {}
    fpreal evalFloat(const char *parm, int component, fpreal time) const;
    exint evalInt(const char *parm, int component, fpreal time) const;
    void evalString(UT_String &text, const char *parm, int component, fpreal time) const;

    // ---- how the double keeps it ----
    struct wire {
        OP_Node *source = nullptr;
        int output = 0;
    };
    /// A parameter's values: numbers, or functions of time, or text.
    struct parameter {
        const PRM_Template *made_from = nullptr;
        std::vector<std::function<double(fpreal)>> numbers;
        std::string text;
        bool animated = false;
    };
    const parameter &find_parm(const char *parm) const;
    UT_StringHolder name;
    OP_Operator *op;
    mutable OP_NodeFlags node_flags; ///< a node that evaluates an animated parameter follows time
    std::vector<wire> inputs;
    std::map<std::string, parameter> parameters;
    std::vector<std::string> errors, warnings;
    std::vector<OP_Node *> outputs; ///< one for each wire that starts here
    bool dirty = true;
};

class OP_Network
{
};

/// class_g_o_p___guide.html: "a specialization of GU_Detail" (_h_d_k__op_basics__sop_guide.html).
class GOP_Guide : public GU_Detail
{
};

/// class_s_o_p___node_flags.html: a guide is cooked only when the node's constructor asked for it.
class SOP_NodeFlags
{
  public:
    void setNeedGuide1(bool on) { need_guide = on; }
    bool getNeedGuide1() const { return need_guide; }
    /// Else everything counts as changed after each cook.
    void setManagesDataIDs(bool on) { manages_ids = on; }
    bool getManagesDataIDs() const { return manages_ids; }
    void setTimeDepGuide1(bool on) { guide_follows_time = on; }
    bool getTimeDepGuide1() const { return guide_follows_time; }

  private:
    bool need_guide = false, guide_follows_time = false, manages_ids = false;
};

// ---- verbs: class_s_o_p___node_verb.html; parameters in a bag, as openvdb's plugin has them ----

class SOP_NodeParms
{
  public:
    virtual ~SOP_NodeParms() = default;
};
class SOP_NodeParmsOptions : public SOP_NodeParms
{
  public:
    explicit SOP_NodeParmsOptions(PRM_Template *list);
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, std::string> texts;
};
class SOP_NodeCache
{
  public:
    virtual ~SOP_NodeCache() = default;
};
class SOP_NodeVerb
{
  public:
    enum CookMode { COOK_GENERIC, COOK_INPLACE, COOK_GENERATOR, COOK_DUPLICATE, COOK_PASSTHROUGH };
    /// One cook: what compiled code hands over.
    class CookParms
    {
      public:
        SOP_NodeCache *cache() const { return kept; }
        SOP_NodeCache *kept = nullptr;
        const SOP_NodeParmsOptions *parms = nullptr;
        std::vector<const GU_Detail *> inputs;
        GU_Detail *gdp = nullptr;
        fpreal time = 0;
        std::vector<std::string> *errors = nullptr, *warnings = nullptr;
    };
    virtual ~SOP_NodeVerb() = default;
    virtual SOP_NodeParms *allocParms() const = 0;
    virtual SOP_NodeCache *allocCache() const { return nullptr; }
    virtual UT_StringHolder name() const = 0;
    virtual CookMode cookMode(const SOP_NodeParms *) const = 0;
    virtual void cook(const CookParms &asked) const = 0;
    static void registerVerb(SOP_NodeVerb *verb);
    static const SOP_NodeVerb *lookupVerb(const UT_StringRef &name);
};
class SOP_NodeCacheOptions : public SOP_NodeCache
{
  public:
    OP_ERROR doCook(const SOP_NodeVerb *, const SOP_NodeVerb::CookParms &asked);

  protected:
    fpreal evalFloat(const char *parm, int component, fpreal) const;
    exint evalInt(const char *parm, int component, fpreal time) const;
    void evalString(UT_String &text, const char *parm, int component, fpreal) const;
    virtual OP_ERROR cook(OP_Context &context) = 0;
    unsigned nInputs() const { return static_cast<unsigned>(now->inputs.size()); }
    const GU_Detail *inputGeo(int index) const { return now->inputs.at(static_cast<size_t>(index)); }
    void addError(SOP_ErrorCodes, const char *text) { now->errors->emplace_back(text); }
    void addWarning(SOP_ErrorCodes, const char *text) { now->warnings->emplace_back(text); }
    OP_ERROR error() const { return now->errors->empty() ? UT_ERROR_NONE : UT_ERROR_ABORT; }
    GU_Detail *gdp = nullptr;

  private:
    const SOP_NodeVerb::CookParms *now = nullptr;
};

class SOP_Node : public OP_Node
{
  public:
    virtual const SOP_NodeVerb *cookVerb() const { return nullptr; }
    SOP_Node(OP_Network *network, const char *node_name, OP_Operator *op) : OP_Node(network, node_name, op) {}
    /// What Houdini calls; the double's network does the same. As there, a node keeps one cook: it cooks
    /// again when it is dirty, or when it follows time and is asked for another.
    const GU_Detail *cook(int output, fpreal time);
    int64 cook_count = 0; ///< how often output 0 was made
    /// NULL when the node has none.
    const GU_Detail *cook_guide(fpreal time);
    OP_ERROR error() const
    {
        return !errors.empty() ? UT_ERROR_ABORT : !warnings.empty() ? UT_ERROR_WARNING : UT_ERROR_NONE;
    }

  protected:
    virtual OP_ERROR cookMySop(OP_Context &context) = 0;
    virtual GU_DetailHandle cookMySopOutput(OP_Context &, int, SOP_Node *) { return {}; }
    virtual OP_ERROR cookMyGuide1(OP_Context &) { return error(); }
    OP_ERROR lockInput(unsigned index, OP_Context &context);
    void unlockInput(unsigned index) { inputs_locked[index]--; }
    const GU_Detail *inputGeo(unsigned index, OP_Context &context);
    void addError(SOP_ErrorCodes, const char *text) { errors.emplace_back(text); }
    void addWarning(SOP_ErrorCodes, const char *text) { warnings.emplace_back(text); }
    GU_Detail own;
    GU_Detail *gdp = &own;
    GOP_Guide guide;
    GOP_Guide *myGuide1 = &guide;
    SOP_NodeFlags mySopFlags;

  public:
    std::map<unsigned, int> inputs_locked; ///< 0 everywhere once a cook is over

  private:
    std::map<int, GU_DetailHandle> other_outputs;
    std::map<int, fpreal> made; ///< outputs that are not out of date, and their times
};

extern "C" void newSopOperator(OP_OperatorTable *table);

// ---- what tests use ----

namespace houdini_double
{

/// All operators of the plugin.
OP_OperatorTable &operators();
/// A node of that operator; throws when there is none.
std::unique_ptr<SOP_Node> make(const std::string &operator_name, const std::string &node_name);
void set(OP_Node &node, const std::string &parm, const std::vector<double> &values);
void animate(OP_Node &node, const std::string &parm, std::function<double(fpreal)> value);
void set_text(OP_Node &node, const std::string &parm, const std::string &text);
void connect(OP_Node &node, unsigned input, OP_Node &source, int output = 0);
void press(OP_Node &node, const std::string &button);
/// The node and all above it as a compiled block cooks them: by their verbs, without the nodes themselves.
/// Throws when one of them has none.
std::shared_ptr<GU_Detail> cook_compiled(SOP_Node &node, fpreal time, std::vector<std::string> &errors);
/// What `hou.simulationEnabled()` gives, for parameters whose default asks it.
void enable_simulation(bool on);
/// The interrupt fires at the n-th time it is asked; -1: never.
void interrupt_after(int questions);

} // namespace houdini_double

#endif
