/* lang/arena.h - memory that dies together, and the budget it is taken from.
 *
 * Syntax trees, graphs, shardings and programs live in arenas owned by one session; nothing in
 * them is freed by itself.  A pointer into an arena is valid until the arena is freed or rewound
 * past it.
 *
 * A budget counts the bytes of every arena and tensor of a session.  When it runs out the arena
 * is marked failed but small requests are still served, so that callers check once at the end of
 * a phase (gs_arena_failed) instead of at every call.  NULL comes back only when the system
 * itself refuses memory or a size overflows.
 */
#ifndef GS_LANG_ARENA_H
#define GS_LANG_ARENA_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes a session may hold; limit 0 means no limit. */
struct gs_budget {
  size_t limit;
  _Atomic size_t used;
};

/* Take BYTES from BUDGET (NULL: always granted).  False, taking nothing, when it would not fit. */
bool gs_budget_take(struct gs_budget *budget, size_t bytes);
void gs_budget_give(struct gs_budget *budget, size_t bytes);

struct gs_arena;
struct gs_arena_mark { void *chunk; size_t used; };

struct gs_arena *gs_arena_new(struct gs_budget *budget);     /* NULL: the system refused */
void gs_arena_free(struct gs_arena *arena);                  /* NULL is allowed */

/* SIZE zeroed bytes, aligned for any type. */
void *gs_arena_alloc(struct gs_arena *arena, size_t size);
/* COUNT zeroed elements of SIZE bytes; NULL when the product overflows. */
void *gs_arena_array(struct gs_arena *arena, size_t count, size_t size);
/* A copy of SIZE bytes. */
void *gs_arena_copy(struct gs_arena *arena, const void *data, size_t size);
/* A NUL-terminated copy of LENGTH characters. */
char *gs_arena_string(struct gs_arena *arena, const char *text, size_t length);
char *gs_arena_printf(struct gs_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *gs_arena_vprintf(struct gs_arena *arena, const char *format, va_list args);

struct gs_arena_mark gs_arena_mark(const struct gs_arena *arena);
void gs_arena_rewind(struct gs_arena *arena, struct gs_arena_mark mark);

/* Whether a request did not fit the budget since the arena was made or last cleared. */
bool gs_arena_failed(const struct gs_arena *arena);
void gs_arena_clear_failure(struct gs_arena *arena);
/* Bytes taken from the system. */
size_t gs_arena_size(const struct gs_arena *arena);

#define GS_NEW(arena, type) ((type *)gs_arena_alloc((arena), sizeof(type)))
#define GS_NEW_ARRAY(arena, type, count) \
  ((type *)gs_arena_array((arena), (size_t)(count), sizeof(type)))

/* A growing text in an arena.  Zero is the empty text of no arena. */
struct gs_text {
  struct gs_arena *arena;
  char *data;                          /* NUL-terminated once something was added */
  size_t length, capacity;
};
void gs_text_add(struct gs_text *text, const char *string);
void gs_text_add_bytes(struct gs_text *text, const char *bytes, size_t length);
void gs_text_printf(struct gs_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text so far, "" when empty. */
const char *gs_text_string(const struct gs_text *text);

/* Product and sum of non-negative sizes; false on overflow. */
bool gs_mul_size(int64_t a, int64_t b, int64_t *product);
bool gs_add_size(int64_t a, int64_t b, int64_t *sum);

#endif
