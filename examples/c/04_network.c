// SPDX-License-Identifier: Apache-2.0
//
// A network of nodes made in code, as the command, Python and Blender make it: a ball of water is filled with
// particles, falls, and gets a skin, which is written frame by frame. 04_network [FOLDER]
#include <meniscus_host.h>

#include <stdio.h>
#include <stdlib.h>

static mn_context *ctx;

static void check(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    ctx = mn_context_create(NULL);
    mn_network *network;
    check(mn_network_create(ctx, NULL, &network));

    int32_t ball, fill, drop, skin;
    check(mn_network_add_node(network, "shape", "ball", &ball));
    check(mn_network_set_text(network, ball, "kind", "sphere"));
    check(mn_network_set_text(network, ball, "radius", "0.002 0.002 0.002"));
    check(mn_network_add_node(network, "fill", "fill", &fill));
    check(mn_network_set_number(network, fill, "dx", 0, 0.0006));
    check(mn_network_connect(network, fill, 0, ball, 0));
    check(mn_network_add_node(network, "mpm_solver", "drop", &drop));
    check(mn_network_set_number(network, drop, "dx", 0, 0.0006));
    check(mn_network_set_number(network, drop, "time_scale", 0, 0.05));
    check(mn_network_connect(network, drop, 0, fill, 0));
    check(mn_network_add_node(network, "surface", "skin", &skin));
    check(mn_network_set_number(network, skin, "dx", 0, 0.0003));
    check(mn_network_connect(network, skin, 0, drop, 0));

    // A misspelt name is an error that knows better.
    if (mn_network_set_number(network, drop, "viscocity", 0, 0.001) == MN_OK) return 1;
    printf("%s\n", mn_context_message(ctx));

    for (int frame = 1; frame <= 3; frame++) {
        const mn_geo *geo; // borrowed until the next cook
        check(mn_network_cook(network, skin, 0, frame, &geo));
        printf("frame %d: %lld points, %lld polygons\n", frame, (long long)mn_geo_point_count(geo),
               (long long)mn_geo_kind_count(geo, MN_POLYGON));
        char path[1000];
        snprintf(path, sizeof path, "%s/skin.%04d.bgeo.sc", argc > 1 ? argv[1] : ".", frame);
        check(mn_io_write(ctx, path, geo));
    }
    mn_network_free(network);
    mn_context_free(ctx);
    return 0;
}
