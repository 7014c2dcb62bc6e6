// SPDX-License-Identifier: Apache-2.0
#ifndef MENISCUS_PLUGIN_PYTHON_LIBRARY_H
#define MENISCUS_PLUGIN_PYTHON_LIBRARY_H

/// Raised whenever a function or struct that the Python module uses changes.
enum { MN_PLUGIN_VERSION = 1 };

int mn_plugin_version(void);

#endif
