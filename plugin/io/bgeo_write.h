// SPDX-License-Identifier: Apache-2.0
//
// Parts of the .geo and .bgeo writer.
#ifndef MENISCUS_PLUGIN_IO_BGEO_WRITE_H
#define MENISCUS_PLUGIN_IO_BGEO_WRITE_H

#include "plugin/json/write.h"

enum { MN_BGEO_PAGE = 1024 };

/// Fails only when memory is out; what goes wrong in writing stays in json->status.
mn_status mn_bgeo_write_attributes(mn_json_writer *json, const mn_geo *geo);
mn_status mn_bgeo_write_primitives(mn_json_writer *json, const mn_geo *geo, const char *name);
void mn_bgeo_write_groups(mn_json_writer *json, const mn_geo *geo, mn_owner owner, const char *key);
/// The map of what a file browser shows.
mn_status mn_bgeo_write_info(mn_json_writer *json, const mn_geo *geo);

#endif
