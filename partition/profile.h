/* partition/profile.h - how fast devices and the links between them are.
 *
 * A mesh names a profile or runs on the generic one, whose seconds are the planner's objective:
 * bytes sent and a thousandth of the FLOPs, in billions.
 */
#ifndef GS_PARTITION_PROFILE_H
#define GS_PARTITION_PROFILE_H

#include "partition/program.h"

struct gs_profile {
  const char *name, *about;
  double flops_narrow, flops_wide;     /* a second, on elements of up to 2 bytes and of more */
  double memory_bandwidth;             /* bytes a second; 0: never the limit */
  double link_bandwidth;               /* bytes a second that one device sends */
  double latency;                      /* seconds of one hop */
};

/* The profile called NAME, or NULL. */
const struct gs_profile *gs_profile_find(const char *name);
/* Profile INDEX in the order they are listed; NULL past the last. */
const struct gs_profile *gs_profile_at(int index);
/* Never NULL: generic where the mesh names none that is known. */
const struct gs_profile *gs_profile_of_mesh(const struct gs_mesh *mesh);

/* Seconds of STEP, which sends BYTES and does FLOPS. */
double gs_profile_step_time(const struct gs_profile *profile, const struct gs_program *program,
                            const struct gs_step *step, double bytes, double flops);

#endif
