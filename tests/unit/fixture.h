/* tests/unit/fixture.h - a graph, its memory, and the messages it gave, for tests of lang/. */
#ifndef GS_TESTS_UNIT_FIXTURE_H
#define GS_TESTS_UNIT_FIXTURE_H

#include "lang/graph.h"

struct fixture {
  struct gs_budget budget;
  struct gs_arena *arena;
  struct gs_diagnostics diagnostics;
  struct gs_text messages;             /* "error: …\nhint: …\n" */
  struct gs_graph graph;
};

void fixture_init(struct fixture *f);
/* Also checks that all memory went back to the budget. */
void fixture_finish(struct fixture *f);

/* A type written "f32[8,16]". */
struct gs_type fixture_type(const char *text);
/* An input called NAME (NULL: without a name), of a type written as above. */
struct gs_node *fixture_input(struct fixture *f, const char *name, const char *type);
/* The type of NODE as text; "poison". */
const char *fixture_type_of(struct fixture *f, const struct gs_node *node);
/* The messages since the last call. */
const char *fixture_messages(struct fixture *f);

#endif
