/* partition/rule_transform.c - factor rules of transforms and matrices: batch dims pass, the dims they work on
 * cannot be cut but for transforms between complex numbers; random numbers are made where they are wanted. */
#include <config.h>

#include "partition/rule_draft.h"

void gs_rule_random(struct gs_rule_draft *d)
{
  for (int i = 0; i < d->node->type.rank; i++)
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, GS_FACTOR_PASS, d->node->type.dims[i], 0));
}

/* Dim I of operand ARG passes to dim TO of the result. */
static void pass(struct gs_rule_draft *d, int arg, int i, int to)
{
  int f = gs_rule_add_factor(d, GS_FACTOR_PASS, d->node->type.dims[to], 1);
  gs_rule_put(&d->arg[arg][i], f);
  gs_rule_put(&d->result[to], f);
}

static void opaque_operand(struct gs_rule_draft *d, int arg, int i)
{
  gs_rule_put(&d->arg[arg][i], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, d->node->args[arg]->type.dims[i], 1));
}

static void opaque_result(struct gs_rule_draft *d, int i)
{
  gs_rule_put(&d->result[i], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, d->node->type.dims[i], 1));
}

/* A transform that leaves the size as it is can run along a cut dim. */
void gs_rule_fft(struct gs_rule_draft *d)
{
  enum gs_fft_kind kind = d->node->attrs->fft.kind;
  for (int i = 0; i < d->node->type.rank; i++)
    if (i != d->node->attrs->fft.dim) {
      pass(d, 0, i, i);
    } else if (kind == GS_FFT || kind == GS_IFFT) {
      int f = gs_rule_add_factor(d, GS_FACTOR_SPECIAL, d->node->type.dims[i], 2);
      gs_rule_put(&d->arg[0][i], f);
      gs_rule_put(&d->result[i], f);
    } else {
      opaque_operand(d, 0, i);
      opaque_result(d, i);
    }
}

void gs_rule_matrix(struct gs_rule_draft *d)
{
  int rank = d->node->type.rank;
  for (int i = 0; i < rank; i++)
    if (i < rank - 2) {
      pass(d, 0, i, i);
    } else {
      opaque_operand(d, 0, i);
      opaque_result(d, i);
    }
}

void gs_rule_solve(struct gs_rule_draft *d)
{
  int rank = d->node->type.rank, sides = d->node->attrs->solve.left ? rank - 1 : rank - 2;
  for (int i = 0; i < rank; i++) {
    if (i >= rank - 2)
      opaque_operand(d, 0, i);
    if (i < rank - 2 || i == sides) {
      pass(d, 1, i, i);
      if (i < rank - 2)
        d->arg[0][i] = d->result[i];
    } else {
      opaque_operand(d, 1, i);
      opaque_result(d, i);
    }
  }
}

/* The dim that comes or goes holds the pieces of one element. */
void gs_rule_bitcast(struct gs_rule_draft *d)
{
  int in = d->node->args[0]->type.rank, out = d->node->type.rank;
  for (int i = 0; i < in && i < out; i++) {
    int f = gs_rule_add_factor(d, GS_FACTOR_PASS, d->node->type.dims[i], 0);
    gs_rule_put(&d->arg[0][i], f);
    gs_rule_put(&d->result[i], f);
  }
  if (in > out)
    opaque_operand(d, 0, in - 1);
  if (out > in)
    opaque_result(d, out - 1);
}
