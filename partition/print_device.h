/* partition/print_device.h - one device's view of a plan: what it holds and whom it talks to. */
#ifndef GS_PARTITION_PRINT_DEVICE_H
#define GS_PARTITION_PRINT_DEVICE_H

#include "partition/print_parts.h"

/* The view of device w->options->device. */
void gs_print_device(struct gs_writer *w, struct gs_view *view);
/* The position of DEVICE on the mesh, -1 when there is none; the device at a position. */
int64_t gs_mesh_position(const struct gs_mesh *mesh, int64_t device);
int64_t gs_mesh_device(const struct gs_mesh *mesh, int64_t position);

/* Devices that take part in one of a device's collectives, at most GS_MOST_PEERS of them. */
enum { GS_MOST_PEERS = 16 };
struct gs_peers {
  int64_t total;
  int count;
  int64_t devices[GS_MOST_PEERS], last;
};
/* The group of the device at POSITION in collective STEP, itself included; of an exchange and a
 * permute those it gets something from. */
void gs_step_peers(const struct gs_program *program, const struct gs_step *step, int64_t position,
                   struct gs_peers *peers);

#endif
