/* tests/programs/generate.c - leaves, annotations and the choice of statements. */
#include <config.h>

#include "tests/programs/programs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool run(struct program *p, const char *text)
{
  return gs_session_run_text(p->session, "program", text, strlen(text));
}

static bool append(struct program *p, const char *statement)
{
  if (p->nstatements == PROGRAM_STATEMENTS || !run(p, statement))
    return false;
  snprintf(p->statements[p->nstatements++], STATEMENT_TEXT, "%s", statement);
  return true;
}

bool program_add(struct program *p, bool exact, const char *format, ...)
{
  char statement[STATEMENT_TEXT], expression[STATEMENT_TEXT - 16];
  va_list args;
  if (p->nvalues == PROGRAM_VALUES)
    return false;
  struct program_value *v = &p->values[p->nvalues];
  va_start(args, format);
  int length = vsnprintf(expression, sizeof expression, format, args);
  va_end(args);
  snprintf(v->name, sizeof v->name, "v%d", p->nvalues);
  if (length >= (int)sizeof expression || snprintf(statement, sizeof statement, "%s = %s\n", v->name, expression) < 0
      || !append(p, statement))
    return false;
  const struct gs_node *node = gs_session_tensor(p->session, v->name);
  if (node == NULL || node->type.rank > 6 || gs_type_elements(&node->type) > 6000) {
    p->nstatements--;                  /* it does no harm in the session */
    return false;
  }
  v->type = node->type;
  v->exact = exact;
  p->nvalues++;
  return true;
}

bool program_is_float(const struct gs_type *type)
{
  return gs_dtype_kind(type->dtype) == GS_KIND_FLOAT;
}

bool program_is_wide_float(const struct gs_type *type)
{
  return type->dtype == GS_DTYPE_F32 || type->dtype == GS_DTYPE_F64;
}

bool program_is_number(const struct gs_type *type)
{
  return program_is_float(type) || gs_dtype_is_integer(type->dtype);
}

bool program_is_summable(const struct gs_type *type)
{
  return program_is_wide_float(type) || gs_dtype_is_integer(type->dtype);
}

const char *program_numbers(const int64_t *numbers, int n)
{
  static char texts[8][128];
  static int next;
  char *text = texts[next++ % 8];
  int at = snprintf(text, 128, "[");
  for (int i = 0; i < n; i++)
    at += snprintf(text + at, (size_t)(128 - at), "%s%lld", i > 0 ? ", " : "", (long long)numbers[i]);
  snprintf(text + at, (size_t)(128 - at), "]");
  return text;
}

const struct program_value *program_pick(struct program *p, int rank, bool exact,
                                         bool (*fits)(const struct gs_type *type))
{
  int fitting[PROGRAM_VALUES], n = 0;
  for (int i = 0; i < p->nvalues; i++)
    if (p->values[i].type.rank >= rank && (!exact || p->values[i].exact)
        && (fits == NULL || fits(&p->values[i].type)))
      fitting[n++] = i;
  if (n == 0)
    return NULL;
  int a = dice_below(&p->dice, n), b = dice_below(&p->dice, n);
  return &p->values[fitting[a > b ? a : b]];   /* rather a late one */
}

/* An annotation for RANK dims: each axis on some dim, or none. */
static void annotation(struct program *p, int rank, char *text, size_t room)
{
  int order[4], at = 0, on[4];
  dice_shuffle(&p->dice, order, p->naxes);
  for (int i = 0; i < p->naxes; i++)
    on[i] = rank > 0 && dice_percent(&p->dice, 65) ? dice_below(&p->dice, rank) : -1;
  at += snprintf(text, room, "[");
  for (int d = 0; d < rank; d++) {
    int n = 0;
    at += snprintf(text + at, room - (size_t)at, "%s[", d > 0 ? ", " : "");
    for (int i = 0; i < p->naxes; i++)
      if (on[order[i]] == d)
        at += snprintf(text + at, room - (size_t)at, "%s%c", n++ > 0 ? ", " : "", 'a' + order[i]);
    if (dice_percent(&p->dice, 15))
      at += snprintf(text + at, room - (size_t)at, "%s?", n > 0 ? ", " : "");
    at += snprintf(text + at, room - (size_t)at, "]");
  }
  snprintf(text + at, room - (size_t)at, "]");
}

static void maybe_annotate(struct program *p, int percent)
{
  char text[128];
  const struct program_value v = p->values[p->nvalues - 1];
  if (v.type.rank == 0 || !dice_percent(&p->dice, percent))
    return;
  annotation(p, v.type.rank, text, sizeof text);
  program_add(p, v.exact, "shard(%s, %s)", v.name, text);
}

const struct program_value *program_leaf(struct program *p, const struct gs_type *type)
{
  const char *dtype = gs_dtype_name(type->dtype), *dims = program_numbers(type->dims, type->rank);
  int k = p->nvalues;
  enum gs_dtype_kind kind = gs_dtype_kind(type->dtype);
  bool made;
  if (kind == GS_KIND_FLOAT)
    made = program_add(p, true, "floor(input(%s%s, pattern(%d)) * 8)", dtype, dims, k);
  else if (kind == GS_KIND_COMPLEX)
    made = program_add(p, true, "convert(floor(input(f32%s, pattern(%d)) * 8), %s)", dims, k, dtype);
  else
    made = program_add(p, true, "input(%s%s, pattern(%d))", dtype, dims, k);
  if (!made)
    return NULL;
  maybe_annotate(p, 60);
  return &p->values[p->nvalues - 1];
}

static int64_t random_size(struct dice *d)
{
  static const int64_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 12, 12, 13, 16 };
  return dice_percent(d, 2) ? 0 : sizes[dice_below(d, sizeof sizes / sizeof *sizes)];
}

static void add_random_leaf(struct program *p)
{
  static const enum gs_dtype dtypes[] = {
    GS_DTYPE_F32, GS_DTYPE_F32, GS_DTYPE_F32, GS_DTYPE_F32, GS_DTYPE_F64, GS_DTYPE_BF16, GS_DTYPE_F16,
    GS_DTYPE_S32, GS_DTYPE_S32, GS_DTYPE_S64, GS_DTYPE_S16, GS_DTYPE_S8, GS_DTYPE_U32, GS_DTYPE_U64, GS_DTYPE_U16,
    GS_DTYPE_U8, GS_DTYPE_PRED, GS_DTYPE_C64, GS_DTYPE_C128
  };
  struct gs_type type = { .dtype = dtypes[dice_below(&p->dice, sizeof dtypes / sizeof *dtypes)],
                          .rank = dice_below(&p->dice, 12) % 5 };
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = random_size(&p->dice);
  if (gs_type_elements(&type) <= 3000)
    program_leaf(p, &type);
}

static void choose_mesh(struct program *p)
{
  static const int sizes[] = { 2, 2, 2, 3, 4, 4, 5, 6, 7, 8 };
  char statement[STATEMENT_TEXT];
  int devices = 1, at = snprintf(statement, sizeof statement, "mesh(");
  int wanted = 1 + dice_below(&p->dice, 4);
  for (int i = 0; i < wanted; i++) {
    int size = sizes[dice_below(&p->dice, sizeof sizes / sizeof *sizes)];
    if (devices * size > 64)
      continue;
    devices *= size;
    at += snprintf(statement + at, sizeof statement - (size_t)at, "%s%c=%d", p->naxes > 0 ? ", " : "",
                   'a' + p->naxes, size);
    p->axes[p->naxes++] = size;
  }
  snprintf(statement + at, sizeof statement - (size_t)at, ")\n");
  append(p, statement);
}

void program_generate(struct program *p, uint64_t seed)
{
  static const struct gs_session_options options = { .quiet = true };
  memset(p, 0, sizeof *p);
  p->dice.state = seed * UINT64_C(0x5851f42d4c957f2d) + 7;
  p->session = gs_session_new(&options);
  if (p->session == NULL)
    return;
  choose_mesh(p);
  if (seed % 4 == 3)
    append(p, ":set follow completed\n");
  if (seed % 5 == 4)
    append(p, ":set looped_einsum always\n");
  int templates = 0, wanted = 1 + dice_below(&p->dice, dice_percent(&p->dice, 70) ? 3 : 8), made = 0;
  while (program_templates[templates] != NULL)
    templates++;
  add_random_leaf(p);
  for (int attempt = 0; attempt < 60 && made < wanted; attempt++) {
    if (dice_percent(&p->dice, 20))
      add_random_leaf(p);
    if (p->nvalues > PROGRAM_VALUES - 8 || p->nstatements > PROGRAM_STATEMENTS - 8)
      break;
    if (program_templates[dice_below(&p->dice, templates)](p)) {
      made++;
      maybe_annotate(p, 30);
    }
  }
}

void program_release(struct program *p)
{
  gs_session_free(p->session);
  p->session = NULL;
}
