// SPDX-License-Identifier: Apache-2.0
//
// Command lines for schedulers that we cannot run here, by their documentation, with the limits that Slurm's
// jobs get.
//
//   scheduler   memory                            time
//   deadline    MENISCUS_MEMORY (it has none)     TaskTimeoutMinutes of the job
//   hqueue      MENISCUS_MEMORY (it has none)     timeout(1)
//   opencue     memory of the layer               timeout of the layer, in minutes
//
// A member that meets its limit of time gets SIGTERM, leaves its checkpoint and resumes in the next job.
#define _GNU_SOURCE
#include "plugin/headless/command.h"
#include "plugin/headless/wedge_farm.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/// "MENISCUS_MEMORY=512M ", or "".
static void memory_word(const mn_farm_job *job, char word[64])
{
    *word = 0;
    if (job->megabytes > 0) snprintf(word, 64, "MENISCUS_MEMORY=%.0fM ", job->megabytes);
}

static void print_deadline(const mn_farm_job *job, const char *name, const char *member, int64_t count)
{
    char memory[64], time[96] = "";
    memory_word(job, memory);
    if (job->minutes > 0)
        snprintf(time, sizeof time, " -prop TaskTimeoutMinutes=%.0f -prop OnTaskTimeout=Error", job->minutes);
    printf(
        "deadlinecommand -SubmitCommandLineJob -name '%s' -executable /bin/sh -arguments \"-c <QUOTE>%sexec %s<STARTFRAME><QUOTE>\" "
        "-frames 0-%lld -chunksize 1%s\n",
        name, memory, member, (long long)count - 1, time);
}

static void print_hqueue(const mn_farm_job *job, const char *name, const char *member, int64_t count)
{
    char memory[64], time[64] = "";
    memory_word(job, memory);
    if (job->minutes > 0) snprintf(time, sizeof time, "timeout -k 60 %.0fm ", job->minutes);
    printf(
        "python3 - <<'END'\nimport xmlrpc.client\nhq = xmlrpc.client.ServerProxy('http://hqueue:5000')\n"
        "hq.newjob({'name': '%s', 'shell': 'bash', 'command': '', 'children': [\n"
        "    {'name': str(i), 'shell': 'bash', 'command': r\"\"\"%sexec %s%s\"\"\" + str(i)} for i in range(%lld)]})\nEND\n",
        name, memory, time, member, (long long)count);
}

/// The words of a command are joined by spaces and given to a shell, so the whole line is one word.
static void print_opencue(const mn_farm_job *job, const char *name, const char *member, int64_t count)
{
    char memory[64] = "", time[64] = "";
    if (job->megabytes > 0) snprintf(memory, sizeof memory, ", memory='%.0fm'", job->megabytes);
    if (job->minutes > 0) snprintf(time, sizeof time, ", timeout=%.0f", job->minutes);
    printf("python3 - <<'END'\nimport outline, outline.cuerun\nfrom outline.modules.shell import Shell\n"
           "job = outline.Outline('%s')\n"
           "job.add_layer(Shell('cook', command=[r\"\"\"%s#IFRAME#\"\"\"], range='0-%lld', chunk=1%s%s))\n"
           "outline.cuerun.launch(job, use_pycuerun=False)\nEND\n",
           name, member, (long long)count - 1, memory, time);
}

/// The folder's name with letters that every shell and Python leave alone.
static void job_name(const mn_farm_job *job, char name[256])
{
    const char *slash = strrchr(job->folder, '/');
    snprintf(name, 256, "%.255s", slash ? slash + 1 : job->folder);
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._-=,", *at)) *at = '_';
}

static mn_status print_for(const mn_farm_job *job, const char *scheduler, int number, int64_t count)
{
    mn_json_text command = {.ctx = job->session->ctx};
    char *member, *line, name[256];
    job_name(job, name);
    mn_farm_put_member_command(job, number, &command);
    MN_TRY(mn_json_text_finish(&command, &member));
    mn_status status = MN_OK;
    if (strcmp(scheduler, "slurm") == 0) {
        status = mn_farm_sbatch_line(job, number, count, "", "", &line);
        if (status == MN_OK) printf("%s\n", line);
        if (status == MN_OK) mn_scene_free_text(job->session->ctx, line);
    } else {
        printf("# Not run by the tests of Meniscus, which have no %s.\n", scheduler);
    }
    if (strcmp(scheduler, "deadline") == 0) print_deadline(job, name, member, count);
    if (strcmp(scheduler, "hqueue") == 0) print_hqueue(job, name, member, count);
    if (strcmp(scheduler, "opencue") == 0) print_opencue(job, name, member, count);
    mn_scene_free_text(job->session->ctx, member);
    return status;
}

int mn_wedge_print(const mn_wedge *wedge, mn_session *session, const char *scheduler)
{
    mn_farm_job job = {.wedge = wedge, .session = session};
    mn_wedge_words names = {0};
    int number = 0;
    mn_status status = mn_farm_open(&job);
    if (status == MN_OK) status = mn_farm_list_waiting(wedge, &names);
    if (status == MN_OK) mn_farm_choose_limits(&job);
    if (status == MN_OK && names.count > 0) status = mn_farm_next_number(&job, &number);
    if (status == MN_OK && names.count > 0)
        status = mn_farm_write_submission(&job, &names, 0, names.count, number);
    if (status == MN_OK && names.count > 0) status = print_for(&job, scheduler, number, names.count);
    if (status == MN_OK && names.count == 0) mn_session_say(session, "no member waits.");
    mn_wedge_free_words(session->ctx, &names);
    mn_farm_close(&job);
    const int code = mn_session_fail(session, status);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_wedge_command) : code;
}
