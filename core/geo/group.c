// SPDX-License-Identifier: Apache-2.0
//
// Groups: named sets of points, vertices or primitives, a byte per element.
#include "geo/geo_state.h"

#include <string.h>

void mn_group_free(mn_context *ctx, mn_group *group)
{
    if (!group) return;
    mn_geo_free_name(ctx, group->name);
    mn_column_free(&group->members);
    mn_release(ctx, group, sizeof *group);
}

int32_t mn_geo_group_count(const mn_geo *geo, mn_owner owner)
{
    return (int32_t)geo->groups[owner].count;
}

const mn_group *mn_geo_group_at(const mn_geo *geo, mn_owner owner, int32_t index)
{
    return index >= 0 && index < geo->groups[owner].count ? geo->groups[owner].data[index] : NULL;
}

static int64_t index_of(const mn_geo *geo, mn_owner owner, const char *name)
{
    for (int64_t i = 0; i < geo->groups[owner].count; i++)
        if (strcmp(geo->groups[owner].data[i]->name, name) == 0) return i;
    return -1;
}

const mn_group *mn_geo_find_group(const mn_geo *geo, mn_owner owner, const char *name)
{
    const int64_t index = index_of(geo, owner, name);
    return index < 0 ? NULL : geo->groups[owner].data[index];
}

// A group without members' memory, not yet in the geo's list (which has room for it).
static mn_status make_group(mn_geo *geo, mn_owner owner, const char *name, mn_group **group)
{
    MN_TRY(mn_array_reserve(geo->ctx, &geo->groups[owner], geo->groups[owner].count + 1));
    mn_group *made = mn_allocate_zero(geo->ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->owner = owner;
    made->members.element_bytes = 1;
    made->name = mn_geo_copy_name(geo->ctx, name);
    if (!made->name) {
        mn_group_free(geo->ctx, made);
        return MN_ERROR_MEMORY;
    }
    *group = made;
    return MN_OK;
}

mn_status mn_geo_add_group(mn_geo *geo, mn_owner owner, const char *name, mn_group **group)
{
    *group = NULL;
    if (owner == MN_DETAIL || !name[0])
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT,
                       "A group needs a name, and points, vertices or primitives to hold.");
    const int64_t index = index_of(geo, owner, name);
    if (index >= 0) {
        *group = geo->groups[owner].data[index];
        return MN_OK;
    }
    mn_group *made;
    MN_TRY(make_group(geo, owner, name, &made));
    const mn_status status = mn_column_reserve(geo->ctx, &made->members, geo->counts[owner]);
    if (status != MN_OK) {
        mn_group_free(geo->ctx, made);
        return status;
    }
    mn_column_set_count(&made->members, geo->counts[owner]);
    geo->groups[owner].data[geo->groups[owner].count++] = made;
    *group = made;
    return MN_OK;
}

mn_status mn_geo_share_group(mn_geo *geo, const mn_group *source)
{
    mn_group *made;
    MN_TRY(make_group(geo, source->owner, source->name, &made));
    made->members = mn_column_share(&source->members);
    geo->groups[source->owner].data[geo->groups[source->owner].count++] = made;
    return MN_OK;
}

mn_status mn_geo_remove_group(mn_geo *geo, mn_owner owner, const char *name)
{
    const int64_t index = index_of(geo, owner, name);
    if (index < 0)
        return mn_fail(geo->ctx, MN_ERROR_NOT_FOUND, "There is no %s group '%s' to remove.",
                       mn_owner_name(owner), name);
    mn_group_free(geo->ctx, geo->groups[owner].data[index]);
    geo->groups[owner].count--;
    for (int64_t i = index; i < geo->groups[owner].count; i++)
        geo->groups[owner].data[i] = geo->groups[owner].data[i + 1];
    return MN_OK;
}

const char *mn_group_name(const mn_group *group)
{
    return group->name;
}

const uint8_t *mn_group_data(const mn_group *group)
{
    return mn_column_data(&group->members);
}

uint8_t *mn_group_write(mn_geo *geo, mn_group *group)
{
    return mn_column_write(geo->ctx, &group->members);
}

int64_t mn_group_member_count(const mn_group *group)
{
    const uint8_t *members = mn_group_data(group);
    int64_t count = 0;
    for (int64_t i = 0; i < group->members.count; i++) count += members[i] != 0;
    return count;
}
