/* lang/einsum.h - an einsum call taken apart, between reading its specification (einsum.c) and
 * making nodes of it (einsum_build.c).
 *
 * Labels are numbers: A-Z, a-z, then the dims of "..." counted from the last, so that dims which
 * NumPy would align have the same label.
 */
#ifndef GS_LANG_EINSUM_H
#define GS_LANG_EINSUM_H

#include <assert.h>

#include "lang/graph.h"

enum {
  GS_EINSUM_LETTERS = 52,
  GS_EINSUM_LABELS = GS_EINSUM_LETTERS + GS_MAX_RANK
};
static_assert(GS_EINSUM_LABELS <= 64, "a set of labels fits a word");

/* An operand, an intermediate value or the result. */
struct gs_einsum_term {
  struct gs_node *node;
  int rank;
  bool ellipsis;                       /* "..." stands before labels[ellipsis_at] */
  int ellipsis_at;
  signed char labels[GS_MAX_RANK];
};

struct gs_einsum {
  struct gs_graph *graph;
  struct gs_span at;
  const char *spec;                    /* as written */
  int nterms;
  struct gs_einsum_term *terms;
  struct gs_einsum_term out;
  int64_t sizes[GS_EINSUM_LABELS];
};

/* Read SPEC and hold it against ARGS; reports in the user's words. */
bool gs_einsum_read(struct gs_einsum *e, struct gs_graph *g, struct gs_span at, const char *spec,
                    struct gs_node *const *args, int nargs);

/* The labels of TERM as a set. */
uint64_t gs_einsum_labels(const struct gs_einsum_term *term);

/* "bm,mh->bh" for terms without "..."; labels of "..." get letters that are free. */
const char *gs_einsum_text(struct gs_arena *arena, const struct gs_einsum_term *terms, int nterms,
                           const struct gs_einsum_term *out);

/* Report "einsum "spec": <message>".  Returns false. */
bool gs_einsum_error(const struct gs_einsum *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
