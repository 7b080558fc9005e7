/* interp/functions_text.c - strings: str, join, and match, replace, split by regular expressions.
 */
#include <config.h>

#include "interp/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "interp/eval.h"

/* Matching may not take for ever, or all of the stack or memory. */
enum { MATCH_LIMIT = 10000000, DEPTH_LIMIT = 1000000, HEAP_LIMIT_KIB = 65536, MESSAGE_SIZE = 128 };

struct gs_regex {
  pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *context;
};

void gs_regex_free(struct gs_regex *regex)
{
  if (regex == NULL)
    return;
  pcre2_match_context_free(regex->context);
  pcre2_match_data_free(regex->data);
  pcre2_code_free(regex->code);
  free(regex);
}

struct gs_regex *gs_regex_new(struct gs_session *s, struct gs_span at, const char *pattern,
                              bool caseless)
{
  struct gs_regex *regex = calloc(1, sizeof *regex);
  if (regex == NULL) {
    gs_session_out_of_memory(s, at);
    return NULL;
  }
  int error;
  PCRE2_SIZE offset;
  uint32_t options = PCRE2_UTF | (caseless ? PCRE2_CASELESS : 0);
  regex->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error, &offset,
                              NULL);
  if (regex->code == NULL) {
    PCRE2_UCHAR message[MESSAGE_SIZE];
    pcre2_get_error_message(error, message, sizeof message);
    gs_session_fail(s, at, "regular expression \"%s\": %s, at character %zu", pattern,
                    (const char *)message, (size_t)offset);
    gs_regex_free(regex);
    return NULL;
  }
  regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
  regex->context = pcre2_match_context_create(NULL);
  if (regex->data == NULL || regex->context == NULL) {
    gs_regex_free(regex);
    gs_session_out_of_memory(s, at);
    return NULL;
  }
  pcre2_set_match_limit(regex->context, MATCH_LIMIT);
  pcre2_set_depth_limit(regex->context, DEPTH_LIMIT);
  pcre2_set_heap_limit(regex->context, HEAP_LIMIT_KIB);
  return regex;
}

/* The first match from START on; -1: none, or too hard to find. */
static int match_from(const struct gs_regex *regex, const char *text, size_t length, size_t start,
                      uint32_t options)
{
  int count = pcre2_match(regex->code, (PCRE2_SPTR)text, length, start, options, regex->data,
                          regex->context);
  return count < 0 ? -1 : count;
}

bool gs_regex_matches(const struct gs_regex *regex, const char *text, size_t length)
{
  return match_from(regex, text, length, 0, 0) >= 0;
}

static bool finish(struct gs_call *call, struct gs_value *out)
{
  return out->kind != GS_VALUE_ABSENT || gs_session_out_of_memory(call->session, call->span);
}

/* The string and the expression of a call. */
static struct gs_regex *regex_of(struct gs_call *call, struct gs_value *subject)
{
  const char *text, *pattern;
  if (!gs_arg_string(call, 0, &text) || !gs_arg_string(call, 1, &pattern))
    return NULL;
  *subject = call->args[0].value;
  return gs_regex_new(call->session, call->args[1].span, pattern, false);
}

/* The match's groups as a list, the whole first; none without a match. */
static bool function_match(struct gs_call *call, struct gs_value *out)
{
  struct gs_value text;
  struct gs_regex *regex = regex_of(call, &text);
  if (regex == NULL)
    return false;
  int count = match_from(regex, text.text, text.length, 0, 0);
  *out = gs_value_none();
  if (count > 0) {
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(regex->data);
    *out = gs_value_list(call->session->values, GS_VALUE_LIST, (size_t)count);
    for (int i = 0; i < count && out->kind != GS_VALUE_ABSENT; i++) {
      struct gs_value *item = gs_value_item(*out, (size_t)i);
      *item = ends[2 * i] == PCRE2_UNSET
                  ? gs_value_none()
                  : gs_value_string(call->session->values, text.text + ends[2 * i],
                                    ends[2 * i + 1] - ends[2 * i]);
      if (item->kind == GS_VALUE_ABSENT)
        out->kind = GS_VALUE_ABSENT;
    }
  }
  gs_regex_free(regex);
  return finish(call, out);
}

static bool substitute(struct gs_call *call, const struct gs_regex *regex, struct gs_value text,
                       struct gs_value with, struct gs_value *out)
{
  struct gs_session *s = call->session;
  PCRE2_SIZE room = (PCRE2_SIZE)text.length + with.length + 256;
  for (int attempt = 0; attempt < 2; attempt++) {
    PCRE2_UCHAR *result = gs_arena_alloc(s->values, room);
    if (result == NULL || gs_arena_failed(s->values))
      return gs_session_out_of_memory(s, call->span);
    PCRE2_SIZE length = room;
    int count = pcre2_substitute(regex->code, (PCRE2_SPTR)text.text, text.length, 0,
                                 PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH,
                                 regex->data, regex->context, (PCRE2_SPTR)with.text, with.length,
                                 result, &length);
    if (count >= 0) {
      *out = gs_value_string(s->values, (const char *)result, length);
      return finish(call, out);
    }
    if (count != PCRE2_ERROR_NOMEMORY) {
      PCRE2_UCHAR message[MESSAGE_SIZE];
      pcre2_get_error_message(count, message, sizeof message);
      return gs_session_fail(s, call->span, "replace: %s", (const char *)message);
    }
    room = length + 1;
  }
  return gs_session_out_of_memory(s, call->span);
}

static bool function_replace(struct gs_call *call, struct gs_value *out)
{
  struct gs_value text;
  const char *with;
  if (!gs_arg_string(call, 2, &with))
    return false;
  struct gs_regex *regex = regex_of(call, &text);
  if (regex == NULL)
    return false;
  bool ok = substitute(call, regex, text, call->args[2].value, out);
  gs_regex_free(regex);
  return ok;
}

static bool add_piece(struct gs_call *call, struct gs_value *list, const char *text, size_t length)
{
  struct gs_value piece = gs_value_string(call->session->values, text, length);
  if (piece.kind != GS_VALUE_ABSENT)
    *list = gs_value_append(call->session->values, *list, piece);
  return piece.kind != GS_VALUE_ABSENT && list->kind != GS_VALUE_ABSENT;
}

bool gs_regex_split(struct gs_call *call, struct gs_value *out)
{
  struct gs_value text;
  struct gs_regex *regex = regex_of(call, &text);
  if (regex == NULL)
    return false;
  *out = gs_value_list(call->session->values, GS_VALUE_LIST, 0);
  size_t begin = 0, from = 0;
  bool ok = out->kind != GS_VALUE_ABSENT;
  /* Empty matches separate characters; the one at the very end separates nothing. */
  while (ok && from <= text.length &&
         match_from(regex, text.text, text.length, from, PCRE2_NOTEMPTY_ATSTART) >= 0) {
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(regex->data);
    if (ends[0] == ends[1] && ends[0] >= text.length)
      break;
    ok = add_piece(call, out, text.text + begin, ends[0] - begin);
    begin = ends[1];
    from = ends[1];
  }
  ok = ok && add_piece(call, out, text.text + begin, text.length - begin);
  gs_regex_free(regex);
  return ok || gs_session_out_of_memory(call->session, call->span);
}

static bool function_str(struct gs_call *call, struct gs_value *out)
{
  struct gs_text text = { .arena = call->session->values };
  gs_value_print(&text, call->args[0].value, false);
  *out = gs_value_string(call->session->values, gs_text_string(&text), text.length);
  return finish(call, out);
}

static bool function_join(struct gs_call *call, struct gs_value *out)
{
  struct gs_value list;
  const char *between = "";
  struct gs_text text = { .arena = call->session->values };
  if (!gs_arg_sequence(call, 0, &list) ||
      (gs_arg_given(call, 1) && !gs_arg_string(call, 1, &between)))
    return false;
  for (uint32_t i = 0; i < list.length; i++) {
    if (i > 0)
      gs_text_add(&text, between);
    gs_value_print(&text, *gs_value_item(list, i), false);
  }
  *out = gs_value_string(call->session->values, gs_text_string(&text), text.length);
  return finish(call, out);
}

const struct gs_builtin gs_builtins_text[] = {
  { "str", "x", function_str, GS_OP_COUNT, GS_TOPIC_TEXT, "str(12)", "a value as a string" },
  { "join", "xs between?", function_join, GS_OP_COUNT, GS_TOPIC_TEXT, "join([1, 2], \", \")",
    "the items of a list as one string" },
  { "match", "text regex", function_match, GS_OP_COUNT, GS_TOPIC_TEXT,
    "match(\"w12\", \"([a-z])([0-9]+)\")",
    "the first match and its groups as a list of strings; none without one" },
  { "replace", "text regex with", function_replace, GS_OP_COUNT, GS_TOPIC_TEXT,
    "replace(\"w1 w2\", \"w([0-9])\", \"b$1\")", "every match replaced; $1 is the first group" },
  { 0 },
};
