// SPDX-License-Identifier: Apache-2.0
//
// Calls through a volume's table.
#include "meniscus/geo.h"

#include <string.h>

mn_volume mn_volume_retain(mn_volume volume)
{
    if (volume.ops) volume.ops->retain(volume.handle);
    return volume;
}

void mn_volume_release(mn_volume *volume)
{
    if (!volume) return;
    if (volume->ops) volume->ops->release(volume->handle);
    *volume = (mn_volume){0};
}

mn_volume_info mn_volume_get_info(mn_volume volume)
{
    mn_volume_info info;
    memset(&info, 0, sizeof info);
    info.name = "";
    info.bounds = mn_box_empty();
    if (volume.ops) volume.ops->info(volume.handle, &info);
    return info;
}

double mn_volume_sample(mn_volume volume, mn_vec3 position)
{
    double values[3] = {0};
    if (volume.ops) volume.ops->sample(volume.handle, 1, &position, values);
    return values[0];
}

mn_vec3 mn_volume_sample_vec3(mn_volume volume, mn_vec3 position)
{
    double values[3] = {0};
    if (volume.ops) volume.ops->sample(volume.handle, 1, &position, values);
    return mn_v3(values[0], values[1], values[2]);
}

mn_vec3 mn_volume_gradient(mn_volume volume, mn_vec3 position)
{
    if (!volume.ops || mn_volume_get_info(volume).components != 1) return mn_v3(0, 0, 0);
    const double h = mn_volume_get_info(volume).voxel_size;
    const mn_vec3 x = position;
    const mn_vec3 at[6] = {{x.x + h, x.y, x.z}, {x.x - h, x.y, x.z}, {x.x, x.y + h, x.z},
                           {x.x, x.y - h, x.z}, {x.x, x.y, x.z + h}, {x.x, x.y, x.z - h}};
    double phi[6];
    volume.ops->sample(volume.handle, 6, at, phi);
    return mn_scale(0.5 / h, mn_v3(phi[0] - phi[1], phi[2] - phi[3], phi[4] - phi[5]));
}
