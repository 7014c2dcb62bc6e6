// SPDX-License-Identifier: Apache-2.0
#include "film/film_state.h"
mn_status mn_film_join_films(mn_film *film)
{
    (void)film;
    return MN_OK;
}
