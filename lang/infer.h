/* lang/infer.h - result types of operators: gs_infer_<name> for every name in the infer column of
 * ops.def, and the words their messages share.
 *
 * An infer function looks at the operands' types and the attributes only.  Messages name the
 * operator first, then what was found, in the user's names where operands have them.
 */
#ifndef GS_LANG_INFER_H
#define GS_LANG_INFER_H

#include "lang/graph.h"

#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  gs_infer_function gs_infer_##infer;
#include "lang/ops.def"
#undef GS_OP

/* "w1", or "operand 2" (INDEX 1) in BUFFER when the node has no name. */
enum { GS_OPERAND_TEXT = 24 };
const char *gs_operand_name(const struct gs_node *node, int index, char buffer[GS_OPERAND_TEXT]);

/* These make texts that live to the end of the enclosing block. */
#define GS_OPERAND(node, index) gs_operand_name((node), (index), (char[GS_OPERAND_TEXT]){ 0 })
#define GS_TYPE(type) gs_type_format((type), (char[GS_TYPE_TEXT]){ 0 })

/* Report "<operator>: <message>".  Returns false. */
bool gs_infer_error(const struct gs_infer *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether operands FIRST.. have one element type; reports as WHAT, naming convert. */
bool gs_operands_same_dtype(struct gs_diagnostics *d, struct gs_span at, const char *what,
                            struct gs_node *const *args, int nargs, int first);
/* Whether DIM is one of the operand's; reports. */
bool gs_infer_check_dim(const struct gs_infer *in, int dim);
/* Likewise for a set of dims. */
bool gs_infer_check_dim_set(const struct gs_infer *in, uint32_t dims);

#endif
