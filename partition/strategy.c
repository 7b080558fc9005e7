/* partition/strategy.c - enumerating assignments of mesh axes to factors. */
#include <config.h>

#include "partition/strategy.h"

#include <string.h>

#include "partition/form.h"

enum { NONE = -1, PARTIAL = -2, MAX_ATOMS = 10, MAX_SOURCES = 40, MAX_WIDE = 40 };

/* A sharding in sight, seen through the rule. */
struct source { const struct gs_value_rule *value; const struct gs_sharding *sharding; };

struct search {
  const struct gs_strategy_request *r;
  struct gs_strategy *out;
  int count;
  struct source sources[MAX_SOURCES];
  int nsources;
  struct gs_atoms atoms;
  uint64_t places[MAX_ATOMS];                  /* bit f: the atom may cut factor f */
  uint64_t stands[MAX_ATOMS];                  /* bit f: it does so somewhere around */
  bool partial[MAX_ATOMS];                     /* an operand is partial along it */
  enum gs_op partial_kind;
  int assigned[MAX_ATOMS];                     /* factor, NONE or PARTIAL */
  bool failed;
};

/* Axes of each factor under an assignment. */
struct assignment {
  struct gs_axis_list factor[GS_MAX_FACTORS];
  struct gs_axis_list partial;
  int holder;                                  /* operand with the partial sums; -1: all */
  uint32_t masked;                             /* bit i: window dim i gives partial results */
  const struct gs_flat_group *flat;            /* group that keeps its elements together */
  struct gs_axis_list flat_axes;
};

static void add_source(struct search *s, const struct gs_value_rule *value,
                       const struct gs_sharding *sharding)
{
  if (s->nsources < MAX_SOURCES)
    s->sources[s->nsources++] = (struct source){ value, sharding };
}

static bool collect_atoms(struct search *s)
{
  for (int k = 0; k < s->nsources; k++) {
    const struct gs_sharding *sh = s->sources[k].sharding;
    for (int i = 0; i < sh->rank; i++)
      if (!gs_atoms_add(&s->atoms, sh->dims[i].axes, sh->dims[i].naxes))
        return false;
    if (!gs_atoms_add(&s->atoms, sh->partial, sh->npartial))
      return false;
  }
  return s->atoms.count <= MAX_ATOMS;
}

static bool passes_partial(const struct gs_node *node, enum gs_op kind)
{
  enum gs_linear linear = gs_op_info(node->op)->linear;
  if (linear == GS_LINEAR_MOVE)
    return true;
  if (node->op == GS_OP_REDUCE_WINDOW && node->attrs->window.reduce != GS_OP_SUM)
    return false;
  if (kind != GS_OP_SUM || linear == GS_LINEAR_NONE
      || (node->op == GS_OP_ASSEMBLE && node->attrs->device.fill != 0))
    return false;
  if (linear == GS_LINEAR_SCATTER && node->attrs->gather.combine != GS_OP_SUM)
    return false;
  if (linear == GS_LINEAR_PAD) {
    const struct gs_node *value = node->args[1];
    return value->op == GS_OP_CONSTANT && value->type.rank == 0
           && gs_element_get(value->type.dtype, value->attrs->constant.tensor->data, 0) == 0;
  }
  if (linear == GS_LINEAR_CONVERT) {
    enum gs_dtype from = node->args[0]->type.dtype, to = node->type.dtype;
    return gs_dtype_kind(from) == GS_KIND_FLOAT && gs_dtype_kind(to) == GS_KIND_FLOAT
           && gs_dtype_size(to) >= gs_dtype_size(from) && from != GS_DTYPE_BF16
           && from != GS_DTYPE_F16;
  }
  return gs_dtype_kind(node->type.dtype) != GS_KIND_PRED
         && (node->op != GS_OP_DIV || gs_dtype_kind(node->type.dtype) == GS_KIND_FLOAT);
}

static void collect_places(struct search *s)
{
  const struct gs_rule *rule = s->r->rule;
  for (int k = 0; k < s->nsources; k++) {
    const struct gs_sharding *sh = s->sources[k].sharding;
    const struct gs_value_rule *value = s->sources[k].value;
    int numbers[GS_AXES_MAX];
    struct gs_axis_list axes;
    for (int i = 0; i < value->rank; i++)
      for (int j = 0; j < value->dims[i].count && sh->dims[i].naxes > 0; j++) {
        gs_rule_factor_axes(rule, &value->dims[i], &sh->dims[i], j, &axes);
        int n = gs_atoms_of(&s->atoms, axes.items, axes.count, numbers);
        for (int t = 0; t < n; t++)
          s->places[numbers[t]] |= 1ull << value->dims[i].factors[j];
      }
    if (value == &rule->result || sh->npartial == 0 || !passes_partial(s->r->node, sh->partial_kind))
      continue;
    int n = gs_atoms_of(&s->atoms, sh->partial, sh->npartial, numbers);
    for (int t = 0; t < n; t++)
      s->partial[numbers[t]] = true;
    s->partial_kind = sh->partial_kind;
  }
}

static uint64_t opaque_factors(const struct gs_rule *rule)
{
  uint64_t set = 0;
  for (int f = 0; f < rule->nfactors; f++)
    if (rule->factors[f].kind == GS_FACTOR_OPAQUE)
      set |= 1ull << f;
  return set;
}

/* An axis on a factor that cannot simply be cut may instead cut any factor that can: then the value
 * comes and goes by all-to-all. */
static void add_other_places(struct search *s)
{
  const struct gs_rule *rule = s->r->rule;
  uint64_t special = 0, passing = 0;
  for (int f = 0; f < rule->nfactors; f++)
    if (rule->factors[f].kind == GS_FACTOR_PASS)
      passing |= 1ull << f;
    else if (rule->factors[f].kind != GS_FACTOR_REDUCE)
      special |= 1ull << f;
  for (int a = 0; a < s->atoms.count; a++) {
    uint64_t even = 0, uneven = 0;
    for (int f = 0; f < rule->nfactors && (s->places[a] & special) != 0; f++)
      if (passing >> f & 1)
        *(rule->factors[f].size % s->atoms.items[a].size == 0 ? &even : &uneven) |= 1ull << f;
    s->places[a] |= even != 0 ? even : uneven;
  }
}

/* Where atom A stands among the axes of factor F in source K, or -1. */
static int position_in(const struct search *s, int k, int f, int a)
{
  const struct gs_value_rule *value = s->sources[k].value;
  struct gs_axis_list axes;
  int numbers[GS_AXES_MAX];
  for (int i = 0; i < value->rank; i++)
    for (int j = 0; j < value->dims[i].count; j++)
      if (value->dims[i].factors[j] == f && s->sources[k].sharding->dims[i].naxes > 0) {
        gs_rule_factor_axes(s->r->rule, &value->dims[i], &s->sources[k].sharding->dims[i], j, &axes);
        int n = gs_atoms_of(&s->atoms, axes.items, axes.count, numbers);
        for (int t = 0; t < n; t++)
          if (numbers[t] == a)
            return t;
      }
  return -1;
}

/* Whether atom A comes before B on factor F: as in the first source that has both, starting the look
 * at source FIRST; else what stands there in some source comes before what is moved there, as an
 * all-to-all leaves it; else by number. */
static bool before(const struct search *s, int f, int a, int b, int first)
{
  int stays = -1;                              /* whether A does; -1: unknown */
  for (int i = 0; i < s->nsources; i++) {
    int k = (first + i) % s->nsources;
    int at_a = position_in(s, k, f, a), at_b = position_in(s, k, f, b);
    if (at_a >= 0 && at_b >= 0)
      return at_a < at_b;
    if (stays < 0 && (at_a >= 0 || at_b >= 0))
      stays = at_a >= 0;
  }
  return stays < 0 ? a < b : stays;
}

/* Axes of dim I of VALUE under the assignment; false when a factor would have to be cut unevenly
 * inside a dim of several. */
static bool dim_axes(const struct gs_rule *rule, const struct gs_value_rule *value, int i,
                     const struct assignment *as, struct gs_axis_list *axes)
{
  bool open = true;                            /* all factors so far are cut completely */
  axes->count = 0;
  if (value->dims[i].either) {
    int cut = 0;
    for (int k = 0; k < value->dims[i].count; k++)
      if (as->factor[value->dims[i].factors[k]].count > 0) {
        *axes = as->factor[value->dims[i].factors[k]];
        cut++;
      }
    return cut <= 1;
  }
  for (int k = 0; k < value->dims[i].count; k++) {
    int f = value->dims[i].factors[k];
    const struct gs_axis_list *list = &as->factor[f];
    if (list->count > 0 && !open)
      return false;
    for (int t = 0; t < list->count; t++)
      if (!gs_axis_list_add(axes, list->items[t]))
        return false;
    if (value->dims[i].count > 1) {
      int64_t parts = gs_axis_list_size(list);
      if (rule->factors[f].size % parts != 0)
        return false;
      open = parts == rule->factors[f].size;
    }
  }
  return true;
}

static int64_t least_common_multiple(int64_t a, int64_t b)
{
  int64_t x = a, y = b;
  while (y != 0) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

static int64_t product(const int64_t *dims, int from, int to)
{
  int64_t p = 1;
  for (int i = from; i < to; i++)
    p *= dims[i];
  return p;
}

/* The blocks of the first operand dim and the first result dim of a flat group, so that each part
 * holds the same run of elements before and after. */
static void flat_blocks(const struct gs_node *node, const struct gs_flat_group *g, int64_t parts,
                        int64_t *in, int64_t *out)
{
  int64_t inner_in = product(node->args[0]->type.dims, g->from + 1, g->from_end);
  int64_t inner_out = product(node->type.dims, g->to + 1, g->to_end);
  int64_t total = inner_in * node->args[0]->type.dims[g->from];
  int64_t step = least_common_multiple(inner_in, inner_out);
  int64_t run = gs_ceil_div(gs_ceil_div(total, parts), step) * step;
  *in = run / inner_in;
  *out = run / inner_out;
}

static const struct gs_sharding *value_sharding(const struct search *s, const struct assignment *as,
                                                int arg, bool partial)
{
  const struct gs_rule *rule = s->r->rule;
  const struct gs_node *node = s->r->node;
  const struct gs_value_rule *value = arg < 0 ? &rule->result : &rule->args[arg];
  struct gs_axis_list lists[GS_MAX_RANK], sum = { 0 };
  struct gs_dim_sharding dims[GS_MAX_RANK] = { { 0 } };
  enum gs_op kind = s->partial_kind;
  if (partial)
    sum = as->partial;
  for (int i = 0; i < value->rank; i++) {
    if (!dim_axes(rule, value, i, as, &lists[i]))
      return NULL;
    if (arg < 0 && (as->masked >> i & 1)) {
      for (int t = 0; t < lists[i].count; t++)
        gs_axis_list_add(&sum, lists[i].items[t]);
      lists[i].count = 0;
      kind = node->type.dtype == GS_DTYPE_PRED ? GS_OP_ANY : GS_OP_SUM;
    }
    dims[i] = (struct gs_dim_sharding){ .naxes = lists[i].count, .axes = lists[i].items };
  }
  if (as->flat != NULL) {
    int64_t in, out;
    int first = arg < 0 ? as->flat->to : as->flat->from;
    flat_blocks(node, as->flat, gs_axis_list_size(&as->flat_axes), &in, &out);
    int64_t parts = gs_axis_list_size(&as->flat_axes), size = arg < 0 ? node->type.dims[first]
                                                                      : node->args[0]->type.dims[first];
    int64_t block = arg < 0 ? out : in;
    dims[first].naxes = as->flat_axes.count;
    dims[first].axes = as->flat_axes.items;
    dims[first].block = block == gs_ceil_div(size, parts) ? 0 : block;
  }
  for (int f = 0; (arg < 0 || arg == rule->joined) && f < rule->nfactors; f++)
    if (as->factor[f].count > 0 && (rule->factors[f].kind == GS_FACTOR_REDUCE
                                    || (rule->factors[f].kind == GS_FACTOR_SELECT && arg < 0))) {
      if (sum.count > 0 && kind != rule->factors[f].reduce)
        return NULL;
      kind = rule->factors[f].reduce;
      for (int t = 0; t < as->factor[f].count; t++)
        gs_axis_list_add(&sum, as->factor[f].items[t]);
    }
  return gs_sharding_make(s->r->table, s->r->mesh, value->rank, dims, sum.items, sum.count, kind);
}

/* Bytes sent inside and FLOPs / 1000; negative when the operator cannot run like this. */
static double work_inside(const struct search *s, const struct assignment *as,
                          const struct gs_sharding *produced, const struct gs_sharding *const *required)
{
  const struct gs_rule *rule = s->r->rule;
  double points = 1;
  for (int f = 0; f < rule->nfactors; f++)
    points *= (double)gs_ceil_div(rule->factors[f].size, gs_axis_list_size(&as->factor[f]));
  struct gs_form_query query = { s->r->node, rule, as->factor, as->masked, produced, required };
  double bytes = gs_form_of(s->r->node->op)->bytes(&query);
  return bytes < 0 ? bytes : bytes + points * gs_op_info(s->r->node->op)->flops / 1000;
}

static bool is_wanted(const struct gs_strategy_request *r, const struct gs_sharding *sh)
{
  for (int i = 0; i < r->result->count; i++)
    if (r->result->items[i] == sh)
      return true;
  return false;
}

/* A shard node only moves its operand: one path, no stop between two. */
static void add_strategy(struct search *s, const struct assignment *as)
{
  const struct gs_strategy_request *r = s->r;
  const struct gs_sharding *required[64], **kept = required;
  enum gs_linear linear = gs_op_info(r->node->op)->linear;
  int nargs = r->rule->nargs;
  if (s->count == GS_MAX_STRATEGIES || nargs < 1)
    return;
  if (nargs > 64 && (kept = GS_NEW_ARRAY(r->arena, const struct gs_sharding *, nargs)) == NULL) {
    s->failed = true;
    return;
  }
  const struct gs_sharding *produced = value_sharding(s, as, -1, true);
  if (produced == NULL || (r->node->op == GS_OP_SHARD && !is_wanted(r, produced)))
    return;
  for (int a = 0; a < nargs; a++) {
    bool holds = as->holder < 0 ? !(linear == GS_LINEAR_SELECT && a == 0)
                                      && !(linear == GS_LINEAR_SCATTER && a == 1)
                                : as->holder == a;
    kept[a] = a > 1 && r->rule->args[a].dims == r->rule->args[1].dims
                      && r->rule->args[a].rank == r->rule->args[1].rank && as->holder < 0
                  ? kept[1]
                  : value_sharding(s, as, a, holds);
    if (kept[a] == NULL)
      return;
  }
  double cost = work_inside(s, as, produced, kept);
  if (cost < 0)
    return;
  for (int i = 0; i < s->count; i++)
    if (s->out[i].produced == produced
        && memcmp(s->out[i].required, kept, (size_t)nargs * sizeof *kept) == 0)
      return;
  s->out[s->count] = (struct gs_strategy){
    .required = gs_arena_copy(r->arena, kept, (size_t)nargs * sizeof *kept), .produced = produced,
    .cost = cost
  };
  if (s->out[s->count].required == NULL)
    s->failed = true;
  else
    s->count++;
}

/* The strategies of one assignment: who holds partial sums, window dims exchanged or masked. */
static void add_variants(struct search *s, struct assignment *as)
{
  const struct gs_node *node = s->r->node;
  enum gs_linear linear = gs_op_info(node->op)->linear;
  as->holder = -1;
  as->masked = 0;
  if (as->partial.count > 0 && linear == GS_LINEAR_EACH && node->nargs > 1) {
    for (as->holder = 0; as->holder < node->nargs; as->holder++)
      add_strategy(s, as);
    return;
  }
  if (as->partial.count > 0 && linear != GS_LINEAR_JOINT && linear != GS_LINEAR_SELECT
      && linear != GS_LINEAR_SCATTER)
    as->holder = 0;
  add_strategy(s, as);
  if (node->op != GS_OP_SLICE || as->partial.count > 0)
    return;
  uint32_t masked = 0;
  for (int i = 0; i < node->type.rank; i++) {
    const struct gs_dim_rule *dim = &s->r->rule->result.dims[i];
    if (s->r->rule->factors[dim->factors[0]].kind == GS_FACTOR_WINDOW
        && as->factor[dim->factors[0]].count > 0)
      masked |= 1u << i;
  }
  as->masked = masked;
  if (masked != 0)
    add_strategy(s, as);
}

/* The atoms assigned to factor F, major to minor. */
static void order_factor(const struct search *s, int f, int first, struct gs_axis_list *axes)
{
  int order[MAX_ATOMS], n = 0;
  for (int a = 0; a < s->atoms.count; a++) {
    if (s->assigned[a] != f)
      continue;
    int at = n++;
    while (at > 0 && before(s, f, a, order[at - 1], first)) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = a;
  }
  axes->count = 0;
  for (int i = 0; i < n; i++)
    gs_axis_list_add(axes, s->atoms.items[order[i]]);
}

static void finish_assignment(struct search *s, int first)
{
  struct assignment as;
  as.flat = NULL;
  as.partial.count = 0;
  for (int a = 0; a < s->atoms.count; a++)
    if (s->assigned[a] == PARTIAL)
      gs_axis_list_add(&as.partial, s->atoms.items[a]);
  for (int f = 0; f < s->r->rule->nfactors; f++)
    order_factor(s, f, first, &as.factor[f]);
  add_variants(s, &as);
}

static bool order_matters(const struct search *s)
{
  for (int a = 0; a < s->atoms.count; a++)
    for (int b = a + 1; b < s->atoms.count; b++)
      if (s->assigned[a] >= 0 && s->assigned[a] == s->assigned[b])
        return true;
  return false;
}

static double combinations(const struct search *s, uint64_t more)
{
  double n = 1;
  for (int a = 0; a < s->atoms.count; a++)
    n *= 1 + __builtin_popcountll(s->places[a] | more) + s->partial[a];
  return n;
}

/* Every axis may cut every factor that can be cut, as long as that leaves few enough combinations. */
static void widen(struct search *s)
{
  const struct gs_rule *rule = s->r->rule;
  uint64_t more = 0;
  for (int f = 0; f < rule->nfactors; f++)
    if (rule->factors[f].kind == GS_FACTOR_PASS || rule->factors[f].kind == GS_FACTOR_REDUCE)
      more |= 1ull << f;
  if (combinations(s, more) <= MAX_WIDE)
    for (int a = 0; a < s->atoms.count; a++)
      s->places[a] |= more;
}

/* Nothing is padded for the sake of an axis that cuts the factor nowhere around. */
static bool pads_needlessly(const struct search *s)
{
  for (int f = 0; f < s->r->rule->nfactors; f++) {
    int64_t parts = 1;
    bool stand = true;
    for (int a = 0; a < s->atoms.count; a++)
      if (s->assigned[a] == f) {
        parts *= s->atoms.items[a].size;
        stand = stand && (s->stands[a] >> f & 1);
      }
    if (!stand && s->r->rule->factors[f].size % parts != 0)
      return true;
  }
  return false;
}

static void enumerate(struct search *s, int atom)
{
  if (s->count == GS_MAX_STRATEGIES)
    return;
  if (atom == s->atoms.count) {
    if (s->r->wide && pads_needlessly(s))
      return;
    int variants = order_matters(s) ? s->nsources : 1;
    for (int first = 0; first < variants && first < 4; first++)
      finish_assignment(s, first);
    return;
  }
  for (int f = 0; f < s->r->rule->nfactors; f++)
    if (s->places[atom] >> f & 1) {
      s->assigned[atom] = f;
      enumerate(s, atom + 1);
    }
  if (s->partial[atom]) {
    s->assigned[atom] = PARTIAL;
    enumerate(s, atom + 1);
  }
  s->assigned[atom] = NONE;
  enumerate(s, atom + 1);
}

/* One assignment: every atom where source K has it. */
static void assign_as_source(struct search *s, int k, struct assignment *as)
{
  const struct gs_value_rule *value = s->sources[k].value;
  const struct gs_sharding *sh = s->sources[k].sharding;
  for (int f = 0; f < s->r->rule->nfactors; f++)
    as->factor[f].count = 0;
  as->partial.count = 0;
  as->flat = NULL;
  as->holder = -1;
  as->masked = 0;
  for (int i = 0; i < value->rank; i++)
    for (int j = 0; j < (value->dims[i].either ? 1 : value->dims[i].count) && sh->dims[i].naxes > 0; j++)
      if (s->r->rule->factors[value->dims[i].factors[j]].kind != GS_FACTOR_OPAQUE)
        gs_rule_factor_axes(s->r->rule, &value->dims[i], &sh->dims[i], j,
                       &as->factor[value->dims[i].factors[j]]);
}

/* What value TO is cut like when FROM is SHARDING: operands are numbered, -1 is the result. */
static const struct gs_sharding *translate(struct gs_sharding_table *table, const struct gs_node *node,
                                           const struct gs_rule *rule, const struct gs_sharding *sharding, int from,
                                           int to)
{
  struct gs_strategy_request request = { .table = table, .mesh = sharding->mesh, .node = node, .rule = rule };
  struct search s = { .r = &request, .partial_kind = GS_OP_SUM };
  struct assignment as;
  add_source(&s, from < 0 ? &rule->result : &rule->args[from], sharding);
  assign_as_source(&s, 0, &as);
  return value_sharding(&s, &as, to, false);
}

const struct gs_sharding *gs_strategy_operand(struct gs_sharding_table *table, const struct gs_node *node,
                                              const struct gs_rule *rule, const struct gs_sharding *result,
                                              int arg)
{
  return translate(table, node, rule, result, -1, arg);
}

const struct gs_sharding *gs_strategy_result(struct gs_sharding_table *table, const struct gs_node *node,
                                             const struct gs_rule *rule, const struct gs_sharding *operand, int arg)
{
  return translate(table, node, rule, operand, arg, -1);
}

/* Reshapes whose cut dim does not fall into factors: each part keeps its run of elements. */
static void add_flat(struct search *s)
{
  const struct gs_rule *rule = s->r->rule;
  for (int k = 0; k < s->nsources; k++)
    for (int g = 0; g < rule->ngroups; g++) {
      const struct gs_flat_group *group = &rule->groups[g];
      bool result = s->sources[k].value == &rule->result;
      int first = result ? group->to : group->from, end = result ? group->to_end : group->from_end;
      const struct gs_dim_sharding *dim = &s->sources[k].sharding->dims[first];
      if (dim->naxes == 0)
        continue;
      struct assignment as;
      assign_as_source(s, k, &as);
      for (int i = first; i < end; i++)
        for (int j = 0; j < s->sources[k].value->dims[i].count; j++)
          as.factor[s->sources[k].value->dims[i].factors[j]].count = 0;
      as.flat = group;
      gs_axis_list_set(&as.flat_axes, dim->axes, dim->naxes);
      add_strategy(s, &as);
    }
}

/* With too many combinations only the assignments that some source already has. */
static void add_sources_only(struct search *s)
{
  for (int k = 0; k < s->nsources; k++) {
    struct assignment as;
    assign_as_source(s, k, &as);
    add_variants(s, &as);
  }
  struct assignment none;
  assign_as_source(s, 0, &none);
  for (int f = 0; f < s->r->rule->nfactors; f++)
    none.factor[f].count = 0;
  add_variants(s, &none);
}

int gs_strategies(const struct gs_strategy_request *r, struct gs_strategy *strategies)
{
  if (gs_strategy_is_given(r->node->op))
    return gs_strategies_given(r, strategies);
  struct search s = { .r = r, .out = strategies, .partial_kind = GS_OP_SUM };
  for (int i = 0; i < r->result->count; i++)
    add_source(&s, &r->rule->result, r->result->items[i]);
  for (int a = 0; a < r->rule->nargs; a++)
    for (int i = 0; i < r->args[a].count; i++)
      add_source(&s, &r->rule->args[a], r->args[a].items[i]);
  if (collect_atoms(&s)) {
    collect_places(&s);
    add_other_places(&s);
    for (int a = 0; a < s.atoms.count; a++)
      s.places[a] &= ~opaque_factors(r->rule);
    memcpy(s.stands, s.places, sizeof s.stands);
    if (r->wide)
      widen(&s);
    if (combinations(&s, 0) <= GS_MAX_STRATEGIES)
      enumerate(&s, 0);
    else
      add_sources_only(&s);
  } else {
    add_sources_only(&s);
  }
  if (r->rule->ngroups > 0)
    add_flat(&s);
  return s.failed ? -1 : s.count;
}
