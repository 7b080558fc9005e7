/* lang/arena.c - chunked arenas, the memory budget, and texts that grow in an arena. */
#include <config.h>

#include "lang/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALIGNMENT = alignof(max_align_t),
  CHUNK_FIRST = 8 << 10,
  CHUNK_LARGEST = 1 << 20,
  /* Up to this size a request is served even when the budget is spent. */
  SMALL_REQUEST = 1 << 20
};

/* A piece of memory from the system; the data follows. */
struct chunk {
  struct chunk *previous;
  size_t size, used;                   /* of the data */
  bool counted;                        /* against the budget */
  alignas(max_align_t) char data[];
};

struct gs_arena {
  struct gs_budget *budget;
  struct chunk *last;
  size_t size, next_size;
  bool failed;
};

bool gs_budget_take(struct gs_budget *budget, size_t bytes)
{
  if (budget == NULL)
    return true;
  size_t before = atomic_fetch_add(&budget->used, bytes);
  if (before + bytes >= before && (budget->limit == 0 || before + bytes <= budget->limit))
    return true;
  atomic_fetch_sub(&budget->used, bytes);
  return false;
}

void gs_budget_give(struct gs_budget *budget, size_t bytes)
{
  if (budget != NULL)
    atomic_fetch_sub(&budget->used, bytes);
}

struct gs_arena *gs_arena_new(struct gs_budget *budget)
{
  struct gs_arena *arena = malloc(sizeof *arena);
  if (arena != NULL)
    *arena = (struct gs_arena){ .budget = budget, .next_size = CHUNK_FIRST };
  return arena;
}

/* Give the newest chunk back to the system. */
static void drop_chunk(struct gs_arena *arena)
{
  struct chunk *chunk = arena->last;
  size_t bytes = sizeof *chunk + chunk->size;
  arena->last = chunk->previous;
  arena->size -= bytes;
  if (chunk->counted)
    gs_budget_give(arena->budget, bytes);
  free(chunk);
}

void gs_arena_free(struct gs_arena *arena)
{
  if (arena == NULL)
    return;
  while (arena->last != NULL)
    drop_chunk(arena);
  free(arena);
}

/* Take a chunk with room for SIZE bytes from the system; without one the arena has failed. */
static struct chunk *add_chunk(struct gs_arena *arena, size_t size)
{
  size_t room = size > arena->next_size ? size : arena->next_size;
  if (room > SIZE_MAX - sizeof(struct chunk)) {
    arena->failed = true;
    return NULL;
  }
  bool counted = gs_budget_take(arena->budget, sizeof(struct chunk) + room);
  if (!counted) {                      /* near the limit a whole chunk may be too much */
    room = size;
    counted = gs_budget_take(arena->budget, sizeof(struct chunk) + room);
  }
  if (!counted) {
    arena->failed = true;
    if (size > SMALL_REQUEST)
      return NULL;
    room = size > CHUNK_FIRST ? size : CHUNK_FIRST;
  }
  struct chunk *chunk = malloc(sizeof *chunk + room);
  if (chunk == NULL) {
    arena->failed = true;
    if (counted)
      gs_budget_give(arena->budget, sizeof *chunk + room);
    return NULL;
  }
  *chunk = (struct chunk){ .previous = arena->last, .size = room, .counted = counted };
  arena->last = chunk;
  arena->size += sizeof *chunk + room;
  if (arena->next_size < CHUNK_LARGEST)
    arena->next_size *= 2;
  return chunk;
}

/* SIZE bytes of any content. */
static void *allocate(struct gs_arena *arena, size_t size)
{
  if (size > SIZE_MAX - ALIGNMENT) {
    arena->failed = true;
    return NULL;
  }
  size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct chunk *chunk = arena->last;
  if (chunk == NULL || chunk->size - chunk->used < rounded) {
    chunk = add_chunk(arena, rounded);
    if (chunk == NULL)
      return NULL;
  }
  void *result = chunk->data + chunk->used;
  chunk->used += rounded;
  return result;
}

void *gs_arena_alloc(struct gs_arena *arena, size_t size)
{
  void *result = allocate(arena, size);
  return result == NULL ? NULL : memset(result, 0, size);
}

void *gs_arena_array(struct gs_arena *arena, size_t count, size_t size)
{
  if (size != 0 && count > SIZE_MAX / size) {
    arena->failed = true;
    return NULL;
  }
  return gs_arena_alloc(arena, count * size);
}

void *gs_arena_copy(struct gs_arena *arena, const void *data, size_t size)
{
  void *result = allocate(arena, size);
  if (result != NULL && size > 0)
    memcpy(result, data, size);
  return result;
}

char *gs_arena_string(struct gs_arena *arena, const char *text, size_t length)
{
  if (length == SIZE_MAX) {
    arena->failed = true;
    return NULL;
  }
  char *result = allocate(arena, length + 1);
  if (result == NULL)
    return NULL;
  if (length > 0)
    memcpy(result, text, length);
  result[length] = '\0';
  return result;
}

char *gs_arena_printf(struct gs_arena *arena, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *result = gs_arena_vprintf(arena, format, args);
  va_end(args);
  return result;
}

char *gs_arena_vprintf(struct gs_arena *arena, const char *format, va_list args)
{
  va_list again;
  va_copy(again, args);
  char *result = NULL;
  int length = vsnprintf(NULL, 0, format, args);
  if (length >= 0) {
    result = allocate(arena, (size_t)length + 1);
    if (result != NULL)
      vsnprintf(result, (size_t)length + 1, format, again);
  }
  va_end(again);
  return result;
}

struct gs_arena_mark gs_arena_mark(const struct gs_arena *arena)
{
  return (struct gs_arena_mark){ arena->last, arena->last == NULL ? 0 : arena->last->used };
}

void gs_arena_rewind(struct gs_arena *arena, struct gs_arena_mark mark)
{
  while (arena->last != NULL && arena->last != mark.chunk)
    drop_chunk(arena);
  if (arena->last == NULL) {
    assert(mark.chunk == NULL);        /* else the mark is of another arena */
    return;
  }
  arena->last->used = mark.used;
}

bool gs_arena_failed(const struct gs_arena *arena)
{
  return arena->failed;
}

void gs_arena_clear_failure(struct gs_arena *arena)
{
  arena->failed = false;
}

size_t gs_arena_size(const struct gs_arena *arena)
{
  return arena->size;
}

/* Make room for LENGTH more characters and the NUL. */
static bool text_reserve(struct gs_text *text, size_t length)
{
  if (text->arena == NULL || length >= SIZE_MAX / 4)
    return false;
  size_t needed = text->length + length + 1;
  if (needed <= text->capacity)
    return true;
  size_t capacity = needed < 64 ? 64 : needed + needed / 2;
  char *data = allocate(text->arena, capacity);
  if (data == NULL)
    return false;
  if (text->length > 0)
    memcpy(data, text->data, text->length);
  text->data = data;
  text->capacity = capacity;
  return true;
}

void gs_text_add_bytes(struct gs_text *text, const char *bytes, size_t length)
{
  if (!text_reserve(text, length))
    return;
  if (length > 0)
    memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void gs_text_add(struct gs_text *text, const char *string)
{
  gs_text_add_bytes(text, string, strlen(string));
}

void gs_text_printf(struct gs_text *text, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  size_t room = text->capacity > text->length ? text->capacity - text->length : 0;
  int length = vsnprintf(room > 0 ? text->data + text->length : NULL, room, format, args);
  va_end(args);
  if (length >= 0 && (size_t)length >= room) {
    if (text_reserve(text, (size_t)length)) {
      room = text->capacity - text->length;
      vsnprintf(text->data + text->length, room, format, again);
    } else {
      length = 0;
    }
  }
  va_end(again);
  if (length > 0)
    text->length += (size_t)length;
  if (text->data != NULL)
    text->data[text->length] = '\0';
}

const char *gs_text_string(const struct gs_text *text)
{
  return text->data == NULL ? "" : text->data;
}

bool gs_mul_size(int64_t a, int64_t b, int64_t *product)
{
  return !__builtin_mul_overflow(a, b, product);
}

bool gs_add_size(int64_t a, int64_t b, int64_t *sum)
{
  return !__builtin_add_overflow(a, b, sum);
}
