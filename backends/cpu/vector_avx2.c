/* backends/cpu/vector_avx2.c - loops for processors with AVX2 and fused multiply-add; for the lanes
 * that are left out gs_vector_any serves. */
#include <config.h>

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define TARGET _Pragma("GCC target(\"avx2,fma,f16c\")")
#endif
#define SET gs_vector_avx2
#define COMMON_LANES_ONLY
#include "backends/cpu/vector_body.inc"
