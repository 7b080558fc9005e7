/* tests/programs/programs.h - random programs in the language over every operator, the same for the same
 * seed.
 *
 * Values are small whole numbers wherever arithmetic lets them be, so that every order of adding gives the
 * same and results have to be equal; what is inexact is told, compared within rounding and given to
 * smooth operators only.
 */
#ifndef GS_TESTS_PROGRAMS_H
#define GS_TESTS_PROGRAMS_H

#include "gspmd.h"
#include "interp/session.h"
#include "tests/differential/dice.h"

enum { PROGRAM_STATEMENTS = 40, PROGRAM_VALUES = 40, STATEMENT_TEXT = 400 };

struct program_value {
  char name[8];
  struct gs_type type;
  bool exact;
};

/* A program while it is made: statements are tried on a session, so that types are known. */
struct program {
  struct dice dice;
  struct gs_session *session;
  int nstatements;
  char statements[PROGRAM_STATEMENTS][STATEMENT_TEXT];
  int nvalues;
  struct program_value values[PROGRAM_VALUES];
  int naxes;
  int axes[4];                         /* sizes; called a, b, c, d */
};

/* Statements of seed SEED.  The session has run them. */
void program_generate(struct program *program, uint64_t seed);
void program_release(struct program *program);

/* ---- Between the files of this folder ---- */

/* Append "NAME = TEXT", the first number NAME free, when the session takes it; false otherwise. */
bool program_add(struct program *p, bool exact, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A value of a rank of at least RANK that FITS (may be NULL) takes; NULL when there is none. */
const struct program_value *program_pick(struct program *p, int rank, bool exact,
                                         bool (*fits)(const struct gs_type *type));
/* A new input of TYPE, whole numbers from -4 to 3 (unsigned 0 to 15); maybe annotated. */
const struct program_value *program_leaf(struct program *p, const struct gs_type *type);
/* "[3,4]" of some numbers, into one of a few static buffers. */
const char *program_numbers(const int64_t *numbers, int n);
bool program_is_float(const struct gs_type *type);
bool program_is_wide_float(const struct gs_type *type);      /* f32 f64 */
bool program_is_number(const struct gs_type *type);          /* ordered */
bool program_is_summable(const struct gs_type *type);        /* sums of small numbers are exact */

/* A dim of V. */
static inline int program_dim(struct program *p, const struct program_value *v)
{
  return dice_below(&p->dice, v->type.rank);
}
/* The value of the last statement brought back to small numbers. */
bool program_tamed(struct program *p);

/* One statement of each kind of operator; false when nothing came of it. */
typedef bool program_template(struct program *p);
program_template program_manual;
program_template program_take, program_take_along, program_scatter, program_numbered, program_dynamic,
    program_one_hot;                   /* templates_index.c */
extern program_template *const program_templates[];          /* ends in NULL */

#endif
