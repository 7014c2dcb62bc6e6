// SPDX-License-Identifier: Apache-2.0
//
// What the submission of a wedge and the lines printed for other schedulers share.
#ifndef MENISCUS_PLUGIN_HEADLESS_WEDGE_FARM_H
#define MENISCUS_PLUGIN_HEADLESS_WEDGE_FARM_H

#include "plugin/headless/wedge.h"

typedef struct mn_farm_job {
    const mn_wedge *wedge;
    mn_session *session;
    char folder[MN_PATH_SIZE]; ///< absolute
    mn_json_text command;      ///< "/usr/bin/meniscus" quoted for a shell, with the words before `wedge`
    double megabytes, minutes; ///< limits of one member, or 0
    double then_minutes;       ///< of the command after its cook, of which doctor knows nothing; or 0
} mn_farm_job;

/// Finds the folder and the command; mn_farm_close() in any case.
mn_status mn_farm_open(mn_farm_job *job);
void mn_farm_close(mn_farm_job *job);
void mn_farm_choose_limits(mn_farm_job *job);
/// Names of all members that are to be cooked.
mn_status mn_farm_list_waiting(const mn_wedge *wedge, mn_wedge_words *names);
/// A number that no submission has, and FOLDER/farm.
mn_status mn_farm_next_number(const mn_farm_job *job, int *number);
/// Its list of members and the script of its tasks.
mn_status mn_farm_write_submission(const mn_farm_job *job, const mn_wedge_words *names, int64_t first,
                                   int64_t count, int number);
/// "meniscus wedge member DIR --list DIR/farm/3.list --index " without the index.
void mn_farm_put_member_command(const mn_farm_job *job, int number, mn_json_text *out);
/// The line for sbatch; `after` is a dependency or "" for the cooks, `more` goes to the script.
mn_status mn_farm_sbatch_line(const mn_farm_job *job, int number, int64_t count, const char *after,
                              const char *more, char **text);

#endif
