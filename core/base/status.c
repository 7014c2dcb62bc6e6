// SPDX-License-Identifier: Apache-2.0
//
// Names and messages of status codes, from the one list in status.h.
#include "meniscus/context.h"

const char *mn_status_name(mn_status status)
{
    static const char *const names[] = {
#define X(code, message) #code,
        MN_STATUS_LIST(X)
#undef X
    };
    return (unsigned)status < MN_STATUS_COUNT ? names[status] : "MN_STATUS_UNKNOWN";
}

const char *mn_status_message(mn_status status)
{
    static const char *const messages[] = {
#define X(code, message) message,
        MN_STATUS_LIST(X)
#undef X
    };
    return (unsigned)status < MN_STATUS_COUNT ? messages[status] : "unknown status";
}
