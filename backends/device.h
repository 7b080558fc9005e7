/* backends/device.h - what one device does in the steps that depend on its position: cutting its
 * part out of a whole tensor, masks, its share of a collective.  On plain memory, for any backend.
 *
 * A collective is written from the receiving device's side: it reads the operands of the members of
 * its group through a callback and writes its own result.  Areas the program leaves undefined are
 * not written.
 */
#ifndef GS_BACKENDS_DEVICE_H
#define GS_BACKENDS_DEVICE_H

#include "partition/program.h"

/* Operand ARG of the current step at POSITION (row-major, its step's local type).  With ARG
 * GS_DEVICE_RESULT, the result that the device at POSITION wrote its share of. */
enum { GS_DEVICE_RESULT = -1 };
typedef const void *gs_device_reader(void *user, int arg, int64_t position);

/* Where all devices of a group get the same result (gs_device_is_shared), each may compute a share
 * of it and, when all have done so, collect the others': the work of one instead of that of the
 * group. */
enum gs_device_phase {
  GS_DEVICE_WHOLE,                     /* everything at once */
  GS_DEVICE_SHARE, GS_DEVICE_COLLECT
};

struct gs_device_call {
  const struct gs_program *program;
  const struct gs_step *step;
  int64_t position;                    /* of the device the result is for */
  void *result;
  gs_device_reader *read;
  void *user;
  enum gs_device_phase phase;
};

/* Whether gs_device_run knows OP: collectives, device steps, and iota. */
bool gs_device_handles(enum gs_op op);
/* Whether STEP can be run in two phases. */
bool gs_device_is_shared(const struct gs_step *step);
/* The part of STEP's result that the device at POSITION computes. */
void gs_device_run(const struct gs_device_call *call);

/* Where the device's part of STEP's value lies in the whole: BEGIN and SIZE have an entry per dim. */
void gs_device_place(const struct gs_step *step, int64_t position, int64_t *begin, int64_t *size);

/* Copy the device's part of WHOLE, a tensor of STEP's global type, to LOCAL; and back. */
void gs_device_cut(const struct gs_step *step, int64_t position, const void *whole, void *local);
void gs_device_paste(const struct gs_step *step, int64_t position, const void *local, void *whole);
/* Whether POSITION is the first of the devices that hold its part; one is enough to paste. */
bool gs_device_is_first_holder(const struct gs_program *program, const struct gs_sharding *sharding,
                               int64_t position);

#endif
