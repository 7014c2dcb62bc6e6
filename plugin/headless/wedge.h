// SPDX-License-Identifier: Apache-2.0
//
// A wedge: one scene, many members with other parameters, each a cook into a folder of its own.
//
//   DIR/plan.json           what is to be cooked; only ever added to
//   DIR/scene.json          the scene as it was when the wedge began
//   DIR/wedge.json, .csv    the table of all members, made from the files below
//   DIR/NAME/state.json     how a member is doing, written by the process that cooks it
//   DIR/NAME/report.jsonl   its report
//   DIR/NAME/log.txt        what its cook said
//   DIR/NAME/NODE.0001.EXT  its frames, journals, checkpoints and pictures, as of any cook
//   DIR/cancel, DIR/NAME/cancel  somebody wants it to stop
//
// No process needs another one: a member belongs to who holds the lock DIR/NAME/.member, on whichever
// machine. Clocks of machines are never compared.
#ifndef MENISCUS_PLUGIN_HEADLESS_WEDGE_H
#define MENISCUS_PLUGIN_HEADLESS_WEDGE_H

#include "plugin/headless/cook_journal.h"
#include "plugin/headless/scene_files.h"
#include "plugin/headless/scene_session.h"
#include "plugin/json/text.h"

typedef struct mn_wedge_setting {
    char *path;  ///< "drop.sigma"
    char *value; ///< as --set takes it, numbers in their shortest form
} mn_wedge_setting;

typedef struct mn_wedge_member {
    char *name;   ///< of its folder; made from its settings, or told
    int32_t seed; ///< of its name and the wedge's seed
    MN_ARRAY(mn_wedge_setting) settings;
} mn_wedge_member;

typedef MN_ARRAY(char *) mn_wedge_words;

typedef struct mn_wedge {
    mn_context *ctx;
    char folder[MN_PATH_SIZE];
    char *source;              ///< the scene's path, for people
    int32_t first, last, step; ///< frames
    mn_wedge_words targets;    ///< names of what is written, as in file names
    mn_wedge_words cook;       ///< words for `meniscus cook`
    int64_t retries;           ///< of a member that failed
    double retry_wait;         ///< s before the first, doubled for each further one
    double time_limit;         ///< s for each try; 0: none
    char *then;                ///< a command for /bin/sh in the folder of each member that is done; "": none
    MN_ARRAY(mn_wedge_member) members;
} mn_wedge;

void mn_wedge_free(mn_wedge *wedge);
void mn_wedge_free_member(mn_context *ctx, mn_wedge_member *member);
mn_status mn_wedge_add_setting(mn_context *ctx, mn_wedge_member *member, const char *path, const char *value);
void mn_wedge_free_words(mn_context *ctx, mn_wedge_words *words);
mn_status mn_wedge_add_word(mn_context *ctx, mn_wedge_words *words, const char *word);
/// DIR/NAME/FILE, or DIR/FILE without a member.
mn_status mn_wedge_path(const mn_wedge *wedge, const mn_wedge_member *member, const char *file,
                        char path[MN_PATH_SIZE]);
/// Frames that every member has in the end.
int32_t mn_wedge_frame_count(const mn_wedge *wedge);

// ---- wedge_vary.c: what is varied ----

typedef struct mn_wedge_variation {
    mn_wedge_words vary; ///< "node.parm=..." each
    const char *csv;     ///< a file, or NULL
    int64_t samples;     ///< of random values
    int64_t seed;
} mn_wedge_variation;

enum { MN_WEDGE_MEMBERS_MAX = 1000000 };

/// Adds all members that the variation asks for and that are not there by their name already; *added counts
/// them. Each setting is checked against the network.
mn_status mn_wedge_vary(mn_wedge *wedge, mn_session *session, mn_network *network,
                        const mn_wedge_variation *variation, int64_t *added);

// ---- wedge_plan.c ----

mn_status mn_wedge_write_plan(const mn_wedge *wedge);
/// MN_ERROR_NOT_FOUND when there is none in that folder.
mn_status mn_wedge_read_plan(mn_context *ctx, const char *folder, mn_wedge *wedge);
/// -1 when there is none.
int64_t mn_wedge_find(const mn_wedge *wedge, const char *name);
/// Whether the wedge has a file of that name beside its members.
bool mn_wedge_is_taken(const char *name);
/// MN_ERROR_SCENE unless `fresh`, of the scene and the words at hand, would cook as the one that is there.
mn_status mn_wedge_compare(const mn_wedge *wedge, const mn_wedge *fresh);

/// "key": number, and a list of strings on a line of its own.
void mn_wedge_put_number(mn_json_text *out, bool *first, const char *separator, const char *key,
                         double number);
void mn_wedge_put_words(mn_json_text *out, bool *first, const char *key, const mn_wedge_words *words);

// ---- wedge_state.c: how a member is doing ----

typedef enum mn_member_state {
    MN_MEMBER_WAITING,
    MN_MEMBER_RUNNING,
    MN_MEMBER_DONE,
    MN_MEMBER_FAILED,
    MN_MEMBER_STOPPED, ///< by a signal or a crash of the machine: goes on where it was
    MN_MEMBER_CANCELLED,
    MN_MEMBER_COOKED, ///< its frames are there; the command after them is another job's
    MN_MEMBER_STATES,
} mn_member_state;

typedef struct mn_member_status {
    mn_member_state state;
    int32_t tries;
    double seconds; ///< of all tries
    int32_t frames; ///< written
    char host[128]; ///< that cooked it last
    int64_t process;
    char error[1024]; ///< "" or its sentence
} mn_member_status;

const char *mn_member_state_name(mn_member_state state);
/// As its files say. One that says it runs but whose lock is free was stopped.
mn_status mn_member_look(const mn_wedge *wedge, const mn_wedge_member *member, mn_member_status *status);
mn_status mn_member_note(const mn_wedge *wedge, const mn_wedge_member *member,
                         const mn_member_status *status);
/// Whether it is to be cooked: not whole, failed or cancelled.
mn_status mn_member_waits(const mn_wedge *wedge, const mn_wedge_member *member, bool *waits);
bool mn_member_is_cancelled(const mn_wedge *wedge, const mn_wedge_member *member);
/// Waits for a file of the wedge that is only there to be locked; closing the descriptor lets go of it.
mn_status mn_wedge_lock(const mn_wedge *wedge, const char *name, int *lock);
/// Takes the member's lock: a descriptor that keeps it until it is closed by this process and its children,
/// or -1 when somebody else has it.
mn_status mn_member_lock(const mn_wedge *wedge, const mn_wedge_member *member, int *lock);

// ---- wedge_member.c: cooking one ----

enum { MN_EXIT_BUSY = 75 }; ///< of `meniscus wedge member`: somebody else cooks it

/// Cooks it, and unless `only_cook` runs the command after it; nothing is done again. Returns the exit code
/// of `meniscus wedge member`.
int mn_member_run(const mn_wedge *wedge, mn_session *session, const mn_wedge_member *member, bool only_cook);
/// How this process was started, without its subcommand: "/usr/bin/meniscus", or Python with -m meniscus.
mn_status mn_command_words(mn_context *ctx, mn_wedge_words *words);
/// For execv(): the program that runs, though another version may have taken its place on disk.
#define MN_OWN_PROGRAM "/proc/self/exe"

// ---- wedge_needs.c ----

typedef struct mn_member_needs {
    double memory;  ///< bytes; 0: not known
    double seconds; ///< 0: not known
} mn_member_needs;

/// What the members need at most, by `meniscus doctor` for the first, the middle and the last of them, which
/// cooks their first frames. `command` is how this process was started, quoted for a shell.
mn_member_needs mn_wedge_estimate(const mn_wedge *wedge, mn_session *session, const char *command);
/// The word in single quotes, with those inside written as '\''.
void mn_put_quoted(mn_json_text *out, const char *word);
/// Runs a line in a shell; the beginning of what it says is in `said`. Gives its exit code.
int mn_run_shell(const char *line, char *said, size_t size);

// ---- wedge_farm.c ----

/// Hands all that wait to Slurm; returns the exit code.
int mn_wedge_submit(const mn_wedge *wedge, mn_session *session, bool quiet);
/// Takes the wedge's pending jobs out of Slurm's queue, as far as Slurm can be asked.
void mn_wedge_cancel_jobs(const mn_wedge *wedge);

// ---- wedge_print.c ----

/// Prints how to hand them to a scheduler: slurm, hqueue, deadline or opencue.
int mn_wedge_print(const mn_wedge *wedge, mn_session *session, const char *scheduler);

// ---- wedge_pool.c ----

/// Cooks all that wait or were stopped, at most `processes` at a time.
int mn_wedge_run_local(const mn_wedge *wedge, mn_session *session, int32_t processes, bool quiet);

// ---- wedge_verbs.c: for wedges that are there; each gives the exit code ----

int mn_wedge_status(const mn_wedge *wedge, mn_session *session, bool json);
/// All members, or those with the names.
int mn_wedge_cancel(const mn_wedge *wedge, mn_session *session, const mn_wedge_words *names);
int mn_wedge_collect(const mn_wedge *wedge, mn_session *session, bool quiet);
/// Those that failed or were cancelled, or the named ones, wait again.
mn_status mn_wedge_forgive(const mn_wedge *wedge, const mn_wedge_words *names);
/// What runs from now on is not stopped by an earlier `cancel` of the whole wedge.
mn_status mn_wedge_allow(const mn_wedge *wedge);

// ---- wedge_table.c ----

/// The table of all members as JSON and CSV, to be given back with mn_scene_free_text, and how many are in
/// each state.
mn_status mn_wedge_table_texts(const mn_wedge *wedge, char **json, char **csv,
                               int64_t counts[MN_MEMBER_STATES]);
/// The same into wedge.json and wedge.csv.
mn_status mn_wedge_write_tables(const mn_wedge *wedge, int64_t counts[MN_MEMBER_STATES]);

#endif
