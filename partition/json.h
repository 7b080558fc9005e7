/* partition/json.h - JSON written in one pass, on one line, with keys in the order given. */
#ifndef GS_PARTITION_JSON_H
#define GS_PARTITION_JSON_H

#include "lang/arena.h"

/* Zero but for TEXT to begin. */
struct gs_json {
  struct gs_text *text;
  bool comma;                          /* the next value or key follows another */
};

void gs_json_open(struct gs_json *json, char bracket);       /* '{' or '[' */
void gs_json_close(struct gs_json *json, char bracket);
void gs_json_key(struct gs_json *json, const char *key);
/* STRING may be NULL: null.  Bytes that are not UTF-8 become U+FFFD. */
void gs_json_string(struct gs_json *json, const char *string);
/* Whole numbers without a fraction; null for what JSON cannot say. */
void gs_json_number(struct gs_json *json, double number);
void gs_json_integer(struct gs_json *json, int64_t number);
void gs_json_bool(struct gs_json *json, bool value);
void gs_json_null(struct gs_json *json);

/* A key and its value. */
void gs_json_put_string(struct gs_json *json, const char *key, const char *string);
void gs_json_put_number(struct gs_json *json, const char *key, double number);
void gs_json_put_integer(struct gs_json *json, const char *key, int64_t number);

/* Bytes of the UTF-8 sequence at S, 0 when it is not a valid one. */
int gs_utf8_length(const char *s);

#endif
