/* interp/regex.h - regular expressions (PCRE2, UTF-8) for strings and for :ops, :vars, :help. */
#ifndef GS_INTERP_REGEX_H
#define GS_INTERP_REGEX_H

#include "interp/builtin.h"

struct gs_regex;

/* Compile PATTERN, any case where CASELESS.  NULL: reported at AT.  To be freed. */
struct gs_regex *gs_regex_new(struct gs_session *s, struct gs_span at, const char *pattern,
                              bool caseless);
void gs_regex_free(struct gs_regex *regex);
/* Whether it matches anywhere in TEXT. */
bool gs_regex_matches(const struct gs_regex *regex, const char *text, size_t length);

/* split("a, b", ", *"), called by split() when given a string. */
bool gs_regex_split(struct gs_call *call, struct gs_value *out);

#endif
