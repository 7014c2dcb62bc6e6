// SPDX-License-Identifier: Apache-2.0
//
// An mn_geo as a GU_Detail.
#include "plugin/houdini/geometry.hpp"
#include "plugin/vdb/exchange.hpp"

#include <climits>
#include <vector>

#include <GA/GA_AIFTuple.h>
#include <GA/GA_Attribute.h>
#include <GA/GA_ElementGroup.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Range.h>
#include <GEO/GEO_PolyCounts.h>
#include <GEO/GEO_PrimTetrahedron.h>
#include <GU/GU_Detail.h>
#include <GU/GU_PrimPoly.h>
#include <GU/GU_PrimVDB.h>

namespace mn_houdini
{

namespace
{

/// Where our elements went.
struct elements {
    std::vector<GA_Offset> points, vertices, primitives;
    std::vector<bool> is_of_volume; ///< points that Houdini itself has placed
    const std::vector<GA_Offset> &of(mn_owner owner) const
    {
        return owner == MN_POINT ? points : owner == MN_VERTEX ? vertices : primitives;
    }
};

GA_AttributeOwner owner_of(mn_owner owner)
{
    static const GA_AttributeOwner owners[] = {GA_ATTRIB_POINT, GA_ATTRIB_VERTEX, GA_ATTRIB_PRIMITIVE,
                                               GA_ATTRIB_DETAIL};
    return owners[owner];
}

// ---- topology ----

mn_status build_volume(mn_context *ctx, mn_volume volume, GU_Detail &detail)
{
    openvdb::GridBase::Ptr grid;
    MN_TRY(mn_vdb::grid_from_volume(ctx, volume, &grid));
    GU_PrimVDB::buildFromGrid(detail, grid, nullptr, mn_volume_get_info(volume).name);
    return MN_OK;
}

/// Primitives [begin, end), all of one kind.
void build_run(const mn_geo *geo, int64_t begin, int64_t end, GA_Offset first_point, GU_Detail &detail)
{
    const auto kind = static_cast<mn_primitive_kind>(mn_geo_primitive_kinds(geo)[begin]);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const std::vector<int> numbers(points + starts[begin], points + starts[end]);
    const GA_Size point_count = static_cast<GA_Size>(mn_geo_point_count(geo));
    if (kind == MN_TETRAHEDRON) {
        GEO_PrimTetrahedron::buildBlock(&detail, first_point, point_count, end - begin, numbers.data());
        return;
    }
    GEO_PolyCounts counts;
    for (int64_t i = begin; i < end; i++) counts.append(static_cast<GA_Size>(starts[i + 1] - starts[i]));
    GU_PrimPoly::buildBlock(&detail, first_point, point_count, counts, numbers.data(), kind == MN_POLYGON);
}

/// A volume makes its own point in Houdini, whose place is a part of the grid's transform: points that only
/// volumes use become that one.
std::vector<bool> points_of_volumes(const mn_geo *geo)
{
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    std::vector<bool> only(static_cast<size_t>(mn_geo_point_count(geo)), false);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        if (kinds[i] == MN_VOLUME) only[static_cast<size_t>(points[starts[i]])] = true;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        for (int64_t v = starts[i]; kinds[i] != MN_VOLUME && v < starts[i + 1]; v++)
            only[static_cast<size_t>(points[v])] = false;
    return only;
}

mn_status write_topology(mn_context *ctx, const mn_geo *geo, GU_Detail &detail, elements &to)
{
    const int64_t point_count = mn_geo_point_count(geo), count = mn_geo_primitive_count(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    if (point_count > INT_MAX || mn_geo_vertex_count(geo) > INT_MAX)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "Houdini's meshes cannot have more than %d points or vertices.", INT_MAX);
    const GA_Offset first = point_count > 0 ? detail.appendPointBlock(point_count) : GA_Offset(0);
    for (int64_t i = 0; i < point_count; i++) to.points.push_back(first + GA_Offset(i));
    to.is_of_volume = points_of_volumes(geo);
    std::vector<GA_Offset> unused;
    for (int64_t i = 0; i < count;) {
        int64_t end = i + 1;
        const GA_Size before = detail.getNumPrimitives();
        while (kinds[i] != MN_VOLUME && end < count && kinds[end] == kinds[i]) end++;
        if (kinds[i] == MN_VOLUME)
            MN_TRY(build_volume(ctx, mn_geo_volume(geo, i), detail));
        else
            build_run(geo, i, end, first, detail);
        for (GA_Size p = before; p < detail.getNumPrimitives(); p++) {
            const GA_Offset offset = detail.primitiveOffset(GA_Index(p));
            to.primitives.push_back(offset);
            for (GA_Size v = 0; v < detail.getPrimitiveVertexCount(offset); v++)
                to.vertices.push_back(detail.getPrimitiveVertexOffset(offset, v));
            if (kinds[i] != MN_VOLUME) continue;
            const auto point =
                static_cast<size_t>(mn_geo_vertex_points(geo)[mn_geo_primitive_starts(geo)[i]]);
            if (!to.is_of_volume[point]) continue;
            unused.push_back(to.points[point]);
            to.points[point] = detail.vertexPoint(detail.getPrimitiveVertexOffset(offset, 0));
        }
        i = end;
    }
    for (const GA_Offset offset : unused) detail.destroyPointOffset(offset);
    return MN_OK;
}

// ---- attributes ----

GA_TypeInfo info_of(mn_hint hint)
{
    static const GA_TypeInfo infos[] = {GA_TYPE_VOID,         GA_TYPE_POINT, GA_TYPE_VECTOR,
                                        GA_TYPE_NORMAL,       GA_TYPE_COLOR, GA_TYPE_QUATERNION,
                                        GA_TYPE_TEXTURE_COORD};
    return infos[hint];
}

template <typename T>
void copy_tuples(const GA_AIFTuple &tuple, GA_Attribute &attribute, const std::vector<GA_Offset> &offsets,
                 int size, const void *values)
{
    const T *from = static_cast<const T *>(values);
    for_blocks(offsets, [&](size_t first, GA_Offset begin, GA_Offset end) {
        tuple.setRange(&attribute, GA_Range(attribute.getIndexMap(), begin, end),
                       from + first * static_cast<size_t>(size));
    });
}

mn_status write_numbers(mn_context *ctx, const mn_attribute *attribute, GA_Attribute *made,
                        const std::vector<GA_Offset> &offsets)
{
    const GA_AIFTuple *tuple = made ? made->getAIFTuple() : nullptr;
    if (!tuple)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "Houdini refuses an attribute named '%s'.",
                       mn_attribute_name(attribute));
    const void *values = mn_attribute_data(attribute);
    const int size = mn_attribute_size(attribute);
    const mn_type type = mn_attribute_type(attribute);
    made->setTypeInfo(info_of(mn_attribute_hint(attribute)));
    if (type == MN_F32) copy_tuples<fpreal32>(*tuple, *made, offsets, size, values);
    if (type == MN_F64) copy_tuples<fpreal64>(*tuple, *made, offsets, size, values);
    if (type == MN_I32) copy_tuples<int32>(*tuple, *made, offsets, size, values);
    if (type == MN_I64) copy_tuples<int64>(*tuple, *made, offsets, size, values);
    return MN_OK;
}

mn_status write_strings(mn_context *ctx, const mn_attribute *attribute, GA_Attribute *made,
                        const std::vector<GA_Offset> &offsets)
{
    const GA_RWHandleS strings(made);
    if (!strings.isValid())
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "Houdini refuses an attribute named '%s'.",
                       mn_attribute_name(attribute));
    for (size_t i = 0; i < offsets.size(); i++)
        for (int k = 0; k < mn_attribute_size(attribute); k++) {
            const char *string = mn_attribute_string(attribute, static_cast<int64_t>(i), k);
            if (*string) strings.set(offsets[i], k, string);
        }
    return MN_OK;
}

mn_status write_attribute(mn_context *ctx, const mn_attribute *attribute, GU_Detail &detail,
                          const std::vector<GA_Offset> &offsets)
{
    const GA_AttributeOwner owner = owner_of(mn_attribute_owner(attribute));
    const char *name = mn_attribute_name(attribute);
    const int size = mn_attribute_size(attribute);
    switch (mn_attribute_type(attribute)) {
    case MN_F32:
    case MN_F64:
        return write_numbers(
            ctx, attribute,
            detail.addFloatTuple(owner, name, size, GA_Defaults(0.0), nullptr, nullptr,
                                 mn_attribute_type(attribute) == MN_F32 ? GA_STORE_REAL32 : GA_STORE_REAL64),
            offsets);
    case MN_I32:
    case MN_I64:
        return write_numbers(
            ctx, attribute,
            detail.addIntTuple(owner, name, size, GA_Defaults(0), nullptr, nullptr,
                               mn_attribute_type(attribute) == MN_I32 ? GA_STORE_INT32 : GA_STORE_INT64),
            offsets);
    default:
        return write_strings(ctx, attribute, detail.addStringTuple(owner, name, size), offsets);
    }
}

/// All but the points that Houdini has placed for volumes. In blocks: P is an attribute like any other.
void write_positions(const mn_geo *geo, GU_Detail &detail, const elements &to)
{
    GA_Attribute *positions = detail.getP();
    std::vector<GA_Offset> block;
    const float *from = mn_geo_positions(geo);
    for (size_t i = 0, first = 0; i <= to.points.size(); i++) {
        if (i < to.points.size() && !to.is_of_volume[i]) {
            block.push_back(to.points[i]);
            continue;
        }
        copy_tuples<fpreal32>(*positions->getAIFTuple(), *positions, block, 3, from + 3 * first);
        block.clear();
        first = i + 1;
    }
}

mn_status write_owner(mn_context *ctx, const mn_geo *geo, mn_owner owner, GU_Detail &detail,
                      const std::vector<GA_Offset> &offsets)
{
    for (int32_t i = 0; i < mn_geo_attribute_count(geo, owner); i++) {
        const mn_attribute *attribute = mn_geo_attribute_at(geo, owner, i);
        if (attribute == mn_geo_find(geo, MN_POINT, "P")) continue;
        MN_TRY(write_attribute(ctx, attribute, detail, offsets));
    }
    for (int32_t i = 0; owner != MN_DETAIL && i < mn_geo_group_count(geo, owner); i++) {
        const mn_group *group = mn_geo_group_at(geo, owner, i);
        const uint8_t *members = mn_group_data(group);
        GA_ElementGroup *made = detail.createElementGroup(owner_of(owner), mn_group_name(group));
        for (size_t k = 0; made && k < offsets.size(); k++)
            if (members[k]) made->addOffset(offsets[k]);
    }
    return MN_OK;
}

mn_status write_all(mn_context *ctx, const mn_geo *geo, GU_Detail &detail)
{
    elements to;
    detail.clearAndDestroy();
    MN_TRY(write_topology(ctx, geo, detail, to));
    write_positions(geo, detail, to);
    for (const mn_owner owner : {MN_POINT, MN_VERTEX, MN_PRIMITIVE})
        MN_TRY(write_owner(ctx, geo, owner, detail, to.of(owner)));
    MN_TRY(write_owner(ctx, geo, MN_DETAIL, detail, {GA_Offset(0)}));
    detail.bumpAllDataIds();
    detail.incrementMetaCacheCount();
    return MN_OK;
}

} // namespace

mn_status write_detail(mn_context *ctx, const mn_geo *geo, GU_Detail &detail)
{
    mn_geo *turned;
    MN_TRY(mn_geo_copy(geo, &turned));
    mn_status status = mn_geo_reverse_polygons(turned);
    try {
        if (status == MN_OK) status = write_all(ctx, turned, detail);
    } catch (const std::bad_alloc &) {
        status = mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory while the result was handed to Houdini.");
    }
    mn_geo_free(turned);
    return status;
}

} // namespace mn_houdini
