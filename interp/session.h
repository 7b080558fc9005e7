/* interp/session.h - the inside of a session, shared by the files of this folder.
 *
 * Three arenas: `text` holds sources and syntax trees, `values` what programs make (values, scopes,
 * the graph), `meshes` meshes and shardings.  A statement that fails without having bound anything
 * gives its part of `values` back, so that running out of memory leaves the session as it was.
 */
#ifndef GS_INTERP_SESSION_H
#define GS_INTERP_SESSION_H

#include "backends/backend.h"
#include "gspmd.h"
#include "grammar/parse.h"
#include "interp/scope.h"
#include "interp/value.h"
#include "partition/print.h"
#include "partition/sharding.h"

struct gs_plan_entry;                  /* interp/plans.h */

/* What :set changes; one row each in interp/settings.c. */
struct gs_settings {
  bool allow_uneven, follow_completed;
  bool colour, unicode, quiet, verbose, dry_run, poison_padding;
  enum gs_format format;               /* text or json */
  enum gs_looped_mode looped_einsum;
  int64_t depth, steps;                /* limits of the evaluator */
  int64_t precision;                   /* significant digits of printed floats */
  int64_t memory, threads, width, seed;
  int64_t combine;                     /* bytes */
};

enum gs_flow { GS_FLOW_NORMAL, GS_FLOW_RETURN, GS_FLOW_STOP };

/* A named input's value: a file to be read when asked for, or a tensor. */
struct gs_given_input {
  struct gs_given_input *next;
  const char *name, *path;             /* path: NULL once read */
  struct gs_tensor *tensor;
  struct gs_span span;
};

/* A change of an annotation, to be undone. */
struct gs_annotation_edit {
  struct gs_annotation_edit *next;
  struct gs_node *node;
  const struct gs_sharding *before;
};

/* A file on the way of being imported, or done. */
struct gs_import {
  struct gs_import *next;
  const char *path;
  bool active, done;
};

struct gs_session {
  struct gs_session_options options;   /* as given; texts copied */
  struct gs_settings settings;
  struct gs_budget budget;
  struct gs_diagnostics diagnostics;
  struct gs_arena *text, *values, *meshes;
  struct gs_parser *parser;
  struct gs_graph graph;
  struct gs_sharding_table *shardings;
  struct gs_backend_registry *backends;
  const struct gs_backend *backend;
  char *backend_settings;              /* for gs_host; malloc */

  const struct gs_mesh *mesh;          /* the current one, or NULL */
  const struct gs_mesh *mesh_override; /* --mesh, named or of the program's names; NULL */
  struct gs_scope *library, *globals;
  struct gs_scope *running;            /* the one of them where statements bind */
  bool library_loaded;
  struct gs_scope *free_scopes;        /* of calls that ended, linked by parent */
  struct gs_given_input *inputs;
  struct gs_annotation_edit *edits;
  struct gs_import *imports;
  struct gs_plan_entry *plans, *shown[2];
  bool *named;                         /* by node id: its name is a global variable's */
  int nnamed;

  /* The evaluator. */
  enum gs_flow flow;
  struct gs_value returned;
  int calls, nesting, files;           /* of functions, of statements, of files inside each other */
  uintptr_t stack_base;                /* where the outermost statement's frame lies */
  int64_t steps_taken;
  int notes;                           /* "in this call", given for the last error */
  struct gs_span noted;                /* the last of them */
  struct gs_span call_site;            /* of a call of a library function; source NULL: none */
  const char *path;                    /* of the running file, or NULL */
  bool script;                         /* the running text is a file's, not the prompt's */
  bool skipping;                       /* parse on, but run nothing more of this file */
  int file_errors;                     /* errors there were before it */
  int64_t changes;                     /* counts bindings and annotations made */
  int version;                         /* of what plans depend on beside the graph */
  int failed_asserts, failures;
  bool memory_reported;                /* of the running statement */
  bool quitting, interrupted;
  bool unfinished;                     /* a statement fed piece by piece */
  struct gs_text line;                 /* a line fed piece by piece, not ended yet */
  bool reset_wanted;                   /* :reset, as soon as nothing runs any more */
  _Atomic int interrupt;
};

/* Report an error at AT and return false. */
bool gs_session_fail(struct gs_session *s, struct gs_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Report that memory ran out, once, and return false. */
bool gs_session_out_of_memory(struct gs_session *s, struct gs_span at);

/* Print for the user. */
void gs_session_print(struct gs_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_session_write(struct gs_session *s, const char *text);

/* A text in memory that is gone when the running statement is. */
struct gs_text gs_session_text(struct gs_session *s);

/* How reports are printed by the settings. */
struct gs_print_options gs_session_print_options(const struct gs_session *s);
/* What a backend is given. */
struct gs_host gs_session_host(struct gs_session *s);

/* Run the file PATH in this session; AT is where it is asked for.  As an import: once, found beside
 * the importing file, and not from inside itself. */
bool gs_session_read_file(struct gs_session *s, struct gs_span at, const char *path);
bool gs_session_import(struct gs_session *s, struct gs_span at, const char *path);
/* PATH beside the running file if it is relative and exists there, else as it is. */
const char *gs_session_resolve(struct gs_session *s, const char *path);
/* Whether programs may touch files; reports if not. */
bool gs_session_files_allowed(struct gs_session *s, struct gs_span at);
/* Feed the library that is written in the language, the first time. */
void gs_session_load_library(struct gs_session *s);

/* Forget variables, graph, mesh and plans; settings stay.  Nothing may be running. */
void gs_session_clear(struct gs_session *s);

/* The current mesh changed, an annotation, a setting: plans made so far are stale. */
void gs_session_changed(struct gs_session *s);
/* Bind a global variable. */
bool gs_session_bind(struct gs_session *s, const char *name, struct gs_value value);

#endif
