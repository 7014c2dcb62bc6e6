// SPDX-License-Identifier: Apache-2.0
//
// A GU_Detail as an mn_geo.
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/stand_ins.hpp"
#include "plugin/vdb/exchange.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <GA/GA_AIFStringTuple.h>
#include <GA/GA_AIFTuple.h>
#include <GA/GA_Attribute.h>
#include <GA/GA_AttributeDict.h>
#include <GA/GA_ElementGroup.h>
#include <GA/GA_ElementGroupTable.h>
#include <GA/GA_Iterator.h>
#include <GA/GA_Range.h>
#include <GEO/GEO_PrimPolySoup.h>
#include <GEO/GEO_PrimVDB.h>
#include <GU/GU_Detail.h>

namespace mn_houdini
{

namespace
{

constexpr int DEEPEST = 16; ///< packed in packed in packed

/// Where our elements came from: their offsets in the detail, in our order. A polygon of a soup has the
/// offset of its soup.
struct elements {
    std::vector<GA_Offset> points, vertices, primitives;
    std::vector<GA_Offset> others;       ///< primitives of kinds that mn_geo has not
    std::vector<int64_t> index_of_point; ///< by offset
    const std::vector<GA_Offset> &of(mn_owner owner) const
    {
        return owner == MN_POINT ? points : owner == MN_VERTEX ? vertices : primitives;
    }
};

// ---- topology ----

/// Primitives of one kind in a row, added in one call.
struct run {
    mn_primitive_kind kind = MN_PRIMITIVE_KIND_COUNT;
    std::vector<int32_t> lengths;
    std::vector<int64_t> points;
};

mn_status flush(mn_geo *geo, run &r)
{
    if (r.lengths.empty()) return MN_OK;
    const mn_status status = mn_geo_add_primitives(geo, r.kind, static_cast<int64_t>(r.lengths.size()),
                                                   r.lengths.data(), 0, r.points.data(), nullptr);
    r.lengths.clear();
    r.points.clear();
    return status;
}

/// A primitive by its offset: topology is asked of the detail, since Houdini keeps polygons and tetrahedra
/// packed and would have to make an object of each.
struct detail_face {
    const GU_Detail &detail;
    GA_Offset primitive;
    GA_Size getVertexCount() const { return detail.getPrimitiveVertexCount(primitive); }
    GA_Offset getVertexOffset(GA_Size i) const { return detail.getPrimitiveVertexOffset(primitive, i); }
    GA_Offset getPointOffset(GA_Size i) const { return detail.vertexPoint(getVertexOffset(i)); }
};

/// Takes one face of `count` vertices: a primitive or a soup's polygon.
template <typename Face>
mn_status add_face(mn_geo *geo, run &r, elements &from, mn_primitive_kind kind, const Face &face,
                   GA_Offset offset)
{
    if (r.kind != kind) MN_TRY(flush(geo, r));
    r.kind = kind;
    const GA_Size count = face.getVertexCount();
    r.lengths.push_back(static_cast<int32_t>(count));
    for (GA_Size i = 0; i < count; i++) {
        r.points.push_back(from.index_of_point[static_cast<size_t>(face.getPointOffset(i))]);
        from.vertices.push_back(face.getVertexOffset(i));
    }
    from.primitives.push_back(offset);
    return MN_OK;
}

mn_status add_volume(mn_context *ctx, mn_geo *geo, elements &from, const GEO_PrimVDB &vdb, GA_Offset offset)
{
    mn_volume volume{};
    MN_TRY(mn_vdb::volume_from_grid(ctx, vdb.getConstGridPtr(), vdb.getGridName(), &volume));
    const int64_t point = from.index_of_point[static_cast<size_t>(vdb.getPointOffset(0))];
    const mn_status status = mn_geo_add_volume(geo, volume, point, nullptr);
    mn_volume_release(&volume);
    from.vertices.push_back(vdb.getVertexOffset(0));
    from.primitives.push_back(offset);
    return status;
}

mn_status add_primitive(mn_context *ctx, mn_geo *geo, run &r, elements &from, const GU_Detail &detail,
                        GA_Offset offset, std::map<std::string, int64_t> &left_out)
{
    const GA_PrimitiveTypeId type = detail.getPrimitiveTypeId(offset);
    const detail_face face = {detail, offset};
    if (type == GEO_PRIMPOLY) {
        const bool closed = detail.getPrimitiveClosedFlag(offset);
        if (face.getVertexCount() < (closed ? 3 : 2)) {
            left_out["polygon with too few vertices"]++;
            return MN_OK;
        }
        return add_face(geo, r, from, closed ? MN_POLYGON : MN_POLYLINE, face, offset);
    }
    if (type == GEO_PRIMTETRAHEDRON) return add_face(geo, r, from, MN_TETRAHEDRON, face, offset);
    const GEO_Primitive &primitive = *detail.getGEOPrimitive(offset);
    if (type == GEO_PRIMPOLYSOUP) {
        const auto &soup = static_cast<const GEO_PrimPolySoup &>(primitive);
        for (GEO_PrimPolySoup::PolygonIterator polygon(soup); !polygon.atEnd(); ++polygon)
            MN_TRY(add_face(geo, r, from, MN_POLYGON, polygon, offset));
        return MN_OK;
    }
    if (type == GEO_PRIMVDB) {
        const auto &vdb = static_cast<const GEO_PrimVDB &>(primitive);
        if (!mn_vdb::is_known_grid(*vdb.getConstGridPtr())) {
            left_out["VDB of " + vdb.getConstGridPtr()->valueType()]++;
            return MN_OK;
        }
        MN_TRY(flush(geo, r));
        return add_volume(ctx, geo, from, vdb, offset);
    }
    from.others.push_back(offset);
    return MN_OK;
}

void say_left_out(const std::map<std::string, int64_t> &left_out, const warning &warn)
{
    for (const auto &[name, count] : left_out)
        warn(std::to_string(count) + " primitives of type '" + name +
             "' are left out; convert them to polygons, or to float or vector VDBs, first.");
}

mn_status read_topology(mn_context *ctx, const GU_Detail &detail, const warning &warn, mn_geo *geo,
                        elements &from)
{
    from.index_of_point.assign(static_cast<size_t>(detail.getNumPointOffsets()), -1);
    for (GA_Iterator it(detail.getPointRange()); !it.atEnd(); ++it) {
        from.index_of_point[static_cast<size_t>(*it)] = static_cast<int64_t>(from.points.size());
        from.points.push_back(*it);
    }
    MN_TRY(mn_geo_add_points(geo, static_cast<int64_t>(from.points.size()), nullptr));
    run r;
    std::map<std::string, int64_t> left_out;
    for (GA_Iterator it(detail.getPrimitiveRange()); !it.atEnd(); ++it)
        MN_TRY(add_primitive(ctx, geo, r, from, detail, *it, left_out));
    MN_TRY(flush(geo, r));
    say_left_out(left_out, warn);
    return MN_OK;
}

// ---- attributes ----

mn_hint hint_of(GA_TypeInfo info)
{
    switch (info) {
    case GA_TYPE_POINT:
    case GA_TYPE_HPOINT:
        return MN_HINT_POINT;
    case GA_TYPE_VECTOR:
        return MN_HINT_VECTOR;
    case GA_TYPE_NORMAL:
        return MN_HINT_NORMAL;
    case GA_TYPE_COLOR:
        return MN_HINT_COLOR;
    case GA_TYPE_QUATERNION:
        return MN_HINT_QUATERNION;
    case GA_TYPE_TEXTURE_COORD:
        return MN_HINT_TEXTURE;
    default:
        return MN_HINT_NONE;
    }
}

mn_type type_of(GA_Storage storage)
{
    return storage == GA_STORE_REAL64                                 ? MN_F64
           : storage == GA_STORE_REAL32 || storage == GA_STORE_REAL16 ? MN_F32
           : storage == GA_STORE_INT64                                ? MN_I64
                                                                      : MN_I32;
}

/// In blocks of offsets that follow each other, one call for each: all of a fresh detail's points, vertices
/// and primitives are one block.
template <typename T>
void copy_tuples(const GA_AIFTuple &tuple, const GA_Attribute &attribute,
                 const std::vector<GA_Offset> &offsets, int size, void *values)
{
    T *to = static_cast<T *>(values);
    for_blocks(offsets, [&](size_t first, GA_Offset begin, GA_Offset end) {
        tuple.getRange(&attribute, GA_Range(attribute.getIndexMap(), begin, end),
                       to + first * static_cast<size_t>(size));
    });
}

mn_status read_numbers(mn_geo *geo, mn_owner owner, const GA_Attribute &attribute, const GA_AIFTuple &tuple,
                       const std::vector<GA_Offset> &offsets)
{
    const int size = tuple.getTupleSize(&attribute);
    const mn_type type = type_of(tuple.getStorage(&attribute));
    mn_attribute *made;
    MN_TRY(mn_geo_add_attribute(geo, owner, attribute.getName().c_str(), type, size,
                                hint_of(attribute.getTypeInfo()), &made));
    if (offsets.empty()) return MN_OK;
    void *values = mn_attribute_write(geo, made);
    if (!values) return MN_ERROR_MEMORY;
    if (type == MN_F64) copy_tuples<fpreal64>(tuple, attribute, offsets, size, values);
    if (type == MN_F32) copy_tuples<fpreal32>(tuple, attribute, offsets, size, values);
    if (type == MN_I64) copy_tuples<int64>(tuple, attribute, offsets, size, values);
    if (type == MN_I32) copy_tuples<int32>(tuple, attribute, offsets, size, values);
    return MN_OK;
}

mn_status read_strings(mn_geo *geo, mn_owner owner, const GA_Attribute &attribute,
                       const GA_AIFStringTuple &strings, const std::vector<GA_Offset> &offsets)
{
    const int size = strings.getTupleSize(&attribute);
    mn_attribute *made;
    MN_TRY(
        mn_geo_add_attribute(geo, owner, attribute.getName().c_str(), MN_STRING, size, MN_HINT_NONE, &made));
    for (size_t i = 0; i < offsets.size(); i++) {
        for (int k = 0; k < size; k++) {
            const char *string = strings.getString(&attribute, offsets[i], k);
            if (!string || !*string) continue;
            MN_TRY(mn_attribute_set_string(geo, made, static_cast<int64_t>(i), k, string));
        }
    }
    return MN_OK;
}

mn_status read_attributes(const GU_Detail &detail, GA_AttributeOwner ga_owner, mn_owner owner,
                          const std::vector<GA_Offset> &offsets, const warning &warn, mn_geo *geo)
{
    const GA_AttributeDict &attributes = detail.getAttributeDict(ga_owner);
    for (GA_AttributeDict::iterator it = attributes.begin(GA_SCOPE_PUBLIC); !it.atEnd(); ++it) {
        const GA_Attribute &attribute = *it.attrib();
        const std::string name = attribute.getName().c_str();
        const GA_AIFTuple *tuple = attribute.getAIFTuple();
        const GA_AIFStringTuple *strings = attribute.getAIFStringTuple();
        // Pw is a part of Houdini's P that nobody but NURBS needs.
        if (owner == MN_POINT && name == "Pw") continue;
        if (strings)
            MN_TRY(read_strings(geo, owner, attribute, *strings, offsets));
        else if (tuple)
            MN_TRY(read_numbers(geo, owner, attribute, *tuple, offsets));
        else
            warn("The attribute '" + name + "' is of a type that cannot be taken along.");
    }
    return MN_OK;
}

// ---- groups ----

mn_status read_groups(const GA_ElementGroupTable &table, mn_owner owner,
                      const std::vector<GA_Offset> &offsets, mn_geo *geo)
{
    for (auto it = table.beginTraverse(); !it.atEnd(); ++it) {
        const GA_ElementGroup &group = *it.group();
        if (group.isInternal()) continue;
        mn_group *made;
        MN_TRY(mn_geo_add_group(geo, owner, group.getName().c_str(), &made));
        uint8_t *members = mn_group_write(geo, made);
        if (!members && !offsets.empty()) return MN_ERROR_MEMORY;
        for (size_t i = 0; i < offsets.size(); i++) members[i] = group.containsOffset(offsets[i]) ? 1 : 0;
    }
    return MN_OK;
}

mn_status read_all(mn_context *ctx, const GU_Detail &detail, const warning &warn, mn_geo *geo, elements &from)
{
    MN_TRY(read_topology(ctx, detail, warn, geo, from));
    MN_TRY(read_attributes(detail, GA_ATTRIB_POINT, MN_POINT, from.points, warn, geo));
    MN_TRY(read_attributes(detail, GA_ATTRIB_VERTEX, MN_VERTEX, from.vertices, warn, geo));
    MN_TRY(read_attributes(detail, GA_ATTRIB_PRIMITIVE, MN_PRIMITIVE, from.primitives, warn, geo));
    MN_TRY(read_attributes(detail, GA_ATTRIB_DETAIL, MN_DETAIL, {GA_Offset(0)}, warn, geo));
    MN_TRY(read_groups(detail.getElementGroupTable(GA_ATTRIB_POINT), MN_POINT, from.points, geo));
    MN_TRY(read_groups(detail.getElementGroupTable(GA_ATTRIB_VERTEX), MN_VERTEX, from.vertices, geo));
    MN_TRY(read_groups(detail.getElementGroupTable(GA_ATTRIB_PRIMITIVE), MN_PRIMITIVE, from.primitives, geo));
    return mn_geo_reverse_polygons(geo);
}

// ---- primitives of other kinds ----

/// One tuple for every element.
mn_status spread_numbers(mn_geo *geo, mn_attribute *made, const GA_AIFTuple &tuple,
                         const GA_Attribute &attribute, GA_Offset offset)
{
    const auto count = static_cast<size_t>(mn_attribute_count(made)),
               size = static_cast<size_t>(mn_attribute_size(made));
    std::vector<double> one(size), all;
    tuple.getRange(&attribute, GA_Range(attribute.getIndexMap(), offset, offset + 1), one.data());
    for (size_t i = 0; i < count; i++) all.insert(all.end(), one.begin(), one.end());
    return mn_attribute_set(geo, made, 0, static_cast<int64_t>(count), all.data());
}

mn_status spread_strings(mn_geo *geo, mn_attribute *made, const GA_AIFStringTuple &strings,
                         const GA_Attribute &attribute, GA_Offset offset)
{
    for (int k = 0; k < mn_attribute_size(made); k++) {
        const char *string = strings.getString(&attribute, offset, k);
        for (int64_t i = 0; string && *string && i < mn_attribute_count(made); i++)
            MN_TRY(mn_attribute_set_string(geo, made, i, k, string));
    }
    return MN_OK;
}

/// What the primitive or its point carries, on everything that came of it, unless that has its own.
mn_status carry_attributes(const GU_Detail &detail, GA_AttributeOwner ga_owner, mn_owner owner,
                           GA_Offset offset, mn_geo *piece)
{
    const GA_AttributeDict &attributes = detail.getAttributeDict(ga_owner);
    for (GA_AttributeDict::iterator it = attributes.begin(GA_SCOPE_PUBLIC); !it.atEnd(); ++it) {
        const GA_Attribute &attribute = *it.attrib();
        const char *name = attribute.getName().c_str();
        const GA_AIFTuple *tuple = attribute.getAIFTuple();
        const GA_AIFStringTuple *strings = attribute.getAIFStringTuple();
        mn_attribute *made;
        if (mn_geo_find(piece, owner, name) || (owner == MN_POINT && std::string(name) == "Pw")) continue;
        if (strings) {
            MN_TRY(mn_geo_add_attribute(piece, owner, name, MN_STRING, strings->getTupleSize(&attribute),
                                        MN_HINT_NONE, &made));
            MN_TRY(spread_strings(piece, made, *strings, attribute, offset));
        } else if (tuple) {
            MN_TRY(mn_geo_add_attribute(piece, owner, name, type_of(tuple->getStorage(&attribute)),
                                        tuple->getTupleSize(&attribute), hint_of(attribute.getTypeInfo()),
                                        &made));
            MN_TRY(spread_numbers(piece, made, *tuple, attribute, offset));
        }
    }
    return MN_OK;
}

mn_status carry_groups(const GA_ElementGroupTable &table, mn_owner owner, GA_Offset offset, mn_geo *piece)
{
    for (auto it = table.beginTraverse(); !it.atEnd(); ++it) {
        const GA_ElementGroup &group = *it.group();
        if (group.isInternal() || !group.containsOffset(offset) || mn_geo_count(piece, owner) == 0) continue;
        mn_group *made;
        MN_TRY(mn_geo_add_group(piece, owner, group.getName().c_str(), &made));
        uint8_t *members = mn_group_write(piece, made);
        if (!members) return MN_ERROR_MEMORY;
        std::fill_n(members, mn_geo_count(piece, owner), uint8_t(1));
    }
    return MN_OK;
}

mn_status carry_all(const GU_Detail &detail, GA_Offset primitive, mn_geo *piece)
{
    const GA_Offset point = detail.vertexPoint(detail.getPrimitiveVertexOffset(primitive, 0));
    MN_TRY(carry_attributes(detail, GA_ATTRIB_POINT, MN_POINT, point, piece));
    MN_TRY(carry_attributes(detail, GA_ATTRIB_PRIMITIVE, MN_PRIMITIVE, primitive, piece));
    MN_TRY(carry_groups(detail.getElementGroupTable(GA_ATTRIB_POINT), MN_POINT, point, piece));
    return carry_groups(detail.getElementGroupTable(GA_ATTRIB_PRIMITIVE), MN_PRIMITIVE, primitive, piece);
}

/// The points of primitives that were replaced, unless something else uses them: they would be taken for
/// particles.
mn_status drop_points(const GU_Detail &detail, const elements &from, const std::vector<GA_Offset> &replaced,
                      mn_geo *geo)
{
    std::vector<uint8_t> keep(from.points.size(), 1);
    for (const GA_Offset primitive : replaced)
        for (GA_Size v = 0; v < detail.getPrimitiveVertexCount(primitive); v++) {
            const GA_Offset point = detail.vertexPoint(detail.getPrimitiveVertexOffset(primitive, v));
            keep[static_cast<size_t>(from.index_of_point[static_cast<size_t>(point)])] = 0;
        }
    const int64_t *used = mn_geo_vertex_points(geo);
    for (int64_t v = 0; v < mn_geo_vertex_count(geo); v++) keep[static_cast<size_t>(used[v])] = 1;
    return mn_geo_compact(geo, keep.data(), nullptr);
}

using geo_pointer = std::unique_ptr<mn_geo, void (*)(mn_geo *)>;

mn_status read_depth(mn_context *ctx, const GU_Detail &detail, const warning &warn, int depth, mn_geo **geo);

mn_status add_others(mn_context *ctx, const GU_Detail &detail, const warning &warn, int depth,
                     const elements &from, mn_geo *geo)
{
    std::map<std::string, int64_t> left_out;
    std::vector<GA_Offset> replaced;
    std::vector<geo_pointer> pieces;
    for (const GA_Offset offset : from.others) {
        GU_Detail plain;
        if (depth == DEEPEST || !make_stand_in(detail, offset, plain)) {
            left_out[detail.getGEOPrimitive(offset)->getTypeDef().getLabel().c_str()]++;
            continue;
        }
        mn_geo *piece;
        MN_TRY(read_depth(ctx, plain, warn, depth + 1, &piece));
        pieces.emplace_back(piece, mn_geo_free);
        MN_TRY(carry_all(detail, offset, piece));
        replaced.push_back(offset);
    }
    say_left_out(left_out, warn);
    MN_TRY(drop_points(detail, from, replaced, geo));
    for (const auto &piece : pieces) MN_TRY(mn_geo_append(geo, piece.get()));
    return MN_OK;
}

mn_status read_depth(mn_context *ctx, const GU_Detail &detail, const warning &warn, int depth, mn_geo **geo)
{
    MN_TRY(mn_geo_create(ctx, geo));
    geo_pointer made(*geo, mn_geo_free);
    *geo = nullptr;
    elements from;
    MN_TRY(read_all(ctx, detail, warn, made.get(), from));
    if (!from.others.empty()) MN_TRY(add_others(ctx, detail, warn, depth, from, made.get()));
    *geo = made.release();
    return MN_OK;
}

} // namespace

mn_status read_detail(mn_context *ctx, const GU_Detail &detail, const warning &warn, mn_geo **geo)
{
    *geo = nullptr;
    try {
        return read_depth(ctx, detail, warn, 0, geo);
    } catch (const std::bad_alloc &) {
        *geo = nullptr;
        return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory while the input was read.");
    }
}

} // namespace mn_houdini
