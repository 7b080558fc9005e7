/* partition/sharding_parse.c - XLA's and Shardy's shardings to ours.
 *
 * XLA numbers tiles and lists the device of each.  That list is a mixed-radix number, whose digits
 * have a size and a stride in device positions; each must fall on sub-axes of the mesh.  An iota
 * says its digits, so that nothing here grows with the mesh; of devices listed one by one they are
 * found.
 */
#include <config.h>

#include "partition/sharding_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/axes.h"

enum { MAX_NUMBERS = 64, MAX_TILES = GS_MAX_RANK + 8 };

struct reader {
  const struct gs_sharding_parse *p;
  const char *text, *at;
};

static bool fail(const struct reader *r, const char *what)
{
  gs_error(r->p->diagnostics, r->p->at, "sharding \"%s\": %s", r->text, what);
  return false;
}

static bool fail_expected(const struct reader *r, const char *what)
{
  gs_error(r->p->diagnostics, r->p->at, "sharding \"%s\": expected %s %s%.16s%s", r->text, what,
           *r->at != '\0' ? "at \"" : "at the end", r->at, *r->at != '\0' ? "\"" : "");
  return false;
}

static void skip_space(struct reader *r)
{
  r->at += strspn(r->at, " \t\n");
}

static bool accept(struct reader *r, const char *token)
{
  skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0)
    return false;
  r->at += length;
  return true;
}

static bool expect(struct reader *r, const char *token)
{
  if (accept(r, token))
    return true;
  char what[40];
  snprintf(what, sizeof what, "'%s'", token);
  return fail_expected(r, what);
}

static bool expect_end(struct reader *r)
{
  skip_space(r);
  return *r->at == '\0' || fail_expected(r, "nothing more");
}

static bool read_number(struct reader *r, int64_t *number)
{
  skip_space(r);
  if (!isdigit((unsigned char)*r->at))
    return fail_expected(r, "a number");
  *number = 0;
  for (; isdigit((unsigned char)*r->at); r->at++) {
    if (*number > (int64_t)1 << 50)
      return fail(r, "a number is too large");
    *number = *number * 10 + (*r->at - '0');
  }
  return true;
}

/* "1,2,3" and CLOSE, after what opened it. */
static bool read_numbers(struct reader *r, const char *close, int64_t *numbers, int max, int *count)
{
  *count = 0;
  if (accept(r, close))
    return true;
  do {
    if (*count == max)
      return fail(r, "too many numbers in a list");
    if (!read_number(r, &numbers[(*count)++]))
      return false;
  } while (accept(r, ","));
  return expect(r, close);
}

static const struct gs_sharding *make(const struct gs_sharding_parse *p, int rank,
                                      const struct gs_axis_list *lists, const bool *open,
                                      const struct gs_axis_list *partial)
{
  struct gs_dim_sharding dims[GS_MAX_RANK] = { 0 };
  for (int i = 0; i < rank; i++)
    dims[i] = (struct gs_dim_sharding){ .naxes = lists[i].count, .open = open[i], .axes = lists[i].items };
  const struct gs_sharding *s = gs_sharding_make(p->table, p->mesh, rank, dims, partial->items,
                                                 partial->count, GS_OP_SUM);
  if (s == NULL)
    gs_error(p->diagnostics, p->at, "sharding: out of memory");
  return s;
}

/* ---- XLA ---- */

enum tile_kind { TILE_DIM, TILE_REPLICATED, TILE_MANUAL, TILE_UNREDUCED };

struct digit {
  int64_t size, stride;
};

struct tiling {
  int ntiles, ndigits;
  int64_t tiles[MAX_TILES];
  enum tile_kind kinds[MAX_TILES];
  struct digit digits[MAX_NUMBERS];    /* major to minor, none of size 1 */
};

static bool add_digit(struct tiling *t, struct digit digit)
{
  struct digit *last = t->ndigits > 0 ? &t->digits[t->ndigits - 1] : NULL;
  if (digit.size == 1)
    return true;
  if (last != NULL && last->stride == digit.size * digit.stride)
    *last = (struct digit){ last->size * digit.size, digit.stride };
  else if (t->ndigits < MAX_NUMBERS)
    t->digits[t->ndigits++] = digit;
  else
    return false;
  return true;
}

/* "<=[2,4]T(1,0)", after "<=[". */
static bool read_iota(struct reader *r, struct tiling *t)
{
  int64_t sizes[MAX_NUMBERS], order[MAX_NUMBERS], strides[MAX_NUMBERS], total = 1;
  int count, norder;
  if (!read_numbers(r, "]", sizes, MAX_NUMBERS, &count))
    return false;
  norder = count;
  for (int i = 0; i < count; i++)
    order[i] = i;
  if (accept(r, "T(") && !read_numbers(r, ")", order, MAX_NUMBERS, &norder))
    return false;
  for (int i = count - 1; i >= 0; i--) {
    strides[i] = total;
    if (!gs_mul_size(total, sizes[i], &total))
      return fail(r, "too many devices");
  }
  if (total != r->p->mesh->ndevices)
    return fail(r, "the iota has another number of devices than the mesh");
  uint64_t seen = 0;
  for (int i = 0; i < norder; i++) {
    if (norder != count || order[i] >= count || (seen >> order[i] & 1))
      return fail(r, "the transposition is no permutation of the iota's dims");
    seen |= (uint64_t)1 << order[i];
    add_digit(t, (struct digit){ sizes[order[i]], strides[order[i]] });
  }
  return true;
}

/* Take from LIST, of N positions, its digits; it is used up. */
static bool find_digits(struct tiling *t, int64_t *list, int64_t n)
{
  struct digit found[MAX_NUMBERS];
  int count = 0;
  if (list[0] != 0)
    return false;
  while (n > 1) {
    int64_t stride = list[1], run = 1;
    while (run < n && list[run] == run * stride)
      run++;
    if (run == 1 || n % run != 0 || count == MAX_NUMBERS)
      return false;
    for (int64_t i = 0; i < n; i++)
      if (list[i] != list[i - i % run] + i % run * stride)
        return false;
    for (int64_t i = 0; i < n / run; i++)
      list[i] = list[i * run];
    found[count++] = (struct digit){ run, stride };
    n /= run;
  }
  t->ndigits = 0;
  while (count > 0)
    add_digit(t, found[--count]);
  return true;
}

static int compare_positions(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* LIST holds devices, tile by tile.  Which of those that hold the same is named first does not matter. */
static bool digits_of_devices(struct reader *r, struct tiling *t, int64_t *list)
{
  const struct gs_mesh *mesh = r->p->mesh;
  int64_t n = mesh->ndevices;
  int64_t *position = GS_NEW_ARRAY(r->p->scratch, int64_t, n);
  if (position == NULL)
    return fail(r, "out of memory");
  for (int64_t i = 0; i < n; i++)
    position[i] = -1;
  for (int64_t i = 0; i < n; i++)
    position[mesh->order != NULL ? mesh->order[i] : i] = i;
  for (int64_t i = 0; i < n; i++) {
    if (list[i] >= n || position[list[i]] < 0)
      return fail(r, "a device stands twice or is none of the mesh's");
    int64_t device = list[i];
    list[i] = position[device];
    position[device] = -1;
  }
  if (t->kinds[t->ntiles - 1] == TILE_REPLICATED) {
    int64_t same = t->tiles[t->ntiles - 1];
    for (int64_t i = 0; i < n; i += same)
      qsort(list + i, (size_t)same, sizeof *list, compare_positions);
  }
  return find_digits(t, list, n) || fail(r, "its order of devices is none of mesh axes");
}

static bool read_devices(struct reader *r, int64_t *list)
{
  int64_t n = r->p->mesh->ndevices;
  for (int64_t i = 0; i < n; i++)
    if ((i > 0 && !expect(r, ",")) || !read_number(r, &list[i]))
      return false;
  return accept(r, ",") ? fail(r, "it lists more devices than the mesh has") : true;
}

/* The devices of the iota in T, one by one: a mesh with an order of its own has no other way. */
static void list_digits(const struct tiling *t, int64_t n, int64_t *list)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t left = i;
    list[i] = 0;
    for (int k = t->ndigits - 1; k >= 0; k--) {
      list[i] += left % t->digits[k].size * t->digits[k].stride;
      left /= t->digits[k].size;
    }
  }
}

/* " last_tile_dim_replicate", " last_tile_dims={manual, replicated}", or nothing, and the rest. */
static bool read_last_tiles(struct reader *r, struct tiling *t)
{
  static const char *const names[] = { "", "replicated", "manual", "unreduced" };
  enum tile_kind kinds[MAX_TILES];
  int count = 0;
  if (accept(r, "last_tile_dim_replicate")) {
    kinds[count++] = TILE_REPLICATED;
  } else if (accept(r, "last_tile_dims={")) {
    do {
      int kind = TILE_REPLICATED;
      while (kind <= TILE_UNREDUCED && !accept(r, names[kind]))
        kind++;
      if (kind > TILE_UNREDUCED)
        return fail_expected(r, "replicated, manual or unreduced");
      if (count == t->ntiles)
        return fail(r, "more last tile dims than tile dims");
      kinds[count++] = (enum tile_kind)kind;
    } while (accept(r, ","));
    if (!expect(r, "}"))
      return false;
  }
  if (count > t->ntiles)
    return fail(r, "more last tile dims than tile dims");
  memcpy(&t->kinds[t->ntiles - count], kinds, (size_t)count * sizeof *kinds);
  if (accept(r, "metadata="))
    return fail(r, "metadata is not read");
  return expect(r, "}") && expect_end(r);
}

/* "{devices=[2,1,4]<=[8] …}", after "{devices=[". */
static bool read_tiling(struct reader *r, struct tiling *t)
{
  int64_t total = 1, n = r->p->mesh->ndevices, *list = NULL;
  if (!read_numbers(r, "]", t->tiles, MAX_TILES, &t->ntiles))
    return false;
  for (int i = 0; i < t->ntiles; i++)
    if (t->tiles[i] == 0 || !gs_mul_size(total, t->tiles[i], &total))
      return fail(r, "a tile dim is 0 or they are too large");
  if (t->ntiles == 0 || total != n) {
    gs_error(r->p->diagnostics, r->p->at, "sharding \"%s\": %" PRId64 " tiles for a mesh of %" PRId64
             " devices", r->text, total, n);
    return false;
  }
  bool iota = accept(r, "<=[");
  if (!iota || r->p->mesh->order != NULL) {
    list = GS_NEW_ARRAY(r->p->scratch, int64_t, n);
    if (list == NULL)
      return fail(r, "out of memory");
  }
  if (iota ? !read_iota(r, t) : !read_devices(r, list))
    return false;
  if (!read_last_tiles(r, t))
    return false;
  if (iota && list != NULL)
    list_digits(t, n, list);
  return list == NULL || digits_of_devices(r, t, list);
}

/* Append to AXES the sub-axes that DIGIT runs over. */
static bool add_mesh_axes(const struct gs_mesh *mesh, struct digit digit, struct gs_axis_list *axes)
{
  struct gs_axis found[GS_MESH_MAX_AXES];  /* minor to major */
  int count = 0;
  int64_t stride = 1;                  /* of mesh axis a */
  for (int a = mesh->naxes - 1; a >= 0 && digit.size > 1; a--) {
    int64_t size = mesh->axes[a].size;
    if (digit.stride < stride * size) {
      if (digit.stride % stride != 0 || size % (digit.stride / stride) != 0)
        return false;
      int64_t left = size / (digit.stride / stride);
      int64_t part = digit.size < left ? digit.size : left;
      if (left % part != 0 || digit.size % part != 0)
        return false;
      found[count++] = (struct gs_axis){ a, left / part, part };
      digit = (struct digit){ digit.size / part, digit.stride * part };
    }
    stride *= size;
  }
  while (count > 0)
    if (!gs_axis_list_add(axes, found[--count]))
      return false;
  return digit.size == 1;
}

/* Move the next TILE parts from T's digits, from *AT on, to AXES. */
static bool take_tile(const struct gs_mesh *mesh, struct tiling *t, int *at, int64_t tile,
                      struct gs_axis_list *axes)
{
  while (tile > 1) {
    struct digit *digit = &t->digits[*at];
    int64_t part = digit->size < tile ? digit->size : tile;
    if (digit->size % part != 0 || tile % part != 0)
      return false;
    digit->size /= part;
    tile /= part;
    if (!add_mesh_axes(mesh, (struct digit){ part, digit->stride * digit->size }, axes))
      return false;
    if (digit->size == 1)
      (*at)++;
  }
  return true;
}

/* The axes that the text calls manual must be those that are. */
static bool check_manual(const struct reader *r, const struct gs_axis_list *manual)
{
  const struct gs_mesh *mesh = r->p->mesh;
  int64_t size = 1;
  for (int a = 0; a < mesh->naxes; a++)
    size *= mesh->manual >> a & 1 ? mesh->axes[a].size : 1;
  bool right = gs_axis_list_size(manual) == size;
  for (int i = 0; i < manual->count; i++)
    right = right && (mesh->manual >> manual->items[i].axis & 1);
  return right || fail(r, "its manual devices are not along the mesh's manual axes");
}

static const struct gs_sharding *sharding_of_tiles(struct reader *r, int rank, struct tiling *t)
{
  struct gs_axis_list lists[GS_MAX_RANK] = { 0 }, rest[4] = { 0 };
  bool open[GS_MAX_RANK] = { false };
  int ndims = 0, at = 0;
  for (int i = 0; i < t->ntiles; i++)
    ndims += t->kinds[i] == TILE_DIM;
  if (ndims != rank) {
    gs_error(r->p->diagnostics, r->p->at, "sharding \"%s\": %d dims, the tensor has %d", r->text, ndims,
             rank);
    return NULL;
  }
  for (int i = 0; i < t->ntiles; i++)
    if (!take_tile(r->p->mesh, t, &at, t->tiles[i], i < rank ? &lists[i] : &rest[t->kinds[i]])) {
      fail(r, "its tiles are not along axes of the mesh");
      return NULL;
    }
  if (!check_manual(r, &rest[TILE_MANUAL]))
    return NULL;
  return make(r->p, rank, lists, open, &rest[TILE_UNREDUCED]);
}

const struct gs_sharding *gs_sharding_parse_xla(const struct gs_sharding_parse *p, int rank,
                                                const char *text)
{
  struct reader r = { p, text, text };
  struct tiling t = { 0 };
  if (accept(&r, "{devices=["))
    return read_tiling(&r, &t) ? sharding_of_tiles(&r, rank, &t) : NULL;
  static const char *const whole[] = { "{replicated}", "{manual}" };
  for (int i = 0; i < 2; i++) {
    if (!accept(&r, whole[i]))
      continue;
    if (!expect_end(&r))
      return NULL;
    /* One tile of all devices. */
    t.ntiles = rank + 1;
    for (int k = 0; k < rank; k++)
      t.tiles[k] = 1;
    t.tiles[rank] = p->mesh->ndevices;
    t.kinds[rank] = i == 0 ? TILE_REPLICATED : TILE_MANUAL;
    add_digit(&t, (struct digit){ p->mesh->ndevices, 1 });
    return sharding_of_tiles(&r, rank, &t);
  }
  fail_expected(&r, "\"{replicated}\", \"{manual}\" or \"{devices=[…\"");
  return NULL;
}

/* ---- Shardy ---- */

/* Axes that were named already, not fused. */
struct named {
  int count;
  struct gs_axis axes[4 * GS_AXES_MAX];
};

/* "x" or "x":(1)2, added to AXES. */
static bool read_axis(struct reader *r, struct named *named, struct gs_axis_list *axes)
{
  const struct gs_mesh *mesh = r->p->mesh;
  if (!expect(r, "\""))
    return false;
  size_t length = strcspn(r->at, "\"");
  int a = 0;
  while (a < mesh->naxes && (strlen(mesh->axes[a].name) != length
                             || strncmp(mesh->axes[a].name, r->at, length) != 0))
    a++;
  if (a == mesh->naxes)
    return fail_expected(r, "an axis of the mesh");
  r->at += length;
  struct gs_axis axis = gs_axis_whole(mesh, a);
  if (!expect(r, "\""))
    return false;
  if (accept(r, ":(") && (!read_number(r, &axis.pre) || !expect(r, ")") || !read_number(r, &axis.size)))
    return false;
  int64_t cut;
  if (axis.pre < 1 || axis.size < 1 || !gs_mul_size(axis.pre, axis.size, &cut)
      || mesh->axes[a].size % cut != 0)
    return fail(r, "a sub-axis does not divide its axis");
  if (axis.size > 1 && gs_axes_overlap(&axis, 1, named->axes, named->count))
    return fail(r, "an axis is used twice");
  if (named->count == 4 * GS_AXES_MAX || !gs_axis_list_add(axes, axis))
    return fail(r, "too many axes");
  if (axis.size > 1)
    named->axes[named->count++] = axis;
  return true;
}

/* "x", "y", ?} after the brace; OPEN is NULL where ? has no meaning. */
static bool read_axes(struct reader *r, struct named *named, struct gs_axis_list *axes, bool *open)
{
  if (accept(r, "}"))
    return true;
  do {
    if (open != NULL && accept(r, "?")) {
      *open = true;
      break;
    }
    if (!read_axis(r, named, axes))
      return false;
  } while (accept(r, ","));
  return expect(r, "}");
}

static bool read_dims(struct reader *r, int rank, struct named *named, struct gs_axis_list *lists,
                      bool *open)
{
  int count = 0;
  if (!expect(r, "["))
    return false;
  if (!accept(r, "]")) {
    do {
      if (!expect(r, "{"))
        return false;
      if (count == rank)
        return fail(r, "it has more dims than the tensor");
      int64_t priority;
      if (!read_axes(r, named, &lists[count], &open[count])
          || (accept(r, "p") && !read_number(r, &priority)))
        return false;
      count++;
    } while (accept(r, ","));
    if (!expect(r, "]"))
      return false;
  }
  return count == rank || fail(r, "it has fewer dims than the tensor");
}

/* "#sdy.sharding<@mesh, " */
static bool read_opening(struct reader *r, bool *bracket)
{
  bool named = accept(r, "#sdy.sharding");
  *bracket = accept(r, "<");
  if (named && !*bracket)
    return expect(r, "<");
  if (!*bracket)
    return true;
  if (!expect(r, "@"))
    return false;
  while (isalnum((unsigned char)*r->at) || *r->at == '_')
    r->at++;
  return expect(r, ",");
}

const struct gs_sharding *gs_sharding_parse_sdy(const struct gs_sharding_parse *p, int rank,
                                                const char *text)
{
  struct reader r = { p, text, text };
  struct named named = { 0 };
  struct gs_axis_list lists[GS_MAX_RANK] = { 0 }, replicated = { 0 }, partial = { 0 };
  bool open[GS_MAX_RANK] = { false }, bracket;
  if (!read_opening(&r, &bracket) || !read_dims(&r, rank, &named, lists, open))
    return NULL;
  while (accept(&r, ",")) {
    struct gs_axis_list *list = accept(&r, "replicated={") ? &replicated
                                : accept(&r, "unreduced={") ? &partial
                                                            : NULL;
    if (list == NULL) {
      fail_expected(&r, "replicated={ or unreduced={");
      return NULL;
    }
    if (!read_axes(&r, &named, list, NULL))
      return NULL;
  }
  if (bracket && !expect(&r, ">"))
    return NULL;
  if (!expect_end(&r))
    return NULL;
  return make(p, rank, lists, open, &partial);
}
