/* lang/npy_format.c - .npy headers: a magic number, a version, a Python dictionary. */
#include <config.h>

#include "lang/npy_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

bool gs_npy_parse_start(const unsigned char *start, size_t length, size_t *begin, size_t *size,
                        const char **problem)
{
  if (memcmp(start, magic, sizeof magic) != 0) {
    *problem = "is not a .npy file (it does not begin with \\x93NUMPY)";
    return false;
  }
  int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    *problem = "is of a .npy format version other than 1.0, 2.0 and 3.0";
    return false;
  }
  *begin = version == 1 ? GS_NPY_START_SHORT : GS_NPY_START;
  if (length < *begin) {
    *problem = "is too short to be a .npy file";
    return false;
  }
  *size = start[8] | (size_t)start[9] << 8;
  if (version > 1)
    *size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  return true;
}

/* The dictionary being read. */
struct cursor {
  const char *at, *end;
  char *message;
};

static bool fail(struct cursor *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct cursor *c, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(c->message, GS_NPY_MESSAGE, format, args);
  va_end(args);
  return false;
}

static void skip_blanks(struct cursor *c)
{
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    c->at++;
}

/* Whether CHARACTER comes next; then it is passed. */
static bool accept(struct cursor *c, char character)
{
  skip_blanks(c);
  if (c->at == c->end || *c->at != character)
    return false;
  c->at++;
  return true;
}

static bool expect(struct cursor *c, char character)
{
  return accept(c, character) || fail(c, "the header is malformed: '%c' is missing", character);
}

/* A quoted word without escapes. */
static bool read_word(struct cursor *c, char *word, size_t room)
{
  skip_blanks(c);
  char quote = c->at < c->end ? *c->at : '\0';
  if (quote != '\'' && quote != '"')
    return fail(c, "the header is malformed: a quoted word is missing");
  const char *begin = ++c->at;
  while (c->at < c->end && *c->at != quote)
    c->at++;
  size_t length = (size_t)(c->at - begin);
  if (c->at == c->end || length >= room)
    return fail(c, "the header is malformed: a quoted word does not end");
  memcpy(word, begin, length);
  word[length] = '\0';
  c->at++;
  return true;
}

static bool read_bool(struct cursor *c, bool *value)
{
  skip_blanks(c);
  size_t left = (size_t)(c->end - c->at);
  bool yes = left >= 4 && memcmp(c->at, "True", 4) == 0;
  bool no = left >= 5 && memcmp(c->at, "False", 5) == 0;
  if (!yes && !no)
    return fail(c, "the header is malformed: fortran_order is neither True nor False");
  c->at += yes ? 4 : 5;
  *value = yes;
  return true;
}

static bool read_size(struct cursor *c, int64_t *size)
{
  skip_blanks(c);
  const char *begin = c->at;
  *size = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    if (!gs_mul_size(*size, 10, size) || !gs_add_size(*size, *c->at - '0', size))
      return fail(c, "the shape has a size larger than can be addressed");
  }
  if (c->at == begin)
    return fail(c, "the header is malformed: the shape is not a tuple of sizes");
  if (c->at < c->end && *c->at == 'L') /* Python 2's long */
    c->at++;
  return true;
}

static bool read_shape(struct cursor *c, struct gs_type *type)
{
  bool comma = true;
  type->rank = 0;
  if (!expect(c, '('))
    return false;
  while (!accept(c, ')')) {
    if (!comma)
      return fail(c, "the header is malformed: ',' is missing in the shape");
    if (type->rank == GS_MAX_RANK)
      return fail(c, "has more than %d dims", (int)GS_MAX_RANK);
    if (!read_size(c, &type->dims[type->rank++]))
      return false;
    comma = accept(c, ',');
  }
  return type->rank != 1 || comma
         || fail(c, "the header is malformed: the shape is not a tuple of sizes");
}

/* The element type that NumPy calls WORD. */
static bool find_dtype(struct cursor *c, const char *word, enum gs_dtype *dtype)
{
  for (int i = 0; i < GS_DTYPE_COUNT; i++) {
    if (strcmp(gs_dtype_npy((enum gs_dtype)i), word) == 0) {
      *dtype = (enum gs_dtype)i;       /* f32 comes before bf16, which shares its word */
      return true;
    }
  }
  if (word[0] == '>')
    return fail(c, "is big-endian ('%.40s'); only little-endian files can be read", word);
  if (strcmp(word, "|V2") == 0 || strcmp(word, "<V2") == 0)
    return fail(c, "has elements of 2 bytes without a type ('%s'), perhaps bf16; "
                "save it as float32 instead", word);
  return fail(c, "has elements of type '%.40s', which no element type here can hold", word);
}

static bool read_dtype(struct cursor *c, enum gs_dtype *dtype)
{
  char word[64];
  skip_blanks(c);
  if (c->at < c->end && *c->at == '[')
    return fail(c, "has structured elements; only numbers can be read");
  return read_word(c, word, sizeof word) && find_dtype(c, word, dtype);
}

bool gs_npy_parse_header(const char *text, size_t length, struct gs_npy_header *header,
                         char message[GS_NPY_MESSAGE])
{
  enum { DESCR, FORTRAN, SHAPE, KEYS };
  static const char *const keys[KEYS] = { "descr", "fortran_order", "shape" };
  struct cursor c = { text, text + length, message };
  bool seen[KEYS] = { false };
  *header = (struct gs_npy_header){ 0 };
  if (!expect(&c, '{'))
    return false;
  while (!accept(&c, '}')) {
    char word[32];
    if (!read_word(&c, word, sizeof word) || !expect(&c, ':'))
      return false;
    int key = 0;
    while (key < KEYS && strcmp(keys[key], word) != 0)
      key++;
    if (key == KEYS || seen[key])
      return fail(&c, "the header has the key '%s' %s", word,
                  key == KEYS ? "of no meaning" : "twice");
    seen[key] = true;
    bool ok = key == DESCR     ? read_dtype(&c, &header->type.dtype)
              : key == FORTRAN ? read_bool(&c, &header->fortran)
                               : read_shape(&c, &header->type);
    if (!ok)
      return false;
    skip_blanks(&c);
    if (!accept(&c, ',') && (c.at == c.end || *c.at != '}'))
      return fail(&c, "the header is malformed: ',' is missing");
  }
  for (int key = 0; key < KEYS; key++) {
    if (!seen[key])
      return fail(&c, "the header has no '%s'", keys[key]);
  }
  skip_blanks(&c);
  if (c.at != c.end)
    return fail(&c, "the header goes on after its dictionary");
  return gs_type_valid(&header->type)
         || fail(&c, "the shape has more elements than can be addressed");
}

size_t gs_npy_format_header(const struct gs_type *type, char buffer[GS_NPY_HEADER_ROOM])
{
  int length = GS_NPY_START_SHORT;
  length += snprintf(buffer + length, (size_t)(GS_NPY_HEADER_ROOM - length),
                     "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     gs_dtype_npy(type->dtype));
  for (int i = 0; i < type->rank; i++)
    length += snprintf(buffer + length, (size_t)(GS_NPY_HEADER_ROOM - length), "%s%" PRId64 "%s",
                       i > 0 ? " " : "", type->dims[i],
                       i + 1 < type->rank || type->rank == 1 ? "," : "");
  length += snprintf(buffer + length, (size_t)(GS_NPY_HEADER_ROOM - length), "), }");
  /* NumPy aligns the data to 64 bytes with blanks and a newline. */
  int end = (length + 1 + 63) / 64 * 64;
  memset(buffer + length, ' ', (size_t)(end - 1 - length));
  buffer[end - 1] = '\n';
  memcpy(buffer, magic, sizeof magic);
  buffer[6] = 1;
  buffer[7] = 0;
  buffer[8] = (char)((end - GS_NPY_START_SHORT) & 0xff);
  buffer[9] = (char)((end - GS_NPY_START_SHORT) >> 8);
  return (size_t)end;
}
