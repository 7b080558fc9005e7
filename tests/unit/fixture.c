/* tests/unit/fixture.c - a graph, its memory, and the messages it gave, for tests of lang/. */
#include <config.h>

#include "tests/unit/fixture.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

static void collect(void *user, const struct gs_diagnostic *d)
{
  static const char *const words[] = { "error", "warning", "note", "hint" };
  struct fixture *f = user;
  gs_text_printf(&f->messages, "%s: %s\n", words[d->severity], d->message);
}

void fixture_init(struct fixture *f)
{
  memset(f, 0, sizeof *f);
  f->arena = gs_arena_new(&f->budget);
  f->messages.arena = f->arena;
  f->diagnostics = (struct gs_diagnostics){ .sink = collect, .user = f };
  gs_graph_init(&f->graph, f->arena, &f->budget, &f->diagnostics);
}

void fixture_finish(struct fixture *f)
{
  gs_graph_finish(&f->graph);
  gs_arena_free(f->arena);
  ck_assert_uint_eq(f->budget.used, 0);
}

struct gs_type fixture_type(const char *text)
{
  struct gs_type type = { 0 };
  const char *bracket = strchr(text, '[');
  ck_assert_msg(gs_dtype_find(text, (size_t)(bracket - text), &type.dtype), "%s", text);
  for (const char *at = bracket + 1; *at != ']';) {
    char *end;
    type.dims[type.rank++] = strtoll(at, &end, 10);
    at = *end == ',' ? end + 1 : end;
  }
  return type;
}

struct gs_node *fixture_input(struct fixture *f, const char *name, const char *type)
{
  union gs_attrs attrs = { .input = { .index = f->graph.ninputs } };
  struct gs_type wanted = fixture_type(type);
  struct gs_node *node = gs_graph_add(&f->graph, GS_OP_INPUT, (struct gs_span){ 0 }, NULL, 0,
                                      &attrs, &wanted);
  if (!gs_node_is_poison(&f->graph, node))
    node->name = name;
  return node;
}

const char *fixture_type_of(struct fixture *f, const struct gs_node *node)
{
  return gs_node_is_poison(&f->graph, node) ? "poison" : gs_type_string(f->arena, &node->type);
}

const char *fixture_messages(struct fixture *f)
{
  const char *messages = gs_text_string(&f->messages);
  f->messages = (struct gs_text){ .arena = f->arena };
  return messages;
}
