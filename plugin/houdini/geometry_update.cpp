// SPDX-License-Identifier: Apache-2.0
//
// The next frame into a detail that holds the last one. As long as points and primitives are the same, only
// attributes with other values are written, and only their data ids grow: the viewport keeps the rest.
#include "plugin/houdini/geometry.hpp"

#include <cstring>

#include <GA/GA_AIFTuple.h>
#include <GA/GA_Attribute.h>
#include <GA/GA_Range.h>
#include <GU/GU_Detail.h>

namespace mn_houdini
{

namespace
{

bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return a == b || bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

size_t bytes_of(const mn_attribute *attribute)
{
    return static_cast<size_t>(mn_attribute_count(attribute) * mn_attribute_size(attribute)) *
           mn_type_bytes(mn_attribute_type(attribute));
}

bool same_values(const mn_attribute *a, const mn_attribute *b)
{
    if (mn_attribute_type(a) != MN_STRING)
        return same_bytes(mn_attribute_data(a), mn_attribute_data(b), bytes_of(a));
    for (int64_t i = 0; i < mn_attribute_count(a); i++)
        for (int32_t k = 0; k < mn_attribute_size(a); k++)
            if (std::strcmp(mn_attribute_string(a, i, k), mn_attribute_string(b, i, k)) != 0) return false;
    return true;
}

bool same_topology(const mn_geo *a, const mn_geo *b)
{
    for (const mn_owner owner : {MN_POINT, MN_VERTEX, MN_PRIMITIVE})
        if (mn_geo_count(a, owner) != mn_geo_count(b, owner)) return false;
    const auto primitives = static_cast<size_t>(mn_geo_primitive_count(a)),
               vertices = static_cast<size_t>(mn_geo_vertex_count(a));
    if (mn_geo_kind_count(a, MN_VOLUME) > 0) return false;
    return same_bytes(mn_geo_primitive_kinds(a), mn_geo_primitive_kinds(b), primitives) &&
           same_bytes(mn_geo_primitive_starts(a), mn_geo_primitive_starts(b), primitives * sizeof(int64_t)) &&
           same_bytes(mn_geo_vertex_points(a), mn_geo_vertex_points(b), vertices * sizeof(int64_t));
}

/// The same attributes and groups; what cannot be written in place (strings, vertices, groups) with the same
/// values.
bool same_shape(const mn_geo *a, const mn_geo *b)
{
    for (int o = 0; o < MN_OWNER_COUNT; o++) {
        const auto owner = static_cast<mn_owner>(o);
        if (mn_geo_attribute_count(a, owner) != mn_geo_attribute_count(b, owner)) return false;
        for (int32_t i = 0; i < mn_geo_attribute_count(a, owner); i++) {
            const mn_attribute *one = mn_geo_attribute_at(a, owner, i),
                               *other = mn_geo_attribute_at(b, owner, i);
            if (std::strcmp(mn_attribute_name(one), mn_attribute_name(other)) != 0 ||
                mn_attribute_type(one) != mn_attribute_type(other) ||
                mn_attribute_size(one) != mn_attribute_size(other) ||
                mn_attribute_hint(one) != mn_attribute_hint(other))
                return false;
            const bool in_place = owner != MN_VERTEX && mn_attribute_type(one) != MN_STRING;
            if (!in_place && !same_values(one, other)) return false;
        }
        if (owner == MN_DETAIL) continue;
        if (mn_geo_group_count(a, owner) != mn_geo_group_count(b, owner)) return false;
        for (int32_t i = 0; i < mn_geo_group_count(a, owner); i++) {
            const mn_group *one = mn_geo_group_at(a, owner, i), *other = mn_geo_group_at(b, owner, i);
            if (std::strcmp(mn_group_name(one), mn_group_name(other)) != 0 ||
                !same_bytes(mn_group_data(one), mn_group_data(other),
                            static_cast<size_t>(mn_geo_count(a, owner))))
                return false;
        }
    }
    return true;
}

/// The elements of an owner lie in one block, as write_detail() made them.
bool find_block(const GU_Detail &detail, mn_owner owner, int64_t count, GA_Offset &first)
{
    first = GA_Offset(0);
    if (owner == MN_DETAIL || count == 0) return true;
    const bool points = owner == MN_POINT;
    if ((points ? detail.getNumPoints() : detail.getNumPrimitives()) != count) return false;
    const GA_Index last(static_cast<exint>(count - 1));
    first = points ? detail.pointOffset(GA_Index(0)) : detail.primitiveOffset(GA_Index(0));
    return (points ? detail.pointOffset(last) : detail.primitiveOffset(last)) == first + (count - 1);
}

void set_values(GA_Attribute &to, const mn_attribute *from, GA_Offset first)
{
    const GA_AIFTuple &tuple = *to.getAIFTuple();
    const GA_Range range(to.getIndexMap(), first, first + mn_attribute_count(from));
    const void *values = mn_attribute_data(from);
    const mn_type type = mn_attribute_type(from);
    if (type == MN_F32) tuple.setRange(&to, range, static_cast<const fpreal32 *>(values));
    if (type == MN_F64) tuple.setRange(&to, range, static_cast<const fpreal64 *>(values));
    if (type == MN_I32) tuple.setRange(&to, range, static_cast<const int32 *>(values));
    if (type == MN_I64) tuple.setRange(&to, range, static_cast<const int64 *>(values));
    to.bumpDataId();
}

GA_AttributeOwner owner_in_houdini(mn_owner owner)
{
    return owner == MN_POINT       ? GA_ATTRIB_POINT
           : owner == MN_PRIMITIVE ? GA_ATTRIB_PRIMITIVE
                                   : GA_ATTRIB_DETAIL;
}

/// False, with nothing written, when the detail is not as it was left.
bool update_attributes(const mn_geo *geo, const mn_geo *last, GU_Detail &detail)
{
    struct change {
        GA_Attribute *to;
        const mn_attribute *from;
        GA_Offset first;
    };
    std::vector<change> changes;
    for (const mn_owner owner : {MN_POINT, MN_PRIMITIVE, MN_DETAIL}) {
        GA_Offset first;
        if (!find_block(detail, owner, mn_geo_count(geo, owner), first)) return false;
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, owner); i++) {
            const mn_attribute *from = mn_geo_attribute_at(geo, owner, i);
            if (same_values(from, mn_geo_attribute_at(last, owner, i))) continue;
            GA_Attribute *to = detail.findAttribute(owner_in_houdini(owner), mn_attribute_name(from));
            if (!to || !to->getAIFTuple() || to->getAIFTuple()->getTupleSize(to) != mn_attribute_size(from))
                return false;
            changes.push_back({to, from, first});
        }
    }
    for (const change &one : changes) set_values(*one.to, one.from, one.first);
    return true;
}

} // namespace

mn_status update_detail(mn_context *ctx, const mn_geo *geo, const mn_geo *last, GU_Detail &detail)
{
    if (last && same_topology(geo, last) && same_shape(geo, last) && update_attributes(geo, last, detail)) {
        detail.incrementMetaCacheCount();
        return MN_OK;
    }
    return write_detail(ctx, geo, detail);
}

} // namespace mn_houdini
