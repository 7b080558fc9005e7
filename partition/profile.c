/* partition/profile.c - the table of device profiles and the time of a step on one.
 *
 * Figures are the makers' peaks of one device (one core of a TPU v3), the links' in one direction.
 */
#include <config.h>

#include "partition/profile.h"

#include <string.h>

static const struct gs_profile table[] = {
  /* name              about                           narrow    wide     memory    link     hop */
  { "generic",          "bytes sent and FLOPs / 1000",  1e12,    1e12,    0,        1e9,     0 },
  { "cpu",              "one core of a server",         5e10,    5e10,    1e10,     5e9,     1e-6 },
  { "tpu-v3",           "one core, 2-D torus",          6.15e13, 1.03e13, 4.5e11,   7e10,    1e-6 },
  { "tpu-v4",           "3-D torus",                    2.75e14, 4.6e13,  1.2e12,   9e10,    1e-6 },
  { "a100",             "80 GB, NVLink 3",              3.12e14, 1.56e14, 2.04e12,  3e11,    3e-6 },
  { "h100",             "SXM, NVLink 4",                9.89e14, 4.94e14, 3.35e12,  4.5e11,  3e-6 },
  { "ethernet-cluster", "servers on 10 Gbit Ethernet",  1e12,    1e12,    1e11,     1.25e9,  2e-5 }
};

enum { PROFILES = sizeof table / sizeof table[0] };

const struct gs_profile *gs_profile_at(int index)
{
  return index >= 0 && index < PROFILES ? &table[index] : NULL;
}

const struct gs_profile *gs_profile_find(const char *name)
{
  for (int i = 0; i < PROFILES; i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const struct gs_profile *gs_profile_of_mesh(const struct gs_mesh *mesh)
{
  const struct gs_profile *found = mesh->profile == NULL ? NULL : gs_profile_find(mesh->profile);
  return found == NULL ? &table[0] : found;
}

/* Messages that wait for one another, in a ring of N. */
static double hops(enum gs_op op, double n)
{
  switch ((int)op) {
  case GS_OP_PERMUTE:
  case GS_OP_EXCHANGE:
    return 1;
  case GS_OP_ALL_REDUCE:
    return 2 * (n - 1);
  default:
    return n - 1;
  }
}

double gs_profile_step_time(const struct gs_profile *profile, const struct gs_program *program,
                            const struct gs_step *step, double bytes, double flops)
{
  int64_t n = gs_step_group_size(step);
  if (n > 1)
    return bytes / profile->link_bandwidth + hops(step->op, (double)n) * profile->latency;
  double rate = gs_dtype_size(step->type.dtype) <= 2 ? profile->flops_narrow : profile->flops_wide;
  double compute = flops / rate;
  if (profile->memory_bandwidth <= 0 || step->nargs == 0 || step->op == GS_OP_SHARD)
    return compute;
  double moved = (double)gs_type_bytes(&step->type);
  for (int i = 0; i < step->nargs; i++)
    moved += (double)gs_type_bytes(&program->steps[step->args[i]].type);
  double memory = moved / profile->memory_bandwidth;
  return compute > memory ? compute : memory;
}
