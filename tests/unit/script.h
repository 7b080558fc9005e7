/* tests/unit/script.h - tests of programs written in the language, whose result is y. */
#ifndef GS_TESTS_UNIT_SCRIPT_H
#define GS_TESTS_UNIT_SCRIPT_H

/* TEXT runs on the CPU backend, padding poisoned, as on the reference: y is equal but for rounding. */
void script_check(const char *text);
/* The same, and every element of y is 0 but for rounding. */
void script_check_zero(const char *text);
/* What the plan of y sends, a device. */
double script_bytes(const char *text);
/* script_check, and the plan of y sends no more than MOST. */
void script_sends(const char *text, double most);
/* How many steps of the plan of y are the operator called NAME. */
int script_steps(const char *text, const char *name);
/* TEXT is refused with a message that has MESSAGE in it; the session goes on. */
void script_refused(const char *text, const char *message);

#endif
