/* gspmd.h - the public face of libgspmd: sessions that read programs, plan them and run them.
 *
 * A session holds variables, a graph, a mesh and settings.  Text is fed to it in pieces of any
 * size; each complete statement runs at once.  There are no globals: any number of sessions live
 * in one process, each used by one thread at a time.  Nothing here prints, exits or aborts: what a
 * program prints goes to the output function, errors go to the diagnostic sink.
 *
 *   struct gs_session_options options = { .output = print, .message = complain };
 *   struct gs_session *s = gs_session_new(&options);
 *   gs_session_run_text(s, "example", text, length);
 *   const char *names[] = { "y" };
 *   struct gs_tensor *y;
 *   if (gs_session_run(s, names, 1, &y) == GS_SESSION_OK) {
 *     use(gs_value_data(y));
 *     gs_value_free(y);
 *   }
 *   gs_session_free(s);
 */
#ifndef GSPMD_H
#define GSPMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gs_session;
struct gs_tensor;                      /* lang/tensor.h; gs_value_* below serve a plain embedder */
struct gs_node;                        /* lang/graph.h */
struct gs_graph;
struct gs_plan;                        /* partition/partition.h */
struct gs_mesh;                        /* partition/mesh.h */
struct gs_diagnostic;                  /* lang/diag.h */

/* What a program prints.  TEXT is not NUL-terminated. */
typedef void gs_output_function(void *user, const char *text, size_t length);
/* An error, warning, note or hint as text for people, ending in a newline. */
typedef void gs_message_function(void *user, const char *text, size_t length);
/* The same with its parts (include "lang/diag.h"). */
typedef void gs_diagnostic_sink(void *user, const struct gs_diagnostic *diagnostic);

/* Zero is a good value for every member. */
struct gs_session_options {
  gs_output_function *output;          /* NULL: dropped */
  gs_diagnostic_sink *sink;            /* if NULL, MESSAGE is called */
  gs_message_function *message;        /* NULL: counted only */
  void *user;                          /* for the three above */

  const char *backend;                 /* NULL: "cpu" */
  const char *plugin_folders;          /* where backends are looked for, ':' between; NULL: where installed */
  const char *mesh;                    /* "2,4" or "data=2,model=4": overrides mesh() in programs */
  const char *profile;                 /* of the devices, where mesh() names none */
  const char *const *args;             /* the list `args` of the program */
  int nargs;
  int threads;                         /* 0: one per core */
  size_t memory_limit;                 /* bytes; 0: most of the machine's memory */
  int64_t seed;                        /* added to the seed of every random fill */
  int width;                           /* columns of the terminal; 0: 100 */
  bool interactive;                    /* show the value of an expression; go on after errors */
  bool colour, unicode;
  bool message_colour;                 /* for MESSAGE only */
  bool json;                           /* every report as one JSON object on a line */
  bool quiet;                          /* no warnings */
  bool verbose;                        /* also say what scripts would leave unsaid */
  bool dry_run;                        /* plan, never execute */
  bool no_files;                       /* programs may neither read nor write files */
  bool poison_padding;                 /* fill padding with NaN, to show that nothing reads it */
};

/* A new session, or NULL when out of memory.  Bad options (an unknown backend, a bad mesh) are
 * reported and counted in gs_session_errors.  OPTIONS is copied; its texts too. */
struct gs_session *gs_session_new(const struct gs_session_options *options);
void gs_session_free(struct gs_session *session);            /* NULL is allowed */

enum gs_session_state {
  GS_SESSION_IDLE,                     /* all text so far is complete statements */
  GS_SESSION_MORE                      /* inside a statement: show a continuation prompt */
};

/* Feed the next piece of text, cut anywhere; complete statements run as their lines end. */
enum gs_session_state gs_session_feed(struct gs_session *session, const char *text, size_t length);
/* End of input: an unfinished statement is an error. */
enum gs_session_state gs_session_finish(struct gs_session *session);
/* Forget an unfinished statement. */
void gs_session_reset(struct gs_session *session);
/* Run the whole of TEXT or of the file PATH ("-" is not special), named NAME in messages.  Stops
 * at the first statement that fails; returns false if anything was wrong. */
bool gs_session_run_text(struct gs_session *session, const char *name, const char *text,
                         size_t length);
bool gs_session_run_file(struct gs_session *session, const char *path);

/* Errors reported so far, and how many check() and assert() failed. */
int gs_session_errors(const struct gs_session *session);
int gs_session_failures(const struct gs_session *session);
/* Whether the program asked to end (:quit). */
bool gs_session_quitting(const struct gs_session *session);

/* Stop what runs, soon.  May be called from a signal handler or another thread.  The flag stays
 * until the next statement starts. */
void gs_session_interrupt(struct gs_session *session);
/* Whether the last statement was stopped by it. */
bool gs_session_interrupted(const struct gs_session *session);

/* The value of the input or parameter NAME: a .npy file, or a tensor (a reference is taken).  It
 * may be given before the program makes the input.  False: reported. */
bool gs_session_set_input_file(struct gs_session *session, const char *name, const char *path);
bool gs_session_set_input(struct gs_session *session, const char *name, struct gs_tensor *tensor);

/* The graph node that the variable NAME holds; NULL if there is none. Nothing is reported. */
struct gs_node *gs_session_tensor(struct gs_session *session, const char *name);
struct gs_graph *gs_session_graph(struct gs_session *session);
/* The current mesh, or NULL. */
const struct gs_mesh *gs_session_mesh(const struct gs_session *session);

enum gs_session_status {
  GS_SESSION_OK,
  GS_SESSION_FAILED,                   /* reported */
  GS_SESSION_STOPPED                   /* interrupted */
};

/* The plan that computes the variables NAMES as the outputs of one program.  It belongs to the
 * session and is valid until the session next changes.  NULL: reported. */
const struct gs_plan *gs_session_plan(struct gs_session *session, const char *const *names,
                                      int count);
/* Plan and run on the session's backend.  VALUES gets COUNT tensors to be freed by the caller. */
enum gs_session_status gs_session_run(struct gs_session *session, const char *const *names,
                                      int count, struct gs_tensor **values);
/* Compare the partitioned with the unpartitioned result and print the largest difference.  A
 * difference beyond rounding counts as a failure (gs_session_failures). */
enum gs_session_status gs_session_check(struct gs_session *session, const char *const *names,
                                        int count);
/* Run and write each variable to the file of the same index, as .npy. */
enum gs_session_status gs_session_save(struct gs_session *session, const char *const *names,
                                       const char *const *paths, int count);
/* Print the plan, in the session's format. */
enum gs_session_status gs_session_print_plan(struct gs_session *session, const char *const *names,
                                             int count);

/* A whole value in memory, row-major. */
const void *gs_value_data(const struct gs_tensor *value);
const char *gs_value_dtype(const struct gs_tensor *value);   /* "f32" */
int gs_value_rank(const struct gs_tensor *value);
int64_t gs_value_dim(const struct gs_tensor *value, int dim);
void gs_value_free(struct gs_tensor *value);                 /* NULL is allowed */

/* Candidates that may stand where the name before the cursor of TEXT does, one call of FOUND
 * each: variables, operators, functions, commands, settings, axes and element types. */
typedef void gs_completion_function(void *user, const char *candidate);
void gs_session_complete(struct gs_session *session, const char *text, size_t length,
                         gs_completion_function *found, void *user);

/* The version of the library, and the name of built-in backend INDEX (NULL past the last). */
const char *gs_version(void);
const char *gs_backend_name(int index);

#ifdef __cplusplus
}
#endif

#endif
