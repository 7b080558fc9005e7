/* interp/scope.h - variables by name.
 *
 * A scope is a table with a parent that is asked for what it does not hold.  The scope of a call
 * that no closure keeps is used again for a later call.
 */
#ifndef GS_INTERP_SCOPE_H
#define GS_INTERP_SCOPE_H

#include "interp/value.h"

struct gs_binding {
  const char *name;                    /* NULL: an empty slot */
  uint32_t hash;
  struct gs_value value;
};

struct gs_scope {
  struct gs_scope *parent;
  bool captured;                       /* a closure keeps it */
  uint32_t count, capacity;            /* capacity: a power of two, or 0 */
  struct gs_binding *bindings;
};

/* NULL: out of memory. */
struct gs_scope *gs_scope_new(struct gs_arena *arena, struct gs_scope *parent);
/* Empty it for another call. */
void gs_scope_reuse(struct gs_scope *scope, struct gs_scope *parent);

/* The binding of NAME in SCOPE or its parents, or NULL. */
struct gs_binding *gs_scope_find(struct gs_scope *scope, const char *name);
/* In SCOPE alone. */
struct gs_binding *gs_scope_find_here(struct gs_scope *scope, const char *name);
/* Bind in SCOPE itself.  NAME must outlive it.  False: out of memory. */
bool gs_scope_set(struct gs_arena *arena, struct gs_scope *scope, const char *name,
                  struct gs_value value);
/* Names bound in SCOPE itself, sorted, in ARENA. */
const char **gs_scope_names(struct gs_arena *arena, const struct gs_scope *scope, size_t *count);

#endif
