/* interp/session.c - the life of a session, and text on its way through it. */
#include <config.h>

#include "interp/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/annotation.h"
#include "interp/command.h"
#include "interp/eval.h"
#include "interp/plans.h"
#include "interp/prelude.h"

enum { MAX_IMPORT_DEPTH = 64, DEFAULT_DEPTH = 1000, DEFAULT_WIDTH = 100, DEFAULT_PRECISION = 6 };
static const int64_t default_steps = 100000000;
static const size_t max_file = (size_t)1 << 30;

bool gs_session_fail(struct gs_session *s, struct gs_span at, const char *format, ...)
{
  struct gs_arena_mark mark = gs_arena_mark(s->text);
  bool failed = gs_arena_failed(s->text);
  va_list args;
  va_start(args, format);
  const char *message = gs_arena_vprintf(s->text, format, args);
  va_end(args);
  gs_error(&s->diagnostics, at, "%s", message != NULL ? message : "out of memory");
  gs_arena_rewind(s->text, mark);
  if (!failed)
    gs_arena_clear_failure(s->text);
  s->flow = GS_FLOW_STOP;
  s->notes = 0;
  return false;
}

bool gs_session_out_of_memory(struct gs_session *s, struct gs_span at)
{
  struct gs_text text = { .arena = s->text };
  gs_arena_clear_failure(s->values);
  gs_arena_clear_failure(s->meshes);
  gs_arena_clear_failure(s->text);
  if (s->memory_reported)
    return false;
  s->memory_reported = true;
  if (s->budget.limit == 0)
    return gs_session_fail(s, at, "out of memory");
  gs_print_bytes(&text, (double)s->budget.limit);
  gs_session_fail(s, at, "out of memory: the limit is %s", gs_text_string(&text));
  gs_hint(&s->diagnostics, "--memory-limit or :set memory allows more");
  gs_arena_clear_failure(s->text);
  return false;
}

void gs_session_write(struct gs_session *s, const char *text)
{
  if (s->options.output != NULL)
    s->options.output(s->options.user, text, strlen(text));
}

void gs_session_print(struct gs_session *s, const char *format, ...)
{
  struct gs_arena_mark mark = gs_arena_mark(s->text);
  va_list args;
  va_start(args, format);
  const char *text = gs_arena_vprintf(s->text, format, args);
  va_end(args);
  if (text != NULL)
    gs_session_write(s, text);
  gs_arena_rewind(s->text, mark);
}

struct gs_text gs_session_text(struct gs_session *s)
{
  return (struct gs_text){ .arena = s->values };
}

struct gs_print_options gs_session_print_options(const struct gs_session *s)
{
  return (struct gs_print_options){
    .format = s->settings.format, .colour = s->settings.colour, .unicode = s->settings.unicode,
    .width = (int)s->settings.width, .device = -1,
  };
}

struct gs_host gs_session_host(struct gs_session *s)
{
  return (struct gs_host){
    .diagnostics = &s->diagnostics, .budget = &s->budget, .interrupt = &s->interrupt,
    .nthreads = (int)s->settings.threads, .poison_padding = s->settings.poison_padding,
    .settings = s->backend_settings, .backends = s->backends,
  };
}

void gs_session_changed(struct gs_session *s)
{
  s->version++;
}

bool gs_session_bind(struct gs_session *s, const char *name, struct gs_value value)
{
  return gs_eval_bind(s, s->globals, (struct gs_span){ 0 }, name, value);
}

bool gs_session_files_allowed(struct gs_session *s, struct gs_span at)
{
  return !s->options.no_files || gs_session_fail(s, at, "this session may not touch files");
}

const char *gs_session_resolve(struct gs_session *s, const char *path)
{
  const char *slash = s->path != NULL ? strrchr(s->path, '/') : NULL;
  if (path[0] == '/' || slash == NULL)
    return path;
  const char *beside =
      gs_arena_printf(s->values, "%.*s%s", (int)(slash - s->path + 1), s->path, path);
  return beside != NULL && access(beside, R_OK) == 0 ? beside : path;
}

/* Diagnostics as text, for a session without a sink of its own. */
static void message_sink(void *user, const struct gs_diagnostic *diagnostic)
{
  struct gs_session *s = user;
  if (diagnostic->severity == GS_WARNING && s->settings.quiet)
    return;
  if (s->options.sink != NULL) {
    s->options.sink(s->options.user, diagnostic);
    return;
  }
  struct gs_arena_mark mark = gs_arena_mark(s->text);
  struct gs_text text = { .arena = s->text };
  gs_diagnostic_print(&text, diagnostic, s->options.message_colour);
  if (s->options.message != NULL)
    s->options.message(s->options.user, gs_text_string(&text), text.length);
  gs_arena_rewind(s->text, mark);
}

static bool run_statement(void *user, struct gs_ast *statement)
{
  struct gs_session *s = user;
  if (s->skipping || s->quitting || (s->script && s->diagnostics.errors != s->file_errors))
    return true;
  s->memory_reported = false;
  if (!gs_eval_statement(s, statement) && s->script)
    s->skipping = true;
  return !s->quitting;
}

static size_t default_memory(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (size_t)pages / 10 * 9 * (size_t)size : 0;
}

/* A copy of TEXT, or NULL for NULL. */
static const char *keep(struct gs_session *s, const char *text)
{
  return text != NULL ? gs_arena_string(s->text, text, strlen(text)) : NULL;
}

static void copy_options(struct gs_session *s, const struct gs_session_options *options)
{
  s->options = *options;
  s->options.profile = keep(s, options->profile);
  s->options.backend = NULL;
  s->options.mesh = keep(s, options->mesh);
  const char **args = GS_NEW_ARRAY(s->text, const char *, options->nargs + 1);
  s->options.nargs = args != NULL ? options->nargs : 0;
  for (int i = 0; i < s->options.nargs; i++)
    args[i] = keep(s, options->args[i]);
  s->options.args = args;
  s->settings = (struct gs_settings){
    .colour = options->colour, .unicode = options->unicode, .quiet = options->quiet,
    .verbose = options->verbose, .dry_run = options->dry_run,
    .poison_padding = options->poison_padding,
    .format = options->json ? GS_FORMAT_JSON : GS_FORMAT_TEXT, .depth = DEFAULT_DEPTH,
    .steps = default_steps, .combine = 32 << 10, .precision = DEFAULT_PRECISION, .memory = (int64_t)s->budget.limit,
    .threads = options->threads, .width = options->width > 0 ? options->width : DEFAULT_WIDTH,
    .seed = options->seed,
  };
}

static void bind_args(struct gs_session *s)
{
  const char *const *texts = s->options.args;
  size_t count = (size_t)s->options.nargs;
  struct gs_value args = gs_value_list(s->values, GS_VALUE_LIST, count);
  for (size_t i = 0; i < count && args.kind != GS_VALUE_ABSENT; i++)
    *gs_value_item(args, i) = gs_value_string(s->values, texts[i], strlen(texts[i]));
  if (args.kind == GS_VALUE_ABSENT || !gs_session_bind(s, "args", args))
    gs_session_out_of_memory(s, (struct gs_span){ 0 });
}

/* A mesh given on the command line is the first one. */
static void use_override(struct gs_session *s)
{
  const char *text = s->options.mesh;
  s->mesh_override = text != NULL ? gs_mesh_from_text(s, (struct gs_span){ 0 }, text) : NULL;
  if (s->mesh_override != NULL)
    gs_mesh_use(s, s->mesh_override);
}

/* The mesh and the backend: what may be wrong and is then reported. */
static void apply_options(struct gs_session *s, const struct gs_session_options *options)
{
  struct gs_span nowhere = { 0 };
  const char *backend = options->backend != NULL ? options->backend : "cpu";
  s->backend = gs_backend_find(s->backends, backend);
  if (s->backend == NULL) {
    gs_session_fail(s, nowhere, "unknown backend \"%s\"", backend);
    struct gs_text names = { .arena = s->text };
    for (int i = 0; gs_backend_at(s->backends, i) != NULL; i++)
      gs_text_printf(&names, "%s%s", i > 0 ? ", " : "", gs_backend_at(s->backends, i)->name);
    gs_hint(&s->diagnostics, "there are %s", gs_text_string(&names));
    s->backend = gs_backend_find(NULL, "reference");
  }
  use_override(s);
  bind_args(s);
  s->flow = GS_FLOW_NORMAL;
}

/* The arenas of what programs make, and the empty scopes and graph in them. */
static bool make_values(struct gs_session *s)
{
  s->values = gs_arena_new(&s->budget);
  s->meshes = gs_arena_new(&s->budget);
  if (s->values == NULL || s->meshes == NULL)
    return false;
  gs_graph_init(&s->graph, s->values, &s->budget, &s->diagnostics);
  s->shardings = gs_sharding_table_new(s->meshes);
  s->library = gs_scope_new(s->values, NULL);
  s->globals = gs_scope_new(s->values, NULL);
  if (s->shardings == NULL || s->library == NULL || s->globals == NULL)
    return false;
  s->library->captured = s->globals->captured = true;
  s->running = s->globals;
  return true;
}

static void free_values(struct gs_session *s)
{
  gs_plans_free(s);
  if (s->graph.arena != NULL)
    gs_graph_finish(&s->graph);
  gs_arena_free(s->meshes);
  gs_arena_free(s->values);
  s->meshes = s->values = NULL;
}

static bool make_parts(struct gs_session *s)
{
  s->diagnostics = (struct gs_diagnostics){ .sink = message_sink, .user = s };
  s->text = gs_arena_new(&s->budget);
  if (s->text == NULL || !make_values(s))
    return false;
  s->parser = gs_parser_new(s->text, &s->diagnostics, run_statement, s);
  if (s->parser == NULL)
    return false;
  s->line.arena = s->text;
  gs_parser_begin(s->parser, NULL, 1);
  return true;
}

void gs_session_clear(struct gs_session *s)
{
  free_values(s);
  s->reset_wanted = false;
  s->mesh = NULL;
  s->library_loaded = false;
  s->free_scopes = NULL;
  s->edits = NULL;
  s->imports = NULL;
  s->named = NULL;
  s->nnamed = 0;
  if (!make_values(s)) {
    /* Nothing is left to work with; what comes next fails like this. */
    gs_session_out_of_memory(s, (struct gs_span){ 0 });
    s->quitting = true;
    return;
  }
  use_override(s);
  bind_args(s);
  gs_session_changed(s);
}

struct gs_session *gs_session_new(const struct gs_session_options *options)
{
  static const struct gs_session_options none = { 0 };
  struct gs_session *s = calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  if (options == NULL)
    options = &none;
  s->budget.limit = options->memory_limit != 0 ? options->memory_limit : default_memory();
  s->backends = gs_backend_registry_new(options->plugin_folders);
  if (s->backends == NULL || !make_parts(s)) {
    gs_session_free(s);
    return NULL;
  }
  copy_options(s, options);
  apply_options(s, options);
  return s;
}

void gs_session_free(struct gs_session *s)
{
  if (s == NULL)
    return;
  free_values(s);
  gs_inputs_free(s);
  gs_parser_free(s->parser);
  gs_arena_free(s->text);
  gs_backend_registry_free(s->backends);
  free(s->backend_settings);
  free(s);
}

static enum gs_session_state state_of(enum gs_parse_state state)
{
  return state == GS_PARSE_MORE ? GS_SESSION_MORE : GS_SESSION_IDLE;
}

/* Whole lines go to the parser.  A lone ? asks for help; in the language it stands in annotations
 * only. */
static void feed_lines(struct gs_session *s, const char *text, size_t length)
{
  size_t blank = 0;
  while (blank < length && (text[blank] == ' ' || text[blank] == '\n'))
    blank++;
  if (!s->unfinished && length - blank <= 2 && blank < length && text[blank] == '?')
    gs_command_friendly(s, "?");
  else
    s->unfinished = gs_parser_feed(s->parser, text, length) == GS_PARSE_MORE;
}

/* Feed what is kept of an unfinished line. */
static void feed_kept(struct gs_session *s)
{
  struct gs_text kept = s->line;
  s->line = (struct gs_text){ .arena = s->text };
  if (kept.length > 0)
    feed_lines(s, kept.data, kept.length);
}

enum gs_session_state gs_session_feed(struct gs_session *s, const char *text, size_t length)
{
  atomic_store(&s->interrupt, 0);
  s->interrupted = false;
  size_t whole = length;
  while (whole > 0 && text[whole - 1] != '\n')
    whole--;
  if (whole > 0 && s->line.length > 0) {
    gs_text_add_bytes(&s->line, text, whole);
    feed_kept(s);
  } else if (whole > 0) {
    feed_lines(s, text, whole);
  }
  if (whole < length)
    gs_text_add_bytes(&s->line, text + whole, length - whole);
  return s->unfinished || s->line.length > 0 ? GS_SESSION_MORE : GS_SESSION_IDLE;
}

enum gs_session_state gs_session_finish(struct gs_session *s)
{
  feed_kept(s);
  s->unfinished = false;
  return state_of(gs_parser_finish(s->parser));
}

void gs_session_reset(struct gs_session *s)
{
  s->unfinished = false;
  s->line = (struct gs_text){ .arena = s->text };
  gs_parser_reset(s->parser);
}

/* Run a whole text with a parser of its own, so that the prompt's unfinished statement and line
 * count stay. */
static bool run_whole(struct gs_session *s, const char *name, const char *path, const char *text,
                      size_t length)
{
  struct gs_parser *parser = gs_parser_new(s->text, &s->diagnostics, run_statement, s);
  if (parser == NULL)
    return gs_session_out_of_memory(s, (struct gs_span){ 0 });
  const char *outer_path = s->path;
  bool outer_script = s->script, outer_skipping = s->skipping;
  int errors = s->diagnostics.errors, outer_errors = s->file_errors;
  s->file_errors = errors;
  s->path = path;
  s->script = true;
  s->skipping = false;
  gs_parser_begin(parser, name, 1);
  gs_parser_feed(parser, text, length);
  if (!s->quitting)
    gs_parser_finish(parser);
  bool ok = !s->skipping && s->diagnostics.errors == errors;
  gs_parser_free(parser);
  s->path = outer_path;
  s->file_errors = outer_errors;
  s->script = outer_script;
  s->skipping = outer_skipping;
  return ok;
}

bool gs_session_run_text(struct gs_session *s, const char *name, const char *text, size_t length)
{
  return run_whole(s, keep(s, name), NULL, text, length);
}

/* The whole file in the text arena; NULL with errno set. */
static char *read_whole(struct gs_session *s, const char *path, size_t *length)
{
  enum { CHUNK = 1 << 16 };
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return NULL;
  struct gs_text text = { .arena = s->text };
  char *chunk = gs_arena_alloc(s->text, CHUNK);
  errno = 0;
  while (chunk != NULL && text.length < max_file) {
    size_t got = fread(chunk, 1, CHUNK, file);
    gs_text_add_bytes(&text, chunk, got);
    if (got < CHUNK || gs_arena_failed(s->text))
      break;
  }
  int error = ferror(file) ? errno : chunk == NULL || gs_arena_failed(s->text) ? ENOMEM : 0;
  fclose(file);
  *length = text.length;
  errno = error;
  return error != 0 ? NULL : text.data != NULL ? text.data : gs_arena_string(s->text, "", 0);
}

static bool run_path(struct gs_session *s, struct gs_span at, const char *path)
{
  size_t length;
  path = keep(s, path);
  char *text = path != NULL ? read_whole(s, path, &length) : NULL;
  if (text == NULL) {
    gs_arena_clear_failure(s->text);
    return gs_session_fail(s, at, "cannot read %s: %s", path != NULL ? path : "the file",
                           strerror(errno));
  }
  return run_whole(s, path, path, text, length);
}

bool gs_session_run_file(struct gs_session *s, const char *path)
{
  return run_path(s, (struct gs_span){ 0 }, path);
}

/* The record of importing PATH, known by its real name. */
static struct gs_import *import_of(struct gs_session *s, const char *path)
{
  char *real = realpath(path, NULL);
  const char *name = keep(s, real != NULL ? real : path);
  free(real);
  for (struct gs_import *import = s->imports; name != NULL && import != NULL; import = import->next)
    if (strcmp(import->path, name) == 0)
      return import;
  struct gs_import *import = GS_NEW(s->text, struct gs_import);
  if (import == NULL || name == NULL)
    return NULL;
  import->path = name;
  import->next = s->imports;
  s->imports = import;
  return import;
}

bool gs_session_import(struct gs_session *s, struct gs_span at, const char *path)
{
  if (!gs_session_files_allowed(s, at))
    return false;
  path = gs_session_resolve(s, path);
  struct gs_import *import = import_of(s, path);
  if (import == NULL)
    return gs_session_out_of_memory(s, at);
  if (import->done)
    return true;
  if (import->active)
    return gs_session_fail(s, at, "%s imports itself", path);
  import->active = true;
  bool ok = gs_session_read_file(s, at, path);
  import->active = false;
  import->done = ok;
  return ok;
}

bool gs_session_read_file(struct gs_session *s, struct gs_span at, const char *path)
{
  if (!gs_session_files_allowed(s, at))
    return false;
  if (s->files >= MAX_IMPORT_DEPTH)
    return gs_session_fail(s, at, "files read inside each other more than %d deep",
                           MAX_IMPORT_DEPTH);
  s->files++;
  bool ok = run_path(s, at, path);
  s->files--;
  return ok;
}

void gs_session_load_library(struct gs_session *s)
{
  if (s->library_loaded)
    return;
  s->library_loaded = true;
  struct gs_scope *running = s->running;
  s->running = s->library;
  for (const struct gs_prelude_file *file = gs_prelude_files; file->name != NULL; file++)
    run_whole(s, file->name, NULL, file->text, file->length);
  s->running = running;
}

int gs_session_errors(const struct gs_session *s)
{
  return s->diagnostics.errors - s->failed_asserts;
}

int gs_session_failures(const struct gs_session *s)
{
  return s->failures;
}

bool gs_session_quitting(const struct gs_session *s)
{
  return s->quitting;
}

void gs_session_interrupt(struct gs_session *s)
{
  atomic_store(&s->interrupt, 1);
}

bool gs_session_interrupted(const struct gs_session *s)
{
  return s->interrupted;
}
