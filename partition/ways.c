/* partition/ways.c - the strategies of nodes alike between shardings alike, made once. */
#include <config.h>

#include "partition/ways.h"

#include <string.h>

enum { BUCKETS = 512 };

struct entry {
  int kind, nargs;
  bool wide;
  struct gs_sharding_list result, *args;
  struct gs_ways ways;
  struct entry *next;
};

struct gs_ways_table {
  struct gs_arena *arena;
  struct entry *buckets[BUCKETS];
};

struct gs_ways_table *gs_ways_table_new(struct gs_arena *arena)
{
  struct gs_ways_table *table = GS_NEW(arena, struct gs_ways_table);
  if (table != NULL)
    table->arena = arena;
  return table;
}

static bool same_lists(const struct gs_sharding_list *a, const struct gs_sharding_list *b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i].count != b[i].count
        || memcmp(a[i].items, b[i].items, (size_t)a[i].count * sizeof a[i].items[0]) != 0)
      return false;
  return true;
}

static struct entry **bucket_of(struct gs_ways_table *table, int kind, const struct gs_strategy_request *r)
{
  uint32_t hash = (uint32_t)kind * 0x9e3779b1u;
  for (int a = 0; a < r->node->nargs; a++)
    for (int i = 0; i < r->args[a].count; i++)
      hash = (hash ^ r->args[a].items[i]->hash) * 0x85ebca6bu;
  return &table->buckets[(hash ^ hash >> 16) % BUCKETS];
}

/* The distinct shardings required of operand ARG. */
static bool list_required(struct gs_arena *arena, struct gs_ways *w, struct gs_operand_ways *operand,
                          unsigned char *which, int arg, const struct gs_type *type)
{
  const struct gs_sharding *seen[GS_MAX_STRATEGIES];
  double bytes[GS_MAX_STRATEGIES];
  for (int t = 0; t < w->count; t++) {
    const struct gs_sharding *required = w->strategies[t].required[arg];
    int k = 0;
    while (k < operand->count && seen[k] != required)
      k++;
    if (k == operand->count) {
      seen[operand->count] = required;
      bytes[operand->count++] = gs_sharding_local_bytes(required, type);
    }
    which[t * w->nargs + arg] = (unsigned char)k;
  }
  operand->required = gs_arena_copy(arena, seen, (size_t)operand->count * sizeof seen[0]);
  operand->bytes = gs_arena_copy(arena, bytes, (size_t)operand->count * sizeof bytes[0]);
  return operand->required != NULL && operand->bytes != NULL;
}

static bool fill(struct gs_arena *arena, struct gs_ways *w, const struct gs_node *node,
                 const struct gs_strategy *made)
{
  _Static_assert(GS_MAX_STRATEGIES <= 256, "indices of strategies are bytes");
  double bytes[GS_MAX_STRATEGIES];
  w->nargs = node->nargs;
  w->least = made[0].cost;
  for (int t = 0; t < w->count; t++) {
    bytes[t] = gs_sharding_local_bytes(made[t].produced, &node->type);
    w->least = made[t].cost < w->least ? made[t].cost : w->least;
  }
  struct gs_operand_ways *operands = GS_NEW_ARRAY(arena, struct gs_operand_ways, w->nargs);
  unsigned char *which = GS_NEW_ARRAY(arena, unsigned char, w->count * w->nargs);
  w->strategies = gs_arena_copy(arena, made, (size_t)w->count * sizeof *made);
  w->bytes = gs_arena_copy(arena, bytes, (size_t)w->count * sizeof bytes[0]);
  w->operands = operands;
  w->which = which;
  if (operands == NULL || which == NULL || w->strategies == NULL || w->bytes == NULL)
    return false;
  for (int a = 0; a < w->nargs; a++)
    if (!list_required(arena, w, &operands[a], which, a, &node->args[a]->type))
      return false;
  return true;
}

const struct gs_ways *gs_ways_find(struct gs_ways_table *table, int kind,
                                   const struct gs_strategy_request *request)
{
  const struct gs_node *node = request->node;
  struct entry **bucket = bucket_of(table, kind, request);
  for (struct entry *e = *bucket; e != NULL; e = e->next)
    if (e->kind == kind && e->nargs == node->nargs && e->wide == request->wide
        && same_lists(&e->result, request->result, 1) && same_lists(e->args, request->args, node->nargs))
      return &e->ways;
  struct gs_strategy made[GS_MAX_STRATEGIES];
  struct entry *e = GS_NEW(table->arena, struct entry);
  int n = gs_strategies(request, made);
  if (e == NULL || n <= 0)
    return NULL;
  *e = (struct entry){ .kind = kind, .nargs = node->nargs, .wide = request->wide, .result = *request->result,
                       .ways = { .count = n }, .next = *bucket };
  e->args = gs_arena_copy(table->arena, request->args, (size_t)node->nargs * sizeof *request->args);
  if (e->args == NULL || !fill(table->arena, &e->ways, node, made))
    return NULL;
  *bucket = e;
  return &e->ways;
}
