/* lang/einsum.c - reading einsum specifications and holding them against the operands.
 *
 * NumPy's language: letters, "...", repeated letters for diagonals, an implicit result.  Only the
 * dims of "..." broadcast; a letter has one size.
 */
#include <config.h>

#include "lang/einsum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lang/infer.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

bool gs_einsum_error(const struct gs_einsum *e, const char *format, ...)
{
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  gs_error(e->graph->diagnostics, e->at, "einsum \"%s\": %s", e->spec, message);
  return false;
}

uint64_t gs_einsum_labels(const struct gs_einsum_term *term)
{
  uint64_t set = 0;
  for (int i = 0; i < term->rank; i++)
    set |= (uint64_t)1 << term->labels[i];
  return set;
}

/* The letter of each label: its own, or for those of "..." one that TERMS leave free. */
static void choose_letters(const struct gs_einsum_term *terms, int nterms,
                           char chosen[GS_EINSUM_LABELS])
{
  uint64_t used = 0;
  for (int k = 0; k < nterms; k++)
    used |= gs_einsum_labels(&terms[k]);
  memcpy(chosen, letters, GS_EINSUM_LETTERS);
  int next = 26;                       /* a */
  for (int label = GS_EINSUM_LETTERS; label < GS_EINSUM_LABELS; label++) {
    while (next < GS_EINSUM_LETTERS && (used >> next & 1) != 0)
      next++;
    chosen[label] = next < GS_EINSUM_LETTERS ? letters[next] : '?';
    next += (used >> label & 1) != 0;
  }
}

const char *gs_einsum_text(struct gs_arena *arena, const struct gs_einsum_term *terms, int nterms,
                           const struct gs_einsum_term *out)
{
  char chosen[GS_EINSUM_LABELS];
  choose_letters(terms, nterms, chosen);
  struct gs_text text = { .arena = arena };
  for (int k = 0; k <= nterms; k++) {
    const struct gs_einsum_term *term = k < nterms ? &terms[k] : out;
    if (k > 0)
      gs_text_add(&text, k < nterms ? "," : "->");
    for (int i = 0; i < term->rank; i++)
      gs_text_add_bytes(&text, &chosen[(int)term->labels[i]], 1);
  }
  return gs_text_string(&text);
}

/* Read labels and "..." up to a comma, an arrow or the end. */
static bool read_term(const struct gs_einsum *e, const char **at, struct gs_einsum_term *term)
{
  *term = (struct gs_einsum_term){ 0 };
  for (const char *p = *at;; p++) {
    const char *letter = *p != '\0' ? strchr(letters, *p) : NULL;
    if (*p == '\0' || *p == ',' || (p[0] == '-' && p[1] == '>')) {
      *at = p;
      return true;
    }
    if (*p == ' ')
      continue;
    if (strncmp(p, "...", 3) == 0) {
      if (term->ellipsis)
        return gs_einsum_error(e, "\"...\" stands twice in one term");
      term->ellipsis = true;
      term->ellipsis_at = term->rank;
      p += 2;
    } else if (letter == NULL) {
      return gs_einsum_error(e, (unsigned char)*p > ' ' && (unsigned char)*p < 0x7f
                                    ? "'%c' is not a dimension's letter"
                                    : "byte 0x%02x is not a dimension's letter",
                             (unsigned char)*p);
    } else if (term->rank == GS_MAX_RANK) {
      return gs_einsum_error(e, "a term has more than %d dimensions", (int)GS_MAX_RANK);
    } else {
      term->labels[term->rank++] = (signed char)(letter - letters);
    }
  }
}

static int count_terms(const char *spec)
{
  int count = 1;
  for (const char *p = spec; *p != '\0' && strncmp(p, "->", 2) != 0; p++)
    count += *p == ',';
  return count;
}

/* Read all terms; EXPLICIT tells whether a result is written. */
static bool read_spec(struct gs_einsum *e, bool *explicit_out)
{
  const char *p = e->spec;
  for (int k = 0; k < e->nterms; k++) {
    p += k > 0;                        /* the comma */
    if (!read_term(e, &p, &e->terms[k]))
      return false;
  }
  *explicit_out = *p != '\0';
  if (*p == '\0')
    return true;
  p += 2;
  if (!read_term(e, &p, &e->out))
    return false;
  return *p == '\0' || gs_einsum_error(e, "after the result's dimensions comes \"%.3s\"", p);
}

/* Put labels for COUNT dims of "..." where it stands. */
static bool expand_ellipsis(const struct gs_einsum *e, struct gs_einsum_term *term, int count)
{
  if (!term->ellipsis)
    return true;
  if (term->rank + count > GS_MAX_RANK)
    return gs_einsum_error(e, "the result has %d dimensions, more than %d", term->rank + count,
                           (int)GS_MAX_RANK);
  memmove(&term->labels[term->ellipsis_at + count], &term->labels[term->ellipsis_at],
          (size_t)(term->rank - term->ellipsis_at));
  for (int i = 0; i < count; i++)
    term->labels[term->ellipsis_at + i] = (signed char)(GS_EINSUM_LETTERS + count - 1 - i);
  term->rank += count;
  return true;
}

/* Give operand K its node; its rank says how many dims its "..." stands for. */
static bool attach_operand(struct gs_einsum *e, int k, struct gs_node *node, int *ellipsis)
{
  struct gs_einsum_term *term = &e->terms[k];
  int rank = node->type.rank;
  if (term->ellipsis ? rank < term->rank : rank != term->rank)
    return gs_einsum_error(e, "%s is %s, of rank %d, but its term names %s%d dimension%s",
                           GS_OPERAND(node, k), GS_TYPE(&node->type), rank,
                           term->ellipsis ? "at least " : "", term->rank,
                           term->rank == 1 ? "" : "s");
  term->node = node;
  int count = rank - term->rank;
  if (count > *ellipsis)
    *ellipsis = count;
  return expand_ellipsis(e, term, count);
}

/* Whether every letter would have one size, the dims of "..." aside. */
static bool sizes_agree(const struct gs_einsum *e)
{
  int64_t sizes[GS_EINSUM_LABELS];
  memset(sizes, -1, sizeof sizes);
  for (int k = 0; k < e->nterms; k++) {
    const struct gs_einsum_term *term = &e->terms[k];
    for (int i = 0; i < term->rank; i++) {
      int64_t size = term->node->type.dims[i], *known = &sizes[(int)term->labels[i]];
      if (term->labels[i] < GS_EINSUM_LETTERS && *known >= 0 && *known != size)
        return false;
      *known = size;
    }
  }
  return true;
}

/* If swapping two letters of operand K makes all sizes agree, hint at that. */
static bool hint_swap(const struct gs_einsum *e, int k)
{
  struct gs_einsum_term *term = &e->terms[k];
  for (int i = 0; i < term->rank; i++) {
    for (int j = i + 1; j < term->rank; j++) {
      signed char first = term->labels[i], second = term->labels[j];
      term->labels[i] = second;
      term->labels[j] = first;
      bool agree = sizes_agree(e);
      const char *text = NULL;
      if (agree)
        text = gs_einsum_text(e->graph->arena, e->terms, e->nterms, &e->out);
      term->labels[i] = first;
      term->labels[j] = second;
      if (text != NULL) {
        gs_hint(e->graph->diagnostics, "%s is %s; did you mean \"%s\"?", GS_OPERAND(term->node, k),
                GS_TYPE(&term->node->type), text);
        return true;
      }
    }
  }
  return false;
}

/* Report that LABEL is THEIRS in operand OWNER but MINE in operand K. */
static bool report_size(const struct gs_einsum *e, int label, int owner, int64_t theirs, int k,
                        int64_t mine)
{
  const struct gs_node *other = e->terms[owner].node, *node = e->terms[k].node;
  if (owner == k)
    return gs_einsum_error(e, "dimension %c stands for %" PRId64 " and for %" PRId64 " in %s, %s",
                           letters[label], theirs, mine, GS_OPERAND(node, k), GS_TYPE(&node->type));
  if (label >= GS_EINSUM_LETTERS)
    gs_einsum_error(e, "the dimensions of \"...\" do not broadcast: %" PRId64 " in %s but %" PRId64
                    " in %s", theirs, GS_OPERAND(other, owner), mine, GS_OPERAND(node, k));
  else
    gs_einsum_error(e, "dimension %c is %" PRId64 " in %s but %" PRId64 " in %s", letters[label],
                    theirs, GS_OPERAND(other, owner), mine, GS_OPERAND(node, k));
  bool plain = strchr(e->spec, '>') != NULL && strchr(e->spec, '.') == NULL;
  if (!plain || !(hint_swap(e, k) || hint_swap(e, owner)))
    gs_note(e->graph->diagnostics, (struct gs_span){ 0 }, "%s is %s, %s is %s",
            GS_OPERAND(other, owner), GS_TYPE(&other->type), GS_OPERAND(node, k),
            GS_TYPE(&node->type));
  return false;
}

/* Find every label's size. */
static bool bind_sizes(struct gs_einsum *e)
{
  int owner[GS_EINSUM_LABELS];
  memset(e->sizes, -1, sizeof e->sizes);
  for (int k = 0; k < e->nterms; k++) {
    const struct gs_einsum_term *term = &e->terms[k];
    for (int i = 0; i < term->rank; i++) {
      int label = term->labels[i];
      int64_t size = term->node->type.dims[i], *known = &e->sizes[label];
      bool repeats = label >= GS_EINSUM_LETTERS && size == 1;
      bool widens = label >= GS_EINSUM_LETTERS && *known == 1;
      if (*known < 0 || widens) {
        *known = size;
        owner[label] = k;
      } else if (*known != size && !repeats) {
        return report_size(e, label, owner[label], *known, k, size);
      }
    }
  }
  return true;
}

/* NumPy's result when none is written: "...", then the letters that stand once, in order. */
static bool imply_out(struct gs_einsum *e, int ellipsis)
{
  int counts[GS_EINSUM_LETTERS] = { 0 };
  e->out = (struct gs_einsum_term){ .ellipsis = ellipsis > 0 };
  for (int k = 0; k < e->nterms; k++) {
    for (int i = 0; i < e->terms[k].rank; i++) {
      if (e->terms[k].labels[i] < GS_EINSUM_LETTERS)
        counts[(int)e->terms[k].labels[i]]++;
    }
  }
  for (int label = 0; label < GS_EINSUM_LETTERS; label++) {
    if (counts[label] != 1)
      continue;
    if (e->out.rank == GS_MAX_RANK)
      return gs_einsum_error(e, "the result has more than %d dimensions", (int)GS_MAX_RANK);
    e->out.labels[e->out.rank++] = (signed char)label;
  }
  return true;
}

/* The result's labels stand once each and somewhere in an operand. */
static bool check_out(const struct gs_einsum *e)
{
  uint64_t known = 0, seen = 0;
  for (int k = 0; k < e->nterms; k++)
    known |= gs_einsum_labels(&e->terms[k]);
  for (int i = 0; i < e->out.rank; i++) {
    int label = e->out.labels[i];
    if ((known >> label & 1) == 0)
      return gs_einsum_error(e, "dimension %c of the result is in no operand", letters[label]);
    if ((seen >> label & 1) != 0)
      return gs_einsum_error(e, "dimension %c stands twice in the result", letters[label]);
    seen |= (uint64_t)1 << label;
  }
  return true;
}

/* One element type for all, and not pred. */
static bool check_dtypes(const struct gs_einsum *e, struct gs_node *const *args)
{
  char what[256];
  snprintf(what, sizeof what, "einsum \"%.200s\"", e->spec);
  if (!gs_operands_same_dtype(e->graph->diagnostics, e->at, what, args, e->nterms, 0))
    return false;
  if (args[0]->type.dtype != GS_DTYPE_PRED)
    return true;
  gs_einsum_error(e, "%s is %s, but it needs an integer, float or complex type",
                  GS_OPERAND(args[0], 0), GS_TYPE(&args[0]->type));
  gs_hint(e->graph->diagnostics, "convert(%s, f32)", args[0]->name != NULL ? args[0]->name : "…");
  return false;
}

bool gs_einsum_read(struct gs_einsum *e, struct gs_graph *g, struct gs_span at, const char *spec,
                    struct gs_node *const *args, int nargs)
{
  *e = (struct gs_einsum){ .graph = g, .at = at, .spec = spec, .nterms = count_terms(spec) };
  if (e->nterms != nargs)
    return gs_einsum_error(e, "names %d operand%s, but %d %s given", e->nterms,
                           e->nterms == 1 ? "" : "s", nargs, nargs == 1 ? "is" : "are");
  e->terms = GS_NEW_ARRAY(g->arena, struct gs_einsum_term, nargs);
  bool explicit_out = false;
  if (e->terms == NULL || !read_spec(e, &explicit_out) || !check_dtypes(e, args))
    return false;
  int ellipsis = 0;
  for (int k = 0; k < nargs; k++) {
    if (!attach_operand(e, k, args[k], &ellipsis))
      return false;
  }
  if (!explicit_out && !imply_out(e, ellipsis))
    return false;
  if (explicit_out && ellipsis > 0 && !e->out.ellipsis)
    return gs_einsum_error(e, "the operands have dimensions for \"...\", but the result has none");
  return expand_ellipsis(e, &e->out, ellipsis) && check_out(e) && bind_sizes(e);
}
