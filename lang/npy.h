/* lang/npy.h - NumPy's .npy files (format versions 1 to 3, little-endian, C or Fortran order).
 *
 * bf16 has no descriptor of its own: it is saved as f32.  .npz archives are read when their members
 * are stored uncompressed, as numpy.savez does.
 */
#ifndef GS_LANG_NPY_H
#define GS_LANG_NPY_H

#include "lang/diag.h"
#include "lang/tensor.h"

/* The tensor in the file PATH (for .npz: the member MEMBER, or the only one if NULL).  Reports at
 * AT and returns NULL when the file cannot be read or is malformed. */
struct gs_tensor *gs_npy_load(struct gs_budget *budget, struct gs_diagnostics *d, struct gs_span at,
                              const char *path, const char *member);

/* Write TENSOR to PATH (first to a temporary beside it, then renamed).  Reports and returns false
 * on failure. */
bool gs_npy_save(struct gs_diagnostics *d, struct gs_span at, const char *path,
                 const struct gs_tensor *tensor);

#endif
