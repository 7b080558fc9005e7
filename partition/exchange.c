/* partition/exchange.c - how much an interval exchange sends, without looking at every device.
 *
 * Part q wants the result positions [scale*q + offset, + length) of a dim.  What part p sends is
 * counted per piece: its own elements are a range of the piece's steps t, and how many (t, q) pairs
 * meet is a sum of floors, which Euclid's algorithm gives without a loop over q or t.
 */
#include <config.h>

#include "partition/program.h"

enum { ALL_PARTS = 64, EDGE_PARTS = 16, MIDDLE_PARTS = 8, BOUNDARY_PIECES = 8 };

/* Steps [begin, end) of a piece whose sources one part owns. */
struct steps { int64_t begin, end; };

/* The windows of all parts, scale never negative (the parts are then counted from the end). */
struct windows { int64_t parts, scale, offset, length; };

static int64_t ceil_div(int64_t a, int64_t b)
{
  return -gs_floor_div(-a, b);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
  return value < low ? low : value > high ? high : value;
}

/* Sum over i in [0, n) of floor((a*i + b) / m), modulo 2^64: only differences that fit are used. */
static uint64_t floor_sum(uint64_t n, uint64_t m, uint64_t a, uint64_t b)
{
  uint64_t sum = 0;
  while (n > 0) {
    uint64_t pairs = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    sum += pairs * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    uint64_t top = a * n + b;
    if (top < m)
      break;
    /* Count the lattice points under the line column by column of the other axis instead. */
    n = top / m;
    b = top % m;
    uint64_t old = m;
    m = a;
    a = old;
  }
  return sum;
}

/* Steps of T before result position scale*q + c, C counting in DIVIDE from the piece's first. */
static int64_t steps_before(struct steps t, int64_t position, int64_t divide)
{
  return clamp(gs_floor_div(position, divide), t.begin, t.end);
}

/* Sum of steps_before over all parts, modulo 2^64. */
static uint64_t sum_before(const struct windows *w, struct steps t, int64_t c, int64_t divide)
{
  if (w->scale == 0)
    return (uint64_t)w->parts * (uint64_t)steps_before(t, c, divide);
  int64_t inside = clamp(ceil_div(t.begin * divide - c, w->scale), 0, w->parts);
  int64_t above = clamp(ceil_div(t.end * divide - c, w->scale), inside, w->parts);
  uint64_t sum = (uint64_t)t.begin * (uint64_t)inside
                 + (uint64_t)t.end * (uint64_t)(w->parts - above);
  if (above > inside)
    sum += floor_sum((uint64_t)(above - inside), (uint64_t)divide, (uint64_t)w->scale,
                     (uint64_t)(w->scale * inside + c));
  return sum;
}

static struct steps steps_owned(const struct gs_exchange_piece *piece, int64_t block, int64_t part)
{
  int64_t count = ceil_div(piece->count, piece->divide);
  int64_t low = part * block, high = low + block;    /* the sources that PART owns */
  struct steps t = { 0, count };
  if (piece->step > 0) {
    t.begin = ceil_div(low - piece->source, piece->step);
    t.end = ceil_div(high - piece->source, piece->step);
  } else if (piece->step < 0) {
    t.begin = ceil_div(piece->source - high + 1, -piece->step);
    t.end = gs_floor_div(piece->source - low, -piece->step) + 1;
  } else if (piece->source < low || piece->source >= high) {
    t.end = 0;
  }
  t.begin = clamp(t.begin, 0, count);
  t.end = clamp(t.end, t.begin, count);
  return t;
}

/* Elements of PIECE that PART sends to the others; MIRRORED: windows count parts from the end. */
static double piece_elements(const struct windows *w, bool mirrored,
                             const struct gs_exchange_piece *piece, int64_t block, int64_t part)
{
  struct steps t = steps_owned(piece, block, part);
  if (t.end == t.begin)
    return 0;
  int64_t begin = w->offset - piece->first + piece->divide - 1;
  int64_t end = begin + w->length;
  uint64_t all = sum_before(w, t, end, piece->divide) - sum_before(w, t, begin, piece->divide);
  int64_t own_start = w->scale * (mirrored ? w->parts - 1 - part : part);
  int64_t own = steps_before(t, own_start + end, piece->divide)
                - steps_before(t, own_start + begin, piece->divide);
  return (double)(int64_t)(all - (uint64_t)own);
}

struct search {
  struct windows windows;
  bool mirrored;
  int npieces;
  const struct gs_exchange_piece *pieces;
  const int64_t *blocks;
  double most;
};

/* Elements that PART sends of all pieces. */
static double part_elements(const struct search *s, int64_t part)
{
  double sum = 0;
  for (int i = 0; i < s->npieces; i++) {
    const struct gs_exchange_piece *piece = &s->pieces[i];
    int64_t block = s->blocks[piece->operand];
    if (block > 0 && piece->count > 0 && piece->divide > 0)
      sum += piece_elements(&s->windows, s->mirrored, piece, block, part);
  }
  return sum;
}

static void consider(struct search *s, int64_t part)
{
  double sum = part >= 0 && part < s->windows.parts ? part_elements(s, part) : 0;
  if (sum > s->most)
    s->most = sum;
}

/* Among many parts the sums are linear in between the ends of the pieces: look there, at both ends
 * of the mesh and here and there in the middle. */
static void consider_some(struct search *s)
{
  int64_t parts = s->windows.parts;
  for (int64_t i = 0; i < EDGE_PARTS; i++) {
    consider(s, i);
    consider(s, parts - 1 - i);
  }
  for (int64_t i = 1; i <= MIDDLE_PARTS; i++)
    consider(s, parts / (MIDDLE_PARTS + 1) * i);
  for (int i = 0; i < s->npieces && i < BOUNDARY_PIECES; i++) {
    const struct gs_exchange_piece *piece = &s->pieces[i];
    int64_t block = s->blocks[piece->operand];
    if (block <= 0 || piece->count <= 0 || piece->divide <= 0)
      continue;
    int64_t last = piece->source + (ceil_div(piece->count, piece->divide) - 1) * piece->step;
    for (int64_t near = -1; near <= 1; near++) {
      consider(s, piece->source / block + near);
      consider(s, last / block + near);
    }
  }
}

static struct search search_of(int64_t parts, int64_t scale, int64_t offset, int64_t length, int npieces,
                               const struct gs_exchange_piece *pieces, const int64_t *operand_blocks)
{
  struct search s = { .windows = { parts, scale, offset, length }, .npieces = npieces,
                      .pieces = pieces, .blocks = operand_blocks };
  if (scale < 0) {
    s.mirrored = true;
    s.windows.scale = -scale;
    s.windows.offset = offset + scale * (parts - 1);
  }
  return s;
}

double gs_exchange_elements(int64_t parts, int64_t scale, int64_t offset, int64_t length,
                            int npieces, const struct gs_exchange_piece *pieces,
                            const int64_t *operand_blocks)
{
  if (parts <= 1 || length <= 0)
    return 0;
  struct search s = search_of(parts, scale, offset, length, npieces, pieces, operand_blocks);
  if (parts <= ALL_PARTS)
    for (int64_t i = 0; i < parts; i++)
      consider(&s, i);
  else
    consider_some(&s);
  return s.most;
}

double gs_exchange_part_elements(int64_t parts, int64_t scale, int64_t offset, int64_t length,
                                 int npieces, const struct gs_exchange_piece *pieces,
                                 const int64_t *operand_blocks, int64_t part)
{
  if (parts <= 1 || length <= 0)
    return 0;
  struct search s = search_of(parts, scale, offset, length, npieces, pieces, operand_blocks);
  return part_elements(&s, part);
}
