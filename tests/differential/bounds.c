/* tests/differential/bounds.c - interval arithmetic with an error term, one rule per operator. */
#include <config.h>

#include "tests/differential/bounds.h"

#include <math.h>
#include <string.h>

static double function_sign(double x)
{
  return (double)((x > 0) - (x < 0));
}

static double function_rsqrt(double x)
{
  return 1 / sqrt(x);
}

static double function_sigmoid(double x)
{
  return 1 / (1 + exp(-x));
}

static double function_relu(double x)
{
  return fmax(x, 0);
}

static double function_gelu(double x)
{
  return 0.5 * x * erfc(-x * M_SQRT1_2);
}

static double function_silu(double x)
{
  return x * function_sigmoid(x);
}

static double function_softplus(double x)
{
  return log1p(exp(x));
}

static double function_negative(double x)
{
  return -x;
}

enum precision {
  SELECTS,                             /* some operand's bits, or a whole number: never rounds */
  ROUNDS,                              /* once, correctly: exact operands give one right answer */
  APPROXIMATES                         /* no two implementations agree to the last bit */
};

/* Functions of one argument: where they are tame, how steep at most there, and whether a small
 * error of the operand may become a large one of the result. */
static const struct unary {
  enum gs_op op;
  double (*function)(double);
  double low, high, steep;
  enum precision precision;
  bool jumps;
} unaries[] = {
  { GS_OP_ABS, fabs, -1e6, 1e6, 1, SELECTS, false },
  { GS_OP_NEG, function_negative, -1e6, 1e6, 1, SELECTS, false },
  { GS_OP_SIGN, function_sign, -1e6, 1e6, 0, SELECTS, true },
  { GS_OP_EXP, exp, -6, 3, 21, APPROXIMATES, false },
  { GS_OP_EXPM1, expm1, -6, 3, 21, APPROXIMATES, false },
  { GS_OP_LOG, log, 0.1, 1000, 10, APPROXIMATES, false },
  { GS_OP_LOG1P, log1p, -0.8, 1000, 5, APPROXIMATES, false },
  { GS_OP_SQRT, sqrt, 0.05, 1e4, 2.3, ROUNDS, false },
  { GS_OP_RSQRT, function_rsqrt, 0.1, 1e4, 16, APPROXIMATES, false },
  { GS_OP_CBRT, cbrt, 0.05, 1e4, 2.5, APPROXIMATES, false },
  { GS_OP_SIN, sin, -12, 12, 1, APPROXIMATES, false },
  { GS_OP_COS, cos, -12, 12, 1, APPROXIMATES, false },
  { GS_OP_TAN, tan, -1.1, 1.1, 5, APPROXIMATES, false },
  { GS_OP_TANH, tanh, -12, 12, 1, APPROXIMATES, false },
  { GS_OP_SIGMOID, function_sigmoid, -12, 12, 0.25, APPROXIMATES, false },
  { GS_OP_ERF, erf, -8, 8, 1.13, APPROXIMATES, false },
  { GS_OP_FLOOR, floor, -1e6, 1e6, 0, SELECTS, true },
  { GS_OP_CEIL, ceil, -1e6, 1e6, 0, SELECTS, true },
  { GS_OP_ROUND, nearbyint, -1e6, 1e6, 0, SELECTS, true },
  { GS_OP_RELU, function_relu, -1e6, 1e6, 1, SELECTS, false },
  { GS_OP_GELU, function_gelu, -12, 12, 1.13, APPROXIMATES, false },
  { GS_OP_SILU, function_silu, -12, 12, 1.1, APPROXIMATES, false },
  { GS_OP_SOFTPLUS, function_softplus, -12, 12, 1, APPROXIMATES, false },
};

/* The same for the operands of the others, where not everything will do. */
static const struct domain {
  enum gs_op op;
  int argument;
  double low, high;
  bool jumps;
} domains[] = {
  { GS_OP_DIV, 1, 0.3, 1e4, false },
  { GS_OP_REM, 0, -1e4, 1e4, true },
  { GS_OP_REM, 1, 0.3, 1e4, true },
  { GS_OP_MOD, 0, -1e4, 1e4, true },
  { GS_OP_MOD, 1, 0.3, 1e4, true },
  { GS_OP_POW, 0, 0.4, 3, false },
  { GS_OP_POW, 1, -2, 2, false },
  { GS_OP_ATAN2, 1, 0.3, 1e3, false },
  { GS_OP_SHL, 0, 0, 15, false },
  { GS_OP_SHL, 1, 0, 2, false },
  { GS_OP_SHR, 1, 0, 9, false },
  { GS_OP_PROD, 0, 0.9, 1.1, false },
  { GS_OP_EQ, 0, -1e6, 1e6, true },
  { GS_OP_EQ, 1, -1e6, 1e6, true },
  { GS_OP_NE, 0, -1e6, 1e6, true },
  { GS_OP_NE, 1, -1e6, 1e6, true },
  { GS_OP_LT, 0, -1e6, 1e6, true },
  { GS_OP_LT, 1, -1e6, 1e6, true },
  { GS_OP_LE, 0, -1e6, 1e6, true },
  { GS_OP_LE, 1, -1e6, 1e6, true },
  { GS_OP_GT, 0, -1e6, 1e6, true },
  { GS_OP_GT, 1, -1e6, 1e6, true },
  { GS_OP_GE, 0, -1e6, 1e6, true },
  { GS_OP_GE, 1, -1e6, 1e6, true },
  { GS_OP_ARGMAX, 0, -1e6, 1e6, true },
  { GS_OP_ARGMIN, 0, -1e6, 1e6, true },
};

static const struct unary *find_unary(enum gs_op op)
{
  for (size_t i = 0; i < sizeof unaries / sizeof unaries[0]; i++)
    if (unaries[i].op == op)
      return &unaries[i];
  return NULL;
}

bool bounds_domain(enum gs_op op, int argument, double *low, double *high, bool *exact)
{
  const struct unary *u = find_unary(op);
  if (u != NULL) {
    *low = u->low;
    *high = u->high;
    *exact = u->jumps;
    return true;
  }
  for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
    if (domains[i].op != op || domains[i].argument != argument)
      continue;
    *low = domains[i].low;
    *high = domains[i].high;
    *exact = domains[i].jumps;
    return true;
  }
  return false;
}

/* Relative difference of two right results of one approximate operator. */
static double type_epsilon(enum gs_dtype dtype)
{
  switch (dtype) {
  case GS_DTYPE_F64: case GS_DTYPE_C128:
    return 4e-15;
  case GS_DTYPE_F32: case GS_DTYPE_C64:
    return 1e-6;
  case GS_DTYPE_BF16:
    return 8e-3;
  case GS_DTYPE_F16:
    return 1e-3;
  default:
    return 0;
  }
}

/* Whole numbers up to this are exact, and so are their sums. */
static double type_whole(enum gs_dtype dtype)
{
  switch (dtype) {
  case GS_DTYPE_F64: case GS_DTYPE_C128: case GS_DTYPE_S64: case GS_DTYPE_U64:
    return 9e15;
  case GS_DTYPE_F32: case GS_DTYPE_C64:
    return 16777216;
  case GS_DTYPE_BF16:
    return 256;
  case GS_DTYPE_F16:
    return 2048;
  case GS_DTYPE_S32:
    return 2147483647;
  case GS_DTYPE_U32:
    return 4294967295;
  case GS_DTYPE_S16:
    return 32767;
  case GS_DTYPE_U16:
    return 65535;
  case GS_DTYPE_S8:
    return 127;
  case GS_DTYPE_U8:
    return 255;
  default:
    return 1;
  }
}

static double magnitude(const struct bounds *b)
{
  return fmax(fabs(b->low), fabs(b->high));
}

static struct bounds interval(double low, double high)
{
  return (struct bounds){ .low = fmin(low, high), .high = fmax(low, high) };
}

static struct bounds bounds_input(const struct recipe_node *n)
{
  const struct gs_fill_spec *fill = &n->attrs.input.fill;
  double count = fill->kind == GS_FILL_IOTA ? (double)n->type.dims[(int)fill->argument] : 1;
  bool whole = gs_dtype_is_integer(n->type.dtype) || n->type.dtype == GS_DTYPE_PRED;
  struct bounds b = { 0 };
  switch (fill->kind) {
  case GS_FILL_PATTERN:
    b = !whole ? interval(-0.5, 0.5) : interval(0, n->type.dtype == GS_DTYPE_PRED ? 1 : 15);
    break;
  case GS_FILL_ZEROS:
    whole = true;
    break;
  case GS_FILL_ONES:
    b = interval(1, 1);
    whole = true;
    break;
  case GS_FILL_FULL:
    b = interval(fill->argument, fill->argument);
    whole = whole || fill->argument == floor(fill->argument);
    break;
  case GS_FILL_IOTA:
    b = interval(0, fmax(count - 1, 0));
    whole = true;
    break;
  case GS_FILL_NORMAL:
    b = interval(fill->mean - 7 * fill->std, fill->mean + 7 * fill->std);
    break;
  case GS_FILL_UNIFORM:
    b = interval(0, 1);
    break;
  case GS_FILL_DATA:
    break;
  }
  b.integral = whole;
  return b;
}

static struct bounds bounds_leaf(const struct recipe_node *n)
{
  struct bounds b = { .integral = true };
  int64_t elements = gs_type_elements(&n->type);
  if (n->op == GS_OP_INPUT || n->op == GS_OP_PARAM)
    return bounds_input(n);
  if (n->op == GS_OP_IOTA) {
    b.high = (double)n->type.dims[n->attrs.iota.dim];
    return b;
  }
  for (int64_t i = 0; i < elements && i < RECIPE_VALUES; i++) {
    double value = n->values[i];
    double rounding = value == floor(value) ? 0 : type_epsilon(n->type.dtype) * fabs(value);
    b.low = i == 0 ? value - rounding : fmin(b.low, value - rounding);
    b.high = i == 0 ? value + rounding : fmax(b.high, value + rounding);
    b.integral = b.integral && value == floor(value);
  }
  return b;
}

static struct bounds bounds_unary(const struct unary *u, const struct bounds *x, double epsilon)
{
  struct bounds b = interval(u->function(x->low), u->function(x->high));
  for (int i = 1; i < 256; i++) {
    double value = u->function(x->low + (x->high - x->low) * i / 256);
    b.low = fmin(b.low, value);
    b.high = fmax(b.high, value);
  }
  if (x->low < 0 && x->high > 0) {
    b.low = fmin(b.low, u->function(0));
    b.high = fmax(b.high, u->function(0));
  }
  double margin = u->precision == APPROXIMATES ? 1e-3 * (b.high - b.low) : 0;
  b.low -= margin;                     /* the peaks between the samples */
  b.high += margin;
  b.integral = (x->integral && u->precision == SELECTS) || u->jumps;
  b.error = x->error * u->steep;
  bool rounds = u->precision == APPROXIMATES || (u->precision == ROUNDS && epsilon > 1e-5);
  if (rounds && !b.integral)
    b.error += epsilon * magnitude(&b);
  return b;
}

static struct bounds products(const struct bounds *x, const struct bounds *y, bool complex)
{
  double a = x->low * y->low, b = x->low * y->high, c = x->high * y->low, d = x->high * y->high;
  struct bounds z = interval(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
  if (complex)
    z = interval(-2 * magnitude(x) * magnitude(y), 2 * magnitude(x) * magnitude(y));
  z.error = (x->error * magnitude(y) + y->error * magnitude(x)) * (complex ? 2 : 1);
  return z;
}

static struct bounds bounds_bitwise(const struct bounds *x, const struct bounds *y)
{
  double limit = 1;
  while (limit <= magnitude(x) || limit <= magnitude(y))
    limit *= 2;
  return interval(x->low < 0 || y->low < 0 ? -limit : 0, limit - 1);
}

static struct bounds bounds_power(const struct bounds *x, const struct bounds *y)
{
  double a = pow(x->low, y->low), b = pow(x->low, y->high), c = pow(x->high, y->low),
         d = pow(x->high, y->high);
  struct bounds z = interval(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(fmax(a, b), fmax(c, d)), 1));
  z.low = fmin(z.low, 1);
  z.error = magnitude(&z) * (x->error * 5 + y->error * 1.2);
  return z;
}

static struct bounds bounds_quotient(const struct bounds *x, const struct bounds *y, bool integers)
{
  struct bounds inverse = interval(1 / y->high, 1 / y->low);
  struct bounds z = products(x, &inverse, false);
  z.error = x->error / y->low + y->error * magnitude(x) / (y->low * y->low);
  if (integers)
    z = interval(fmin(z.low, 0), fmax(z.high, 0));
  return z;
}

/* Two operands; *SELECTS_ONE: the result is one of them, unrounded. */
static struct bounds bounds_binary(enum gs_op op, const struct gs_type *type,
                                   const struct bounds *x, const struct bounds *y,
                                   bool *selects_one)
{
  struct bounds z = interval(0, 1);
  switch (op) {
  case GS_OP_ADD:
    z = interval(x->low + y->low, x->high + y->high);
    break;
  case GS_OP_SUB:
    z = interval(x->low - y->high, x->high - y->low);
    break;
  case GS_OP_MUL:
    return products(x, y, gs_dtype_kind(type->dtype) == GS_KIND_COMPLEX);
  case GS_OP_DIV:
    return bounds_quotient(x, y, gs_dtype_is_integer(type->dtype));
  case GS_OP_REM:
    return interval(fmin(x->low, 0), fmax(x->high, 0));
  case GS_OP_MOD:
    return interval(0, y->high);
  case GS_OP_POW:
    return bounds_power(x, y);
  case GS_OP_ATAN2:
    z = interval(-1.5708, 1.5708);
    z.error = (x->error + y->error) / y->low;
    return z;
  case GS_OP_SHL:
    return interval(x->low, x->high * 4);
  case GS_OP_SHR:
    return interval(fmin(x->low, 0), fmax(x->high, 0));
  case GS_OP_AND: case GS_OP_OR: case GS_OP_XOR:
    return type->dtype == GS_DTYPE_PRED ? z : bounds_bitwise(x, y);
  case GS_OP_MAX: case GS_OP_MIN:
    *selects_one = true;
    z = op == GS_OP_MAX ? interval(fmax(x->low, y->low), fmax(x->high, y->high))
                        : interval(fmin(x->low, y->low), fmin(x->high, y->high));
    z.error = fmax(x->error, y->error);
    return z;
  default:                             /* comparisons */
    *selects_one = true;
    return z;
  }
  z.error = x->error + y->error;
  return z;
}

static struct bounds bounds_join(const struct bounds *x, const struct bounds *y)
{
  struct bounds z = interval(fmin(x->low, y->low), fmax(x->high, y->high));
  z.error = fmax(x->error, y->error);
  return z;
}

static struct bounds bounds_three(enum gs_op op, const struct bounds *a, const struct bounds *b,
                                  const struct bounds *c)
{
  if (op == GS_OP_WHERE)
    return bounds_join(b, c);
  struct bounds z = { .low = fmin(fmax(a->low, b->low), c->high), .error = b->error };
  z.low = fmin(z.low, c->low);
  z.high = fmin(fmax(a->high, b->high), c->high);
  z.high = fmax(z.high, z.low);
  z.error = fmax(fmax(a->error, b->error), c->error);
  return z;
}

/* Conversion to N's type; false when a jump or an overflow would make it a matter of luck. */
static bool bounds_convert(const struct recipe_node *n, enum gs_dtype from, struct bounds *x)
{
  enum gs_dtype to = n->type.dtype;
  if (to == GS_DTYPE_PRED) {
    if (x->error > 0 || x->wild)
      return false;
    *x = interval(0, 1);
    x->integral = true;
    return true;
  }
  if (gs_dtype_is_integer(to)) {
    if ((x->error > 0 || x->wild) || (gs_dtype_kind(to) == GS_KIND_UNSIGNED && x->low < 0))
      return false;
    if (!x->integral)
      *x = interval(trunc(x->low), trunc(x->high));
    x->integral = true;
    return true;
  }
  bool narrows = type_epsilon(to) > type_epsilon(from);
  if (narrows && !(x->integral && magnitude(x) <= type_whole(to)) && x->error > 0)
    x->error += type_epsilon(to) * magnitude(x);
  return true;
}

static bool bounds_elementwise(const struct recipe *r, const struct recipe_node *n,
                               const struct bounds *const *x, struct bounds *result)
{
  double epsilon = type_epsilon(n->type.dtype);
  const struct unary *u = find_unary(n->op);
  if (u != NULL) {
    *result = bounds_unary(u, x[0], epsilon);
    return true;
  }
  if (n->op == GS_OP_CONVERT) {
    *result = *x[0];
    return bounds_convert(n, r->nodes[n->args[0]].type.dtype, result);
  }
  if (n->nargs == 1) {                 /* is_finite, not */
    *result = interval(0, type_whole(n->type.dtype));
    if (gs_dtype_kind(n->type.dtype) == GS_KIND_SIGNED)
      *result = interval(-1 - x[0]->high, -1 - x[0]->low);
    result->integral = true;
    return (n->op != GS_OP_IS_FINITE || x[0]->error == 0 || !x[0]->wild) &&
           n->type.dtype != GS_DTYPE_U64;
  }
  bool selects = n->nargs == 3, integral = true;
  for (int i = 0; i < n->nargs; i++)
    integral = integral && x[i]->integral;
  *result = n->nargs == 3 ? bounds_three(n->op, x[0], x[1], x[2])
                          : bounds_binary(n->op, &n->type, x[0], x[1], &selects);
  bool floating = n->op == GS_OP_DIV || n->op == GS_OP_POW || n->op == GS_OP_ATAN2;
  result->integral = epsilon == 0 || (integral && !floating);
  bool exact = selects || (result->integral && magnitude(result) <= type_whole(n->type.dtype));
  bool correct = epsilon < 1e-5 && !(n->op == GS_OP_POW || n->op == GS_OP_ATAN2) &&
                 gs_dtype_kind(n->type.dtype) != GS_KIND_COMPLEX;
  if (!exact && !(correct && result->error == 0))
    result->error += epsilon * magnitude(result);
  return true;
}

/* COUNT terms like those of X summed in some order, in the type DTYPE. */
static struct bounds bounds_sum(const struct bounds *x, double count, enum gs_dtype dtype)
{
  struct bounds z = interval(fmin(x->low * count, 0), fmax(x->high * count, 0));
  z.integral = x->integral;
  z.error = x->error * count;
  if (!(x->integral && magnitude(&z) <= type_whole(dtype)))
    z.error += type_epsilon(dtype) * magnitude(&z);
  return z;
}

static bool bounds_reduce(const struct recipe_node *n, const struct gs_type *type,
                          const struct bounds *x, struct bounds *result)
{
  double count = 1;
  for (int i = 0; i < type->rank; i++)
    if ((n->attrs.reduce.dims >> i & 1) != 0)
      count *= (double)type->dims[i];
  *result = *x;
  switch (n->op) {
  case GS_OP_SUM:
    *result = bounds_sum(x, count, type->dtype);
    break;
  case GS_OP_PROD:
    if (count > 40)
      return false;
    *result = interval(fmin(x->low, pow(fmax(x->low, 0), count)),
                       pow(fmax(magnitude(x), 1), count));
    result->low = gs_dtype_is_integer(type->dtype) ? -result->high : fmin(result->low, 1);
    result->error = magnitude(result) * count * (2 * x->error + type_epsilon(type->dtype));
    result->integral = x->integral;
    if (x->integral && result->high <= 1 && x->error == 0)
      result->error = 0;
    break;
  case GS_OP_REDUCE_MAX: case GS_OP_REDUCE_MIN:
    result->wild = x->wild || count < 1;
    break;
  case GS_OP_ALL: case GS_OP_ANY:      /* of nothing: true, false */
    *result = interval(0, 1);
    result->integral = true;
    break;
  case GS_OP_ARGMAX: case GS_OP_ARGMIN:
    *result = interval(0, count);
    result->integral = true;
    break;
  default:
    break;
  }
  return true;
}

static struct bounds bounds_einsum(const struct recipe *r, const struct recipe_node *n,
                                   const struct bounds *const *x)
{
  bool complex = gs_dtype_kind(n->type.dtype) == GS_KIND_COMPLEX;
  struct bounds product = *x[0];
  double points = 1;
  bool seen[128] = { false };
  for (int i = 1; i < n->nargs; i++) {
    bool integral = product.integral && x[i]->integral;
    product = products(&product, x[i], complex);
    product.integral = integral;
  }
  const char *out = strchr(n->spec, '>') + 1;
  const char *label = n->spec;
  for (int i = 0; i < n->nargs; i++, label++) {
    const struct gs_type *t = &r->nodes[n->args[i]].type;
    int dim = 0;
    for (; *label != ',' && *label != '-'; label++, dim++) {
      if (*label == '.') {
        label += 2;
        dim = t->rank - (int)strcspn(label + 1, ",-") - 1;
        continue;
      }
      if (!seen[(int)*label & 127] && strchr(out, *label) == NULL)
        points *= (double)t->dims[dim];
      seen[(int)*label & 127] = true;
    }
  }
  /* chains of pairs round in between */
  struct bounds z = bounds_sum(&product, points, n->type.dtype);
  if (z.error > 0)
    z.error *= n->nargs > 2 ? 4 : 1;
  return z;
}

static bool in_domains(const struct recipe_node *n, const struct bounds *const *x,
                       enum gs_dtype dtype)
{
  for (int i = 0; i < n->nargs; i++) {
    double low, high;
    bool exact;
    if (!bounds_domain(n->op, i, &low, &high, &exact))
      continue;
    bool whole = gs_dtype_is_integer(dtype);
    if (whole && n->op == GS_OP_PROD) {
      low = -1;
      high = 1;
    }
    bool root_of_exact = n->op == GS_OP_SQRT && x[i]->error == 0;    /* NaN is an answer too */
    if (root_of_exact)
      low = -1e4;
    double slack = type_epsilon(dtype) * (1 + fabs(low));    /* the limit was rounded to the type */
    if (x[i]->low < low - slack || x[i]->high > high * (1 + type_epsilon(dtype)) + slack ||
        (exact && x[i]->error > 0))
      return false;
  }
  return true;
}

/* Operators that carry infinities and NaN (of integers: the limits of the type) to where they are
 * told apart. */
static bool carries_wild(enum gs_op op, enum gs_dtype dtype)
{
  switch (op) {
  case GS_OP_ADD: case GS_OP_SUB: case GS_OP_NEG: case GS_OP_SUM: case GS_OP_IS_FINITE:
    return !gs_dtype_is_integer(dtype);
  case GS_OP_MAX: case GS_OP_MIN: case GS_OP_REDUCE_MAX: case GS_OP_REDUCE_MIN: case GS_OP_WHERE:
    return true;
  default:
    return gs_op_info(op)->group == GS_GROUP_SHAPE || op == GS_OP_SHARD;
  }
}

static bool representable(const struct bounds *b, const struct gs_type *type)
{
  enum gs_dtype_kind kind = gs_dtype_kind(type->dtype);
  double size = magnitude(b);
  if (kind == GS_KIND_UNSIGNED && b->low < 0)
    return false;
  if (kind == GS_KIND_SIGNED || kind == GS_KIND_UNSIGNED)
    return size <= type_whole(type->dtype);
  double limit = type->dtype == GS_DTYPE_F16 ? 1e3 : 1e5;
  return size <= limit && b->error <= 0.02 * (1 + size);
}

bool bounds_node(const struct recipe *r, int index, struct bounds *all)
{
  const struct recipe_node *n = &r->nodes[index];
  const struct bounds *x[RECIPE_ARGS] = { NULL };
  struct bounds result = { 0 };
  bool wild = false, tame = true;
  for (int i = 0; i < n->nargs; i++) {
    x[i] = &all[n->args[i]];
    wild = wild || x[i]->wild;
  }
  const struct gs_type *type = n->nargs > 0 ? &r->nodes[n->args[0]].type : &n->type;
  if ((wild && !carries_wild(n->op, type->dtype)) || !in_domains(n, x, type->dtype))
    return false;
  switch (gs_op_info(n->op)->group) {
  case GS_GROUP_LEAF:
    result = bounds_leaf(n);
    break;
  case GS_GROUP_ELEMENTWISE:
    tame = bounds_elementwise(r, n, x, &result);
    break;
  case GS_GROUP_REDUCTION:
    tame = bounds_reduce(n, type, x[0], &result);
    break;
  case GS_GROUP_CONTRACTION:
    result = bounds_einsum(r, n, x);
    break;
  default:                             /* moves elements */
    result = *x[0];
    for (int i = 1; i < n->nargs; i++) {
      bool integral = result.integral && x[i]->integral;
      result = bounds_join(&result, x[i]);
      result.integral = integral;
    }
  }
  if (n->op == GS_OP_SQRT && x[0]->low < 0) {
    wild = true;
    result.low = 0;
    result.high = sqrt(fmax(x[0]->high, 0));
    if (x[0]->high > 0 && type_epsilon(n->type.dtype) > 1e-5)
      result.error = type_epsilon(n->type.dtype) * result.high;
  }
  result.wild = (wild && n->op != GS_OP_IS_FINITE) || result.wild;
  all[index] = result;
  return tame && representable(&result, &n->type);
}

bool bounds_compute(const struct recipe *r, struct bounds *all)
{
  for (int i = 0; i < r->nnodes; i++)
    if (!bounds_node(r, i, all))
      return false;
  return true;
}
