// SPDX-License-Identifier: Apache-2.0
//
// Nothing of its own: libmeniscus_plugin is the static libraries in one shared object. This gives the linker
// a file and callers a way to check that the library and the module belong together.
#include "plugin/python/library.h"

int mn_plugin_version(void)
{
    return MN_PLUGIN_VERSION;
}
