/* partition/json.c - writing JSON: the only place where strings are escaped. */
#include <config.h>

#include "partition/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void before_value(struct gs_json *json)
{
  if (json->comma)
    gs_text_add(json->text, ",");
  json->comma = true;
}

void gs_json_open(struct gs_json *json, char bracket)
{
  before_value(json);
  gs_text_add_bytes(json->text, &bracket, 1);
  json->comma = false;
}

void gs_json_close(struct gs_json *json, char bracket)
{
  gs_text_add_bytes(json->text, &bracket, 1);
  json->comma = true;
}

int gs_utf8_length(const char *s)
{
  unsigned char c = (unsigned char)s[0];
  int length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  for (int i = 1; i < length; i++)
    if (((unsigned char)s[i] & 0xc0) != 0x80)
      return 0;
  if (length < 3)
    return length;
  unsigned char d = (unsigned char)s[1];           /* overlong, surrogates, above U+10FFFF */
  bool wrong = (c == 0xe0 && d < 0xa0) || (c == 0xed && d >= 0xa0) || (c == 0xf0 && d < 0x90)
               || (c == 0xf4 && d >= 0x90);
  return wrong ? 0 : length;
}

static void add_quoted(struct gs_text *text, const char *s)
{
  gs_text_add(text, "\"");
  while (*s != '\0') {
    int length = gs_utf8_length(s);
    unsigned char c = (unsigned char)*s;
    if (length == 0)
      gs_text_add(text, "\xef\xbf\xbd");
    else if (c == '"' || c == '\\')
      gs_text_printf(text, "\\%c", c);
    else if (c == '\n')
      gs_text_add(text, "\\n");
    else if (c < 0x20 || c == 0x7f)
      gs_text_printf(text, "\\u%04x", (unsigned)c);
    else
      gs_text_add_bytes(text, s, (size_t)length);
    s += length == 0 ? 1 : length;
  }
  gs_text_add(text, "\"");
}

void gs_json_key(struct gs_json *json, const char *key)
{
  before_value(json);
  add_quoted(json->text, key);
  gs_text_add(json->text, ":");
  json->comma = false;
}

void gs_json_string(struct gs_json *json, const char *string)
{
  if (string == NULL) {
    gs_json_null(json);
    return;
  }
  before_value(json);
  add_quoted(json->text, string);
}

void gs_json_number(struct gs_json *json, double number)
{
  if (!isfinite(number)) {
    gs_json_null(json);
    return;
  }
  before_value(json);
  char digits[40];
  snprintf(digits, sizeof digits, number == floor(number) && fabs(number) < 1e18 ? "%.0f" : "%.9g",
           number);
  if (strtod(digits, NULL) != number && (double)strtof(digits, NULL) != number)
    snprintf(digits, sizeof digits, "%.17g", number);
  gs_text_add(json->text, digits);
}

void gs_json_integer(struct gs_json *json, int64_t number)
{
  before_value(json);
  gs_text_printf(json->text, "%" PRId64, number);
}

void gs_json_bool(struct gs_json *json, bool value)
{
  before_value(json);
  gs_text_add(json->text, value ? "true" : "false");
}

void gs_json_null(struct gs_json *json)
{
  before_value(json);
  gs_text_add(json->text, "null");
}

void gs_json_put_string(struct gs_json *json, const char *key, const char *string)
{
  gs_json_key(json, key);
  gs_json_string(json, string);
}

void gs_json_put_number(struct gs_json *json, const char *key, double number)
{
  gs_json_key(json, key);
  gs_json_number(json, number);
}

void gs_json_put_integer(struct gs_json *json, const char *key, int64_t number)
{
  gs_json_key(json, key);
  gs_json_integer(json, number);
}
