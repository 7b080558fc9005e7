/* tests/unit/check_npy.c - NumPy files: what is written is read again, damaged ones are refused. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/npy.h"
#include "tests/unit/fixture.h"
#include "tests/unit/run.h"

/* Every test works in a folder of its own. */
struct folder {
  struct fixture fixture;
  char path[64];
};

static void folder_init(struct folder *d)
{
  fixture_init(&d->fixture);
  strcpy(d->path, "check-npy-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(d->path));
  ck_assert_int_eq(chdir(d->path), 0);
}

static void folder_finish(struct folder *d)
{
  fixture_finish(&d->fixture);
  ck_assert_int_eq(chdir(".."), 0);
  ck_assert_int_eq(rmdir(d->path), 0);
}

static struct gs_tensor *load(struct folder *d, const char *name, const char *member)
{
  return gs_npy_load(&d->fixture.budget, &d->fixture.diagnostics, (struct gs_span){ 0 }, name,
                     member);
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
  FILE *file = fopen(name, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
  ck_assert_int_eq(fclose(file), 0);
}

/* A file of VERSION whose header is the text HEADER, then DATA_SIZE bytes 1, 2, 3, ... */
static size_t compose(unsigned char *to, int version, const char *header, size_t data_size)
{
  size_t length = strlen(header), begin = version == 1 ? 10 : 12;
  memcpy(to, "\x93NUMPY", 6);
  to[6] = (unsigned char)version;
  to[7] = 0;
  memset(to + 8, 0, 4);
  to[8] = (unsigned char)(length & 0xff);
  to[9] = (unsigned char)(length >> 8);
  memcpy(to + begin, header, length);
  for (size_t i = 0; i < data_size; i++)
    to[begin + length + i] = (unsigned char)(i + 1);
  return begin + length + data_size;
}

static const char *const shapes[] = { "[]", "[5]", "[2,3]", "[0,3]", "[2,1,3,2]" };

START_TEST(saved_files_load_again)
{
  struct folder d;
  folder_init(&d);
  for (int dtype = 0; dtype < GS_DTYPE_COUNT; dtype++) {
    char text[32];
    snprintf(text, sizeof text, "%s%s", gs_dtype_name((enum gs_dtype)dtype), shapes[_i]);
    struct gs_type type = fixture_type(text);
    struct gs_tensor *x = gs_tensor_new(NULL, &type);
    gs_tensor_fill(x, &(struct gs_fill_spec){ .argument = 1 });
    ck_assert(gs_npy_save(&d.fixture.diagnostics, (struct gs_span){ 0 }, "x.npy", x));
    struct gs_tensor *y = load(&d, "x.npy", NULL);
    ck_assert_str_eq(fixture_messages(&d.fixture), "");
    ck_assert(gs_shape_equal(&y->type, &type));
    ck_assert_int_eq((int)y->type.dtype, dtype == GS_DTYPE_BF16 ? GS_DTYPE_F32 : dtype);
    for (int64_t i = 0; i < gs_type_elements(&type); i++)
      ck_assert_double_eq(gs_element_get(y->type.dtype, y->data, i),
                          gs_element_get(type.dtype, x->data, i));
    gs_tensor_unref(x);
    gs_tensor_unref(y);
  }
  unlink("x.npy");
  folder_finish(&d);
}
END_TEST

static const struct {
  int version;
  const char *header;
  size_t data_size;
  const char *want;
} files[] = {
  { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n", 6,
    "u8[2,3] 1 2 3 4 5 6" },
  { 2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 6, "u8[2,3] 1 3 5 2 4 6" },
  { 3, "{\"shape\":(2L,3L),\"descr\":\"|i1\",\"fortran_order\":False}", 6, "s8[2,3] 1 2 3 4 5 6" },
  { 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 3, "pred[3] 1 1 1" },
  { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 1, "u8[] 1" },
  { 4, "{}", 0, "is of a .npy format version other than 1.0, 2.0 and 3.0" },
  { 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4,
    "is big-endian ('>f4'); only little-endian files can be read" },
  { 1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", 2,
    "has elements of 2 bytes without a type ('|V2'), perhaps bf16; save it as float32 instead" },
  { 1, "{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", 2,
    "has elements of type '<U5', which no element type here can hold" },
  { 1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
    "has structured elements; only numbers can be read" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 11,
    "the data should have 12 bytes, but 11 are there" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 13,
    "the data should have 12 bytes, but 13 are there" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0,
    "the shape has more elements than can be addressed" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0,
    "the shape has a size larger than can be addressed" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1), }", 4,
    "has more than 12 dims" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }", 12,
    "the header is malformed: the shape is not a tuple of sizes" },
  { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", 12,
    "the header is malformed: the shape is not a tuple of sizes" },
  { 1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }", 12,
    "the header is malformed: fortran_order is neither True nor False" },
  { 1, "{'descr': '<f4', 'shape': (3,), }", 12, "the header has no 'fortran_order'" },
  { 1, "{'descr': '<f4', 'descr': '<f4', 'shape': (3,), }", 12,
    "the header has the key 'descr' twice" },
  { 1, "{'descr': '<f4', 'colour': 1}", 12, "the header has the key 'colour' of no meaning" },
  { 1, "{'descr': '<f4", 12, "the header is malformed: a quoted word does not end" },
  { 1, "{'descr' '<f4'", 12, "the header is malformed: ':' is missing" },
  { 1, "nonsense", 12, "the header is malformed: '{' is missing" },
  { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), } x", 1,
    "the header goes on after its dictionary" },
};

/* "u8[2] 1 2", or the message without what all have in front. */
static const char *outcome(struct folder *d, const char *name, const char *member)
{
  struct gs_tensor *x = load(d, name, member);
  const char *messages = fixture_messages(&d->fixture);
  char front[64];
  snprintf(front, sizeof front, "error: load \"%s\": ", name);
  if (x == NULL) {
    ck_assert_msg(strncmp(messages, front, strlen(front)) == 0, "%s", messages);
    return gs_arena_printf(d->fixture.arena, "%.*s", (int)(strlen(messages) - strlen(front) - 1),
                           messages + strlen(front));
  }
  ck_assert_str_eq(messages, "");
  struct gs_text text = { .arena = d->fixture.arena };
  gs_type_print(&text, &x->type);
  for (int64_t i = 0; i < gs_type_elements(&x->type); i++)
    gs_text_printf(&text, " %g", gs_element_get(x->type.dtype, x->data, i));
  gs_tensor_unref(x);
  return gs_text_string(&text);
}

START_TEST(headers)
{
  struct folder d;
  unsigned char bytes[512];
  folder_init(&d);
  write_bytes("x.npy", bytes,
              compose(bytes, files[_i].version, files[_i].header, files[_i].data_size));
  ck_assert_str_eq(outcome(&d, "x.npy", NULL), files[_i].want);
  unlink("x.npy");
  folder_finish(&d);
}
END_TEST

START_TEST(every_cut_is_refused)
{
  struct folder d;
  unsigned char bytes[512];
  folder_init(&d);
  size_t size = compose(bytes, 1, files[0].header, 6);
  for (size_t cut = 0; cut < size; cut++) {
    write_bytes("x.npy", bytes, cut);
    ck_assert_ptr_null(load(&d, "x.npy", NULL));
    ck_assert_str_ne(fixture_messages(&d.fixture), "");
    ck_assert_int_eq(d.fixture.diagnostics.errors, (int)cut + 1);
  }
  unlink("x.npy");
  folder_finish(&d);
}
END_TEST

START_TEST(every_changed_byte_is_survived)
{
  struct folder d;
  unsigned char bytes[512];
  folder_init(&d);
  size_t size = compose(bytes, 1, files[0].header, 6);
  for (size_t at = 0; at < size; at++) {
    unsigned char before = bytes[at];
    for (int value = 0; value < 256; value += 5) {
      bytes[at] = (unsigned char)value;
      write_bytes("x.npy", bytes, size);
      gs_tensor_unref(load(&d, "x.npy", NULL));
    }
    bytes[at] = before;
  }
  unlink("x.npy");
  folder_finish(&d);
}
END_TEST

START_TEST(unreadable_files)
{
  struct folder d;
  folder_init(&d);
  ck_assert_str_eq(outcome(&d, "absent.npy", NULL), "No such file or directory");
  ck_assert_str_eq(outcome(&d, ".", NULL), "is not a file");
  write_bytes("x.npy", "hello, world", 12);
  ck_assert_str_eq(outcome(&d, "x.npy", NULL),
                   "is not a .npy file (it does not begin with \\x93NUMPY)");
  unsigned char bytes[512];
  write_bytes("x.npy", bytes, compose(bytes, 1, files[0].header, 6));
  d.fixture.budget.limit = 1;
  ck_assert_ptr_null(load(&d, "x.npy", NULL));
  ck_assert_str_eq(fixture_messages(&d.fixture),
                   "error: load \"x.npy\": out of memory for 6 bytes\n");
  unlink("x.npy");
  folder_finish(&d);
}
END_TEST

START_TEST(saving_fails_cleanly)
{
  struct folder d;
  folder_init(&d);
  struct gs_type type = fixture_type("f32[3]");
  struct gs_tensor *x = gs_tensor_new(NULL, &type);
  gs_tensor_fill(x, &(struct gs_fill_spec){ .argument = 1 });
  ck_assert(!gs_npy_save(&d.fixture.diagnostics, (struct gs_span){ 0 }, "absent/x.npy", x));
  ck_assert_str_eq(fixture_messages(&d.fixture),
                   "error: save \"absent/x.npy\": No such file or directory\n");
  if (access("/dev/full", W_OK) == 0) {
    ck_assert(!gs_npy_save(&d.fixture.diagnostics, (struct gs_span){ 0 }, "/dev/full", x));
    ck_assert_str_eq(fixture_messages(&d.fixture),
                     "error: save \"/dev/full\": No space left on device\n");
  }
  gs_tensor_unref(x);
  folder_finish(&d);
}
END_TEST

/* Numbers in ZIP are little-endian. */
static void put(unsigned char *archive, size_t *at, size_t bytes, uint32_t value)
{
  for (size_t i = 0; i < bytes; i++)
    archive[(*at)++] = (unsigned char)(value >> (8 * i));
}

static void put_text(unsigned char *archive, size_t *at, const void *text, size_t length)
{
  memcpy(archive + *at, text, length);
  *at += length;
}

/* An archive of the files NAMES, each the array of files[0]. */
static size_t archive_of(unsigned char *archive, const char *const *names, int count,
                         uint32_t method)
{
  unsigned char array[512];
  size_t size = compose(array, 1, files[0].header, 6), at = 0, offsets[4];
  for (int i = 0; i < count; i++) {
    offsets[i] = at;
    put(archive, &at, 4, 0x04034b50);
    for (int k = 0; k < 11; k++)       /* as NumPy does, the sizes stand in the directory only */
      put(archive, &at, 2, 0);
    put(archive, &at, 2, (uint32_t)strlen(names[i]));
    put(archive, &at, 2, 3);
    put_text(archive, &at, names[i], strlen(names[i]));
    put_text(archive, &at, "ext", 3);
    put_text(archive, &at, array, size);
  }
  size_t directory = at;
  for (int i = 0; i < count; i++) {
    put(archive, &at, 4, 0x02014b50);
    put(archive, &at, 4, 0);
    put(archive, &at, 2, 0);
    put(archive, &at, 2, method);
    put(archive, &at, 4, 0);
    put(archive, &at, 4, 0);
    put(archive, &at, 4, (uint32_t)size);
    put(archive, &at, 4, (uint32_t)size);
    put(archive, &at, 2, (uint32_t)strlen(names[i]));
    for (int k = 0; k < 6; k++)
      put(archive, &at, 2, 0);
    put(archive, &at, 4, (uint32_t)offsets[i]);
    put_text(archive, &at, names[i], strlen(names[i]));
  }
  put(archive, &at, 4, 0x06054b50);
  put(archive, &at, 4, 0);
  put(archive, &at, 2, (uint32_t)count);
  put(archive, &at, 2, (uint32_t)count);
  put(archive, &at, 4, (uint32_t)(at - 12 - directory));
  put(archive, &at, 4, (uint32_t)directory);
  put(archive, &at, 2, 0);
  return at;
}

START_TEST(archives)
{
  static const char *const names[] = { "a.npy", "weights.npy" };
  struct folder d;
  unsigned char bytes[2048];
  folder_init(&d);
  write_bytes("x.npz", bytes, archive_of(bytes, names, 2, 0));
  ck_assert_str_eq(outcome(&d, "x.npz", "weights"), files[0].want);
  ck_assert_str_eq(outcome(&d, "x.npz", "a.npy"), files[0].want);
  ck_assert_str_eq(outcome(&d, "x.npz", "b"), "has no array \"b\"; it holds a, weights");
  ck_assert_str_eq(outcome(&d, "x.npz", NULL), "name one of its arrays: a, weights");
  write_bytes("x.npz", bytes, archive_of(bytes, names, 1, 0));
  ck_assert_str_eq(outcome(&d, "x.npz", NULL), files[0].want);
  write_bytes("x.npz", bytes, archive_of(bytes, names, 1, 8));
  ck_assert_str_eq(outcome(&d, "x.npz", NULL),
                   "is compressed; save it with numpy.savez, not savez_compressed");
  write_bytes("x.npz", bytes, archive_of(bytes, names, 0, 0));
  ck_assert_str_eq(outcome(&d, "x.npz", NULL), "is an archive without arrays");
  unlink("x.npz");
  folder_finish(&d);
}
END_TEST

START_TEST(damaged_archives_are_survived)
{
  static const char *const names[] = { "a.npy", "b.npy" };
  struct folder d;
  unsigned char bytes[2048];
  folder_init(&d);
  size_t size = archive_of(bytes, names, 2, 0);
  for (size_t cut = 0; cut < size; cut++) {
    write_bytes("x.npz", bytes, cut);
    ck_assert_ptr_null(load(&d, "x.npz", "b"));
    ck_assert_str_ne(fixture_messages(&d.fixture), "");
  }
  for (size_t at = 0; at < size; at++) {
    unsigned char before = bytes[at];
    for (int value = 0; value < 256; value += 51) {
      bytes[at] = (unsigned char)value;
      write_bytes("x.npz", bytes, size);
      gs_tensor_unref(load(&d, "x.npz", "b"));
    }
    bytes[at] = before;
  }
  unlink("x.npz");
  folder_finish(&d);
}
END_TEST

RUN_TESTS("npy",
  tcase_add_loop_test(cases, saved_files_load_again, 0, sizeof shapes / sizeof *shapes);
  tcase_add_loop_test(cases, headers, 0, sizeof files / sizeof *files);
  tcase_add_test(cases, every_cut_is_refused);
  tcase_add_test(cases, every_changed_byte_is_survived);
  tcase_add_test(cases, unreadable_files);
  tcase_add_test(cases, saving_fails_cleanly);
  tcase_add_test(cases, archives);
  tcase_add_test(cases, damaged_archives_are_survived);
)
