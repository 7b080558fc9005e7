/* tests/programs/templates.c - one statement of each kind of operator, with random attributes. */
#include <config.h>

#include "tests/programs/programs.h"

#include <stdio.h>
#include <string.h>

#define NUMBERS(...) program_numbers((const int64_t[]){ __VA_ARGS__ }, (int)(sizeof(int64_t[]){ __VA_ARGS__ } / 8))

/* What keeps small numbers small: applied to results that may have grown. */
static const char *tame(const struct gs_type *type)
{
  return gs_dtype_kind(type->dtype) == GS_KIND_UNSIGNED ? "clamp(0, %s, 8)" : "clamp(-8, %s, 8)";
}

bool program_tamed(struct program *p)
{
  const struct program_value v = p->values[p->nvalues - 1];
  char text[64];
  if (!program_is_number(&v.type))
    return true;
  snprintf(text, sizeof text, tame(&v.type), v.name);
  return program_add(p, v.exact, "%s", text);
}

/* ---- Elementwise, shapes, reductions ---- */

static bool unary(struct program *p)
{
  static const char *const forms[] = {
    "abs(%s)", "sign(%s)", "floor(%s)", "ceil(%s)", "round(%s)", "relu(%s)", "%s * %s", "%s + %s", "convert(%s, f32)",
    "convert(%s, s32)", "convert(%s, bf16)", "convert(%s, u8)", "convert(%s, f64)", "neg(%s)"
  };
  const struct program_value *v = program_pick(p, 0, true, program_is_number);
  const char *form = forms[dice_below(&p->dice, sizeof forms / sizeof *forms)];
  char text[128];
  if (v == NULL)
    return false;
  bool twice = strchr(strchr(form, '%') + 1, '%') != NULL;
  if (twice)
    snprintf(text, sizeof text, "%s %c %s", v->name, form[3], v->name);
  else
    snprintf(text, sizeof text, "%.*s%s%s", (int)(strchr(form, '%') - form), form, v->name, strchr(form, '%') + 2);
  return program_add(p, true, "%s", text) && program_tamed(p);
}

static bool smooth(struct program *p)
{
  static const char *const forms[] = {
    "tanh", "exp", "sigmoid", "erf", "gelu", "silu", "softplus", "sin", "cos", "expm1", "cbrt"
  };
  const struct program_value *v = program_pick(p, 0, false, program_is_wide_float);
  return v != NULL && program_add(p, false, "%s(clamp(-3, %s, 3))",
                                  forms[dice_below(&p->dice, sizeof forms / sizeof *forms)], v->name);
}

static bool binary(struct program *p)
{
  static const char *const forms[] = { "%s + %s", "%s * %s", "max(%s, %s)", "min(%s, %s)" };
  const struct program_value *a = program_pick(p, 0, true, program_is_number);
  if (a == NULL)
    return false;
  struct program_value left = *a, right = *a;
  for (int i = 0; i < p->nvalues; i++)
    if (p->values[i].exact && gs_type_equal(&p->values[i].type, &left.type) && dice_percent(&p->dice, 60))
      right = p->values[i];
  char text[64];
  int form = dice_below(&p->dice, 4);
  const char *at = forms[form];
  if (form < 2)
    snprintf(text, sizeof text, "%s %c %s", left.name, at[3], right.name);
  else
    snprintf(text, sizeof text, "%.4s%s, %s)", at, left.name, right.name);
  return program_add(p, true, "%s", text) && program_tamed(p);
}

static bool reduce(struct program *p)
{
  static const char *const forms[] = { "sum", "max", "min", "argmax", "argmin" };
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  if (v == NULL || gs_type_elements(&v->type) == 0)
    return false;
  int form = dice_below(&p->dice, 5), dim = program_dim(p, v);
  const char *keep = dice_percent(&p->dice, 30) ? ", keep=true" : "";
  return program_add(p, true, "%s(%s, dim=%d%s)", forms[form], v->name, dim, keep) && program_tamed(p);
}

static bool predicates(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_number);
  if (v == NULL || !program_add(p, true, "%s > 1", v->name))
    return false;
  const struct program_value test = p->values[p->nvalues - 1];
  switch (dice_below(&p->dice, 3)) {
  case 0: return program_add(p, true, "any(%s, dim=%d)", test.name, program_dim(p, &test));
  case 1: return program_add(p, true, "all(%s, dim=%d)", test.name, program_dim(p, &test));
  default: return program_add(p, true, "where(%s, 1, 0)", test.name)
                  || program_add(p, true, "not %s", test.name);
  }
}

static bool move(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, false, NULL);
  if (v == NULL)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x), order[GS_MAX_RANK];
  int64_t numbers[GS_MAX_RANK], size = x.type.dims[dim];
  switch (dice_below(&p->dice, 8)) {
  case 0: return program_add(p, x.exact, "reverse(%s, [%d])", x.name, dim);
  case 1: return program_add(p, x.exact, "roll(%s, %d, %d)", x.name, dice_below(&p->dice, 20) - 10, dim);
  case 2: return program_add(p, x.exact, "concat([%s, %s], %d)", x.name, x.name, dim);
  case 3: return program_add(p, x.exact, "reshape(%s, [-1])", x.name);
  case 4:
    dice_shuffle(&p->dice, order, x.type.rank);
    for (int i = 0; i < x.type.rank; i++)
      numbers[i] = order[i];
    return program_add(p, x.exact, "transpose(%s, %s)", x.name, program_numbers(numbers, x.type.rank));
  case 5:
    memset(numbers, 0, sizeof numbers);
    numbers[dim] = dice_between(&p->dice, -1, 3);
    return program_add(p, x.exact, "pad(%s, %s, %s)", x.name, program_numbers(numbers, x.type.rank),
                       program_numbers(numbers, x.type.rank));
  case 6:
    return size > 1 && program_add(p, x.exact, "slice(%s, %s, %s)", x.name,
                                   program_numbers((memset(numbers, 0, sizeof numbers), numbers), x.type.rank),
                                   program_numbers((memcpy(numbers, x.type.dims, sizeof numbers),
                                                    numbers[dim] = 1 + dice_below(&p->dice, (int)size), numbers),
                                                   x.type.rank));
  default: return program_add(p, x.exact, "split(%s, [%lld, %lld], %d)[1]", x.name, (long long)(size / 2),
                              (long long)(size - size / 2), dim);
  }
}

static bool contract(struct program *p)
{
  const struct program_value *v = program_pick(p, 2, true, program_is_summable);
  if (v == NULL || gs_type_elements(&v->type) > 800)
    return false;
  struct program_value x = *v;
  struct gs_type type = { .dtype = x.type.dtype, .rank = 2,
                          .dims = { x.type.dims[x.type.rank - 1], dice_between(&p->dice, 1, 9) } };
  const struct program_value *w = program_leaf(p, &type);
  return w != NULL && program_add(p, true, "%s @ %s", x.name, w->name) && program_tamed(p);
}

/* ---- Windows ---- */

static bool convolve(struct program *p)
{
  static const char *const layouts[] = { "NWC,WIO->NWC", "NHWC,HWIO->NHWC", "NCHW,OIHW->NCHW", "CNWH,HWOI->HWNC" };
  struct dice *d = &p->dice;
  int form = dice_below(d, 4), nspatial = form == 0 ? 1 : 2;
  int64_t groups = dice_percent(d, 70) ? 1 : dice_between(d, 2, 4), in = dice_between(d, 1, 4);
  bool batch_groups = groups > 1 && dice_percent(d, 35);
  int64_t batch = dice_between(d, 1, 5) * (batch_groups ? groups : 1), out = dice_between(d, 1, 4) * groups;
  int64_t features = batch_groups ? in : in * groups, space[2] = { dice_between(d, 1, 13), dice_between(d, 1, 9) };
  int64_t taps[2] = { dice_between(d, 1, 4), dice_between(d, 1, 3) };
  enum gs_dtype dtype = dice_percent(d, 70) ? GS_DTYPE_F32 : dice_percent(d, 50) ? GS_DTYPE_F64 : GS_DTYPE_S32;
  struct gs_type x = { .dtype = dtype, .rank = nspatial + 2 }, k = x;
  for (int i = 0; i < x.rank; i++) {
    char a = layouts[form][i], b = layouts[form][x.rank + 1 + i];
    x.dims[i] = a == 'N' ? batch : a == 'C' ? features : a == 'W' && nspatial == 2 ? space[1] : space[0];
    k.dims[i] = b == 'I' ? in : b == 'O' ? out : b == 'W' && nspatial == 2 ? taps[1] : taps[0];
  }
  const struct program_value *a = program_leaf(p, &x);
  struct program_value left = a != NULL ? *a : (struct program_value){ 0 };
  const struct program_value *b = a != NULL ? program_leaf(p, &k) : NULL;
  if (b == NULL)
    return false;
  int64_t s0 = dice_between(d, 1, 3), s1 = dice_between(d, 1, 2), r = dice_percent(d, 30) ? 2 : 1,
          q = dice_percent(d, 25) ? dice_between(d, 2, 3) : 1;
  char pads[64];
  int at = 0;
  for (int i = 0; i < nspatial; i++)
    at += snprintf(pads + at, sizeof pads - (size_t)at, "%s[%d, %d]", i > 0 ? ", " : "", dice_below(d, 5) - 1,
                   dice_below(d, 5) - 1);
  bool one = nspatial == 1;
  return program_add(p, true,
                     "conv(%s, %s, stride=%s, pad=[%s], rhs_dilate=%s, lhs_dilate=%s, %s=%lld, layout=\"%s\"%s)",
                     left.name, b->name, one ? NUMBERS(s0) : NUMBERS(s0, s1), pads,
                     one ? NUMBERS(r) : NUMBERS(r, 1), one ? NUMBERS(q) : NUMBERS(1, q),
                     batch_groups ? "batch_groups" : "groups", (long long)groups, layouts[form],
                     dice_percent(d, 20) ? ", reversed=true" : "") && program_tamed(p);
}

static bool reduce_windows(struct program *p)
{
  static const char *const kinds[] = { "sum", "max", "min", "max", "sum" };
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  struct dice *d = &p->dice;
  char pads[200];
  int at = 0;
  int64_t window[GS_MAX_RANK], stride[GS_MAX_RANK], dilate[GS_MAX_RANK], base[GS_MAX_RANK];
  if (v == NULL)
    return false;
  struct program_value x = *v;
  for (int i = 0; i < x.type.rank; i++) {
    bool used = dice_percent(d, 55);
    window[i] = used ? dice_between(d, 1, 4) : 1;
    stride[i] = used ? dice_between(d, 1, 3) : 1;
    dilate[i] = used && dice_percent(d, 25) ? 2 : 1;
    base[i] = used && dice_percent(d, 20) ? 2 : 1;
    at += snprintf(pads + at, sizeof pads - (size_t)at, "%s[%d, %d]", i > 0 ? ", " : "",
                   used ? dice_below(d, 4) - 1 : 0, used ? dice_below(d, 4) - 1 : 0);
  }
  return program_add(p, true, "reduce_window(%s, \"%s\", %s, stride=%s, pad=[%s], dilate=%s, base_dilate=%s)", x.name,
                     kinds[dice_below(d, 5)], program_numbers(window, x.type.rank),
                     program_numbers(stride, x.type.rank), pads, program_numbers(dilate, x.type.rank),
                     program_numbers(base, x.type.rank)) && program_tamed(p);
}

/* Windows of X and what they select: overlapping, with gaps, partly or wholly outside. */
static bool select_and_scatter(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  struct dice *d = &p->dice;
  char windows[STATEMENT_TEXT];
  int64_t window[GS_MAX_RANK], stride[GS_MAX_RANK], dilate[GS_MAX_RANK];
  if (v == NULL)
    return false;
  struct program_value x = *v;
  char pads[200];
  int at = 0;
  for (int i = 0; i < x.type.rank; i++) {
    bool used = dice_percent(d, 60);
    window[i] = used ? dice_between(d, 1, 4) : 1;
    stride[i] = used ? dice_between(d, 1, 4) : 1;
    dilate[i] = used && dice_percent(d, 20) ? 2 : 1;
    at += snprintf(pads + at, sizeof pads - (size_t)at, "%s[%d, %d]", i > 0 ? ", " : "",
                   used ? dice_below(d, 4) - 1 : 0, used ? dice_below(d, 4) - 1 : 0);
  }
  snprintf(windows, sizeof windows, "%s, stride=%s, pad=[%s], dilate=%s", program_numbers(window, x.type.rank),
           program_numbers(stride, x.type.rank), pads, program_numbers(dilate, x.type.rank));
  if (!program_add(p, true, "reduce_window(%s, \"max\", %s)", x.name, windows))
    return false;
  struct gs_type positions = p->values[p->nvalues - 1].type;
  const struct program_value *u = program_leaf(p, &positions);
  return u != NULL && program_add(p, true, "select_and_scatter(%s, %s, %s, select=\"%s\")", x.name, u->name, windows,
                                  dice_percent(d, 70) ? "max" : "min") && program_tamed(p);
}

static bool pool(struct program *p)
{
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 4, .dims = { dice_between(&p->dice, 1, 4),
                          dice_between(&p->dice, 2, 12), dice_between(&p->dice, 2, 9), dice_between(&p->dice, 1, 4) } };
  const struct program_value *v = program_leaf(p, &type);
  if (v == NULL)
    return false;
  if (dice_percent(&p->dice, 50))
    return program_add(p, true, "max_pool(%s, [1, 2, 2, 1], stride=[1, 2, %d, 1], pad=\"%s\")", v->name,
                       1 + dice_below(&p->dice, 2), dice_percent(&p->dice, 50) ? "same" : "valid");
  return program_add(p, false, "avg_pool(%s, [1, 3, 2, 1], stride=[1, %d, 1, 1], pad=\"same\")", v->name,
                     1 + dice_below(&p->dice, 3));
}

/* ---- Order ---- */

static bool sort(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_number);
  if (v == NULL)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x);
  const char *down = dice_percent(&p->dice, 40) ? ", descending=true" : "";
  switch (dice_below(&p->dice, 3)) {
  case 0: return program_add(p, true, "sort(%s, %d%s)", x.name, dim, down);
  case 1: return program_add(p, true, "argsort(%s, %d%s)", x.name, dim, down);
  default:
    return program_add(p, true, "sort(%s, %d%s, by=[convert(%s, s32) %% 3, %s])", x.name, dim, down, x.name, x.name);
  }
}

static bool largest(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_number);
  if (v == NULL)
    return false;
  int64_t n = v->type.dims[v->type.rank - 1];
  return program_add(p, true, "top_k(%s, %lld)[%d]", v->name, (long long)dice_between(&p->dice, 0, n),
                     dice_below(&p->dice, 2));
}

static bool cumulate(struct program *p)
{
  static const char *const forms[] = { "cumsum", "cummax", "cummin", "cumsum" };
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  if (v == NULL)
    return false;
  struct program_value x = *v;
  const char *back = dice_percent(&p->dice, 40) ? "true" : "false";
  if (dice_percent(&p->dice, 20) && program_is_wide_float(&x.type))
    return program_add(p, true, "cumprod(sign(%s), %d, reverse=%s)", x.name, program_dim(p, &x), back);
  return program_add(p, true, "%s(%s, %d, reverse=%s)", forms[dice_below(&p->dice, 4)], x.name, program_dim(p, &x), back)
         && program_tamed(p);
}

/* ---- Transforms ---- */

static bool fourier(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, false, program_is_wide_float);
  if (v == NULL)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x);
  long long n = (long long)x.type.dims[dim];
  switch (dice_below(&p->dice, 4)) {
  case 0: return program_add(p, false, "real(fft(%s, dims=[%d])) * 0.125", x.name, dim);
  case 1: return program_add(p, false, "imag(ifft(%s, dims=[%d]))", x.name, dim);
  case 2: return program_add(p, false, "abs(rfft(%s, dims=[%d])) * 0.125", x.name, dim);
  default: return program_add(p, false, "irfft(rfft(%s, dims=[%d]) * 0.5, dims=[%d], n=%lld)", x.name, dim, dim, n);
  }
}

static bool complex_parts(struct program *p)
{
  const struct program_value *v = program_pick(p, 0, true, program_is_wide_float);
  static const char *const parts[] = { "real", "imag", "abs" };
  if (v == NULL)
    return false;
  int part = dice_below(&p->dice, 3);
  return program_add(p, part != 2, "%s(conj(complex(%s, %s + 1)) * complex(%s, 2))", parts[part], v->name, v->name,
                     v->name);
}

static bool solve(struct program *p)
{
  struct dice *d = &p->dice;
  int64_t n = dice_between(d, 1, 6), batch = dice_between(d, 1, 5);
  struct gs_type square = { .dtype = dice_percent(d, 50) ? GS_DTYPE_F32 : GS_DTYPE_F64, .rank = 3,
                            .dims = { batch, n, n } };
  struct gs_type sides = square;
  const struct program_value *a = program_leaf(p, &square);
  if (a == NULL || !program_add(p, true, "einsum(\"bij,bkj->bik\", %s, %s) + 40 * convert(iota(s32[%lld,%lld], dim=0) "
                                         "== iota(s32[%lld,%lld], dim=1), %s)", a->name, a->name, (long long)n,
                                (long long)n, (long long)n, (long long)n, gs_dtype_name(square.dtype))
      || !program_add(p, false, "cholesky(%s)", p->values[p->nvalues - 1].name))
    return false;
  struct program_value l = p->values[p->nvalues - 1];
  bool left = dice_percent(d, 50);
  sides.dims[left ? 2 : 1] = dice_between(d, 1, 5);
  const struct program_value *b = program_leaf(p, &sides);
  return b != NULL && program_add(p, false, "triangular_solve(%s, %s, lower=true, left=%s, transpose=%s)", l.name,
                                  b->name, left ? "true" : "false", dice_percent(d, 50) ? "true" : "false");
}

static bool draw(struct program *p)
{
  struct dice *d = &p->dice;
  int64_t dims[3] = { dice_between(d, 1, 13), dice_between(d, 1, 7), dice_between(d, 1, 300) };
  const char *shape = program_numbers(dims + (dice_percent(d, 50) ? 0 : 1), 2);
  switch (dice_below(d, 4)) {
  case 0: return program_add(p, true, "floor(uniform(%d, f32%s) * 16)", dice_below(d, 1000), shape);
  case 1: return program_add(p, false, "normal(%d, f64%s)", dice_below(d, 1000), shape);
  case 2: return program_add(p, true, "bits(%d, u8%s) %% 8", dice_below(d, 1000), shape);
  default: {
    const struct program_value *v = program_pick(p, 1, true, program_is_wide_float);
    return v != NULL && program_add(p, true, "dropout(%s, 0.5, %d)", v->name, dice_below(d, 1000)) && program_tamed(p);
  }
  }
}

static bool reinterpret(struct program *p)
{
  const struct program_value *v = program_pick(p, 0, true, NULL);
  if (v == NULL)
    return false;
  switch (v->type.dtype) {
  case GS_DTYPE_S32: return program_add(p, true, "bitcast(bitcast(%s, u8), s32)", v->name);
  case GS_DTYPE_F32: return program_add(p, true, "bitcast(%s, u16)", v->name);
  case GS_DTYPE_U32: return program_add(p, true, "bitcast(%s, s32)", v->name);
  case GS_DTYPE_U64: return program_add(p, true, "bitcast(%s, u32)", v->name);
  default: return false;
  }
}

/* ---- Loops, branches ---- */

static bool loop(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_wide_float);
  struct dice *d = &p->dice;
  if (v == NULL)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x);
  switch (dice_below(d, 7)) {
  case 0: return program_add(p, true, "loop(%d, fn(i, c) { roll(clamp(-8, c + %s, 8), 1, %d) }, %s)", dice_below(d, 4),
                             x.name, dim, x.name);
  case 1: return program_add(p, true, "loop(3, fn(i, c) { (c[1], clamp(-8, c[0] + convert(i, %s), 8)) }, (%s, %s))[%d]",
                             gs_dtype_name(x.type.dtype), x.name, x.name, dice_below(d, 2));
  case 2: return program_add(p, true, "loop(2, fn(i, c) { clamp(-8, c + sum(c, dim=%d, keep=true), 8) }, %s)", dim,
                             x.name);
  case 3: return program_add(p, true, "while_loop(fn(c) { c[0] < %d }, fn(c) { (c[0] + 1, clamp(-8, c[1] * 2 - 1, 8)) "
                                      "}, (0, %s))[1]", dice_below(d, 4), x.name);
  case 4: return program_add(p, true, "scan(fn(h, x) { n = clamp(-8, h + x, 8); (n, n * 0.5) }, %s[0] * 0, %s)[%d]",
                             x.name, x.name, dice_below(d, 2));
  case 5: return program_add(p, true, "loop(2, fn(i, c) { reverse(loop(2, fn(j, e) { clamp(-8, e + c, 8) }, c), [%d]) "
                                      "}, %s)", dim, x.name);
  default: return program_add(p, true, "loop(3, fn(i, c) { cond(i == 1, fn(e) { reverse(e, [%d]) }, fn(e) { "
                                       "clamp(-8, e + %s, 8) }, c) }, %s)", dim, x.name, x.name);
  }
}

static bool branch(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_wide_float);
  if (v == NULL)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x);
  return program_add(p, true, "cond(sum(%s) > %d, fn(e) { roll(e, 1, %d) }, fn(e) { clamp(-8, e - sum(e, dim=%d, "
                              "keep=true), 8) }, %s)", x.name, dice_below(&p->dice, 9) - 4, dim, dim, x.name);
}

program_template *const program_templates[] = {
  unary, smooth, binary, reduce, predicates, move, move, contract, convolve, convolve, reduce_windows, pool, select_and_scatter,
  program_take, program_take_along, program_scatter, program_numbered, program_numbered, program_dynamic,
  program_dynamic, program_one_hot, sort, sort, largest, cumulate, cumulate, fourier,
  complex_parts, solve, draw, reinterpret, loop, loop, branch, program_manual, program_manual, program_manual, NULL
};
