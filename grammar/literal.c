/* grammar/literal.c - from the spelling of numbers and strings to their values.
 *
 * The lexer has checked the shape already; what is left is size and escapes.
 */
#include <config.h>

#include "grammar/grammar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The digit C is; only for digits. */
static unsigned digit_value(char c)
{
  if (c >= '0' && c <= '9')
    return (unsigned)(c - '0');
  return (unsigned)((c | 0x20) - 'a') + 10;
}

bool gs_literal_integer(const char *text, size_t length, bool negated, int64_t *value,
                        const char **error)
{
  const uint64_t most = (uint64_t)INT64_MAX + negated;
  bool hexadecimal = length > 2 && text[0] == '0' && text[1] == 'x';
  uint64_t base = hexadecimal ? 16 : 10, sum = 0;
  for (size_t i = hexadecimal ? 2 : 0; i < length; i++) {
    if (text[i] == '_')
      continue;
    uint64_t digit = digit_value(text[i]);
    if (sum > (most - digit) / base) {
      *error = negated ? "this integer is too small; the smallest is -9223372036854775808"
                       : "this integer is too large; the largest is 9223372036854775807";
      return false;
    }
    sum = sum * base + digit;
  }
  *value = sum > INT64_MAX ? INT64_MIN : (int64_t)sum;
  return true;
}

bool gs_literal_float(struct gs_arena *arena, locale_t locale, const char *text, size_t length,
                      double *value, const char **error)
{
  char *plain = gs_arena_alloc(arena, length + 1);
  if (plain == NULL) {
    *error = "out of memory";
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] != '_')
      plain[n++] = text[i];
  locale_t before = uselocale(locale);
  *value = strtod(plain, NULL);
  uselocale(before);
  if (isfinite(*value))
    return true;
  *error = "this number is too large; the largest is about 1.8e308";
  return false;
}

/* Append code point C to TEXT in UTF-8. */
static void append_character(char *text, size_t *length, uint32_t c)
{
  static const uint32_t limits[] = { 0x80, 0x800, 0x10000 };
  static const unsigned char first[] = { 0x00, 0xc0, 0xe0, 0xf0 };
  unsigned tail = 0;
  while (tail < 3 && c >= limits[tail])
    tail++;
  text[(*length)++] = (char)(unsigned char)(first[tail] | c >> (6 * tail));
  while (tail-- > 0)
    text[(*length)++] = (char)(unsigned char)(0x80 | (c >> (6 * tail) & 0x3f));
}

/* COUNT hexadecimal digits at TEXT, which ends at END. */
static bool read_hexadecimal(const char *text, const char *end, int count, uint32_t *value)
{
  *value = 0;
  for (int i = 0; i < count; i++) {
    if (text + i >= end || text[i] == '\0' || strchr("0123456789abcdefABCDEF", text[i]) == NULL)
      return false;
    *value = *value * 16 + digit_value(text[i]);
  }
  return true;
}

/* The escape at *TEXT, behind the backslash; *TEXT moves past it. */
static bool read_escape(const char **text, const char *end, uint32_t *value, const char **error)
{
  static const struct {
    char letter;
    char value;
    int digits;                        /* that follow and say the value */
  } escapes[] = {
    { 'n', '\n', 0 }, { 't', '\t', 0 }, { 'r', '\r', 0 }, { '"', '"', 0 }, { '\\', '\\', 0 },
    { '\'', '\'', 0 }, { 'a', '\a', 0 }, { 'b', '\b', 0 }, { 'f', '\f', 0 }, { 'v', '\v', 0 },
    { 'e', 27, 0 }, { 'x', 0, 2 }, { 'u', 0, 4 }, { 'U', 0, 8 }
  };
  for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
    if (escapes[i].letter != **text)
      continue;
    (*text)++;
    *value = (uint32_t)escapes[i].value;
    if (escapes[i].digits == 0)
      return true;
    if (!read_hexadecimal(*text, end, escapes[i].digits, value)) {
      *error = "\\x takes two hexadecimal digits, \\u four, \\U eight";
      return false;
    }
    *text += escapes[i].digits;
    *error = "this escape is no character a string can hold";
    return *value != 0 && *value <= 0x10ffff && (*value < 0xd800 || *value > 0xdfff);
  }
  (*text)++;
  *error = "there is no such escape; a backslash is written \\\\";
  return false;
}

bool gs_literal_string(struct gs_arena *arena, const char *text, size_t length,
                       struct gs_parse_text *value, const char **error, size_t *at, size_t *until)
{
  const char *p = text + 1, *end = text + length - 1;
  char *data = gs_arena_alloc(arena, length);                /* no escape is shorter than its value */
  *value = (struct gs_parse_text){ data, 0 };
  *at = 0;
  *until = length;
  if (data == NULL) {
    *error = "out of memory";
    return false;
  }
  while (p < end) {
    if (*p != '\\') {
      data[value->length++] = *p++;
      continue;
    }
    const char *begin = p++;
    uint32_t c = 0;
    if (!read_escape(&p, end, &c, error)) {
      *at = (size_t)(begin - text);
      *until = (size_t)(p - text);
      return false;
    }
    append_character(data, &value->length, c);
  }
  data[value->length] = '\0';
  return true;
}
