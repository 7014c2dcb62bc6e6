// SPDX-License-Identifier: Apache-2.0
//
// Everything public around the core: node types, networks, geometry files.
#ifndef MENISCUS_HOST_H
#define MENISCUS_HOST_H

#include "meniscus/meniscus.h"
#include "nodes/node.h"
#include "plugin/host/network/network.h"
#include "plugin/io/io.h"

#endif
