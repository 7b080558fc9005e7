/* partition/program.h - the SPMD program: what every device runs.
 *
 * A list of steps in order.  Each is an operator of the table on this device's local parts; its
 * type is the local one, equal on all devices.  What differs between devices comes only from their
 * coordinates.  "part" below is gs_mesh_part(mesh, axes, naxes, position).
 *
 * Steps that have no counterpart in the graph, and their attributes (attrs->device):
 *
 *   ALL_GATHER      dim, axes: the parts of the group concatenated along dim in order of part; cut
 *                   to the step's type when that is shorter.
 *   ALL_REDUCE      axes, reduce.
 *   REDUCE_SCATTER  dim, axes, reduce: the reduced value's elements [part*L, (part+1)*L) along
 *                   dim, L the result's dim; past the operand's end undefined.
 *   ALL_TO_ALL      split_dim, dim, axes: piece q of the operand along split_dim ([q*L, (q+1)*L), L
 *                   the result's dim, past the end undefined) goes to part q; the received ones
 *                   are concatenated along dim in order of the sender's part, cut to the type.
 *   PERMUTE         from, to: each device gets the whole local part from
 *                   gs_permute_source(step, position).
 *   EXCHANGE        dim, axes, block, size, pieces, scale, offset, fill: result position j along dim
 *                   is global result position g = scale*part + offset + j.  If piece k has
 *                   first <= g < first+count and divide divides g-first, it is the element at
 *                   s = source + (g-first)/divide*step of operand piece.operand, which part s/block'
 *                   holds at s%block', block' being that operand's local dim (operands are cut
 *                   along dim by axes).  Otherwise it is fill.  s is always inside the operand.
 *                   With no axes it is local.
 *   OWN_PART        as EXCHANGE, but nothing is sent: positions whose element another part holds become
 *                   fill.  The sum over the axes is then the exchanged value.
 *   SHARD_SLICE     dim, axes: elements [part*L, (part+1)*L) of the operand along dim, L the
 *                   result's dim; past the operand's end undefined.
 *   MASK            dim, axes, block, size, fill: elements j with part*block + j >= size along dim
 *                   become fill.
 *   ZERO_PARTIAL    axes, fill: devices with part != 0 get fill everywhere.
 *   IOTA            counts from part*block (attrs->iota).
 *
 * Loops and branches open and close scopes in the list; attrs->control says which regions of the graph
 * they come from:
 *
 *   LOOP            operands: what is carried at first.  Then, in its scope, one LOOP_VALUE for each
 *                   (attrs->carried.index), steps, maybe a LOOP_TEST, steps, and LOOP_END, whose
 *                   operands are what is carried into the next turn; they all change at once.  It runs
 *                   attrs->control.trips times or, with -1, until LOOP_TEST's operand, equal on all
 *                   devices, is false.
 *   LOOP_RESULT     operand: the LOOP; what it carries as number attrs->carried.index, after its end.
 *   COND            operand: a scalar, equal on all devices.  Then the steps of the branch for true,
 *                   BRANCH_END, those of the branch for false, BRANCH_END; operands are the results.
 *   COND_RESULT     operand: the COND; result number attrs->carried.index of the branch that ran.
 *
 * INPUT, PARAM and CONSTANT steps give the device's part of the whole tensor by the step's
 * sharding; padding undefined.  Other steps are the graph's operators on local shapes.
 */
#ifndef GS_PARTITION_PROGRAM_H
#define GS_PARTITION_PROGRAM_H

#include "lang/graph.h"
#include "partition/sharding.h"

struct gs_step {
  enum gs_op op;
  int nargs;
  const int *args;                     /* indices of earlier steps */
  const union gs_attrs *attrs;
  struct gs_type type;                 /* local */
  struct gs_type global;               /* of the value this step holds (a part of) */
  const struct gs_sharding *sharding;  /* how type is cut out of global */
  const struct gs_node *node;          /* the operator it comes from: span and name; never NULL */
  const char *reason;                  /* collectives: why, in user words; NULL elsewhere */
  bool is_value;                       /* holds the node's own value (not a helper step) */
  int scope;                           /* the LOOP or COND step that it is inside of, -1: none */
  int end;                             /* LOOP, COND: the step that closes it; else -1 */
  int depth;                           /* number of scopes around it, for indentation */
  double count;                        /* how often it runs: turns of the loops around it */
};

struct gs_program_output {
  const char *name;
  int step;
  struct gs_node *node;                /* the same value in the unpartitioned graph */
};

struct gs_program {
  const struct gs_mesh *mesh;
  int nsteps;
  struct gs_step *steps;
  int noutputs;
  struct gs_program_output *outputs;
};

/* The position whose local part the device at POSITION gets. */
int64_t gs_permute_source(const struct gs_step *step, const struct gs_mesh *mesh, int64_t position);

/* The axes a collective or device step works along; of a permute, those that move.  Their number. */
enum { GS_STEP_AXES = 24 };
int gs_step_axes(const struct gs_step *step, struct gs_axis axes[GS_STEP_AXES]);
/* Devices along these axes of a collective; 1 for local steps. */
int64_t gs_step_group_size(const struct gs_step *step);
/* What a step is for people: an exchange that moves whole shards is a collective-permute. */
enum gs_op gs_step_kind(const struct gs_program *program, const struct gs_step *step);
/* Whether a collective-permute that is an exchange sends every shard on by the same number of parts, *SHIFT,
 * either past the end to the first ones (*WRAPS) or not. */
bool gs_step_shift(const struct gs_program *program, const struct gs_step *step, int64_t *shift, bool *wraps);
/* The most elements along a dim that one of PARTS parts sends to others in an exchange: part q wants
 * result positions [scale*q + offset, + length); operand k is held in parts of operand_blocks[k].
 * For more than 64 parts the most among those at the ends of the mesh and of the pieces.  Takes
 * no time that grows with lengths or parts. */
double gs_exchange_elements(int64_t parts, int64_t scale, int64_t offset, int64_t length, int npieces,
                            const struct gs_exchange_piece *pieces, const int64_t *operand_blocks);
/* Elements that PART sends. */
double gs_exchange_part_elements(int64_t parts, int64_t scale, int64_t offset, int64_t length, int npieces,
                                 const struct gs_exchange_piece *pieces, const int64_t *operand_blocks,
                                 int64_t part);
/* Bytes one device sends under a ring [LANGUAGE.md, "bytes"]; of an exchange, the most any
 * device sends. */
double gs_step_bytes(const struct gs_program *program, const struct gs_step *step);
/* Bytes the device at POSITION sends: less than that where devices differ. */
double gs_step_device_bytes(const struct gs_program *program, const struct gs_step *step, int64_t position);
/* Floating-point operations of one device. */
double gs_step_flops(const struct gs_program *program, const struct gs_step *step);

/* Live ranges.  A step whose value is another's memory (reshape, shard, a loop's result) is that step:
 * of an alias an operand or a LOOP_VALUE, of any other step itself. */
int gs_step_alias(const struct gs_program *program, int index);
/* The step at which STEP's memory is first written: that which opens the scope for what is carried or
 * chosen; else itself. */
int gs_step_begin(const struct gs_program *program, int index);
/* The last step at which the memory of OWNER is read when USER reads it: what a loop's body reads from
 * outside is read in every turn. */
int gs_step_last_use(const struct gs_program *program, int owner, int user);

struct gs_program_totals {
  double bytes;                        /* sent by one device */
  double bytes_by_op[GS_OP_COUNT];     /* collectives only */
  int collectives;
  double flops;                        /* of one device */
  double whole_flops;                  /* of the unpartitioned program */
  int64_t peak_memory;                 /* bytes of one device, live values at their highest */
  double padding;                      /* share of padding in all values' bytes */
  double time;                         /* seconds, by the mesh's profile */
};
void gs_program_total(struct gs_arena *arena, const struct gs_program *program,
                      struct gs_program_totals *totals);

/* Check the invariants above.  Returns NULL, or what is wrong with which step, in ARENA. */
const char *gs_program_verify(struct gs_arena *arena, const struct gs_program *program);

#endif
