/* backends/cpu/vector_any.c - loops that every processor runs. */
#include <config.h>

#define SET gs_vector_any
#include "backends/cpu/vector_body.inc"
