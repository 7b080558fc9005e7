/* lang/npy.c - reading and writing .npy files, and .npz archives of stored members. */
#include <config.h>

#include "lang/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/npy_format.h"

/* A file being read, and where to report what is wrong with it. */
struct reader {
  struct gs_diagnostics *diagnostics;
  struct gs_span at;
  const char *path;
  FILE *file;
};

static bool report(const struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Report "load "x.npy": <message>".  Returns false. */
static bool report(const struct reader *r, const char *format, ...)
{
  char message[512];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  gs_error(r->diagnostics, r->at, "load \"%s\": %s", r->path, message);
  return false;
}

/* SIZE bytes at OFFSET, into TO. */
static bool read_at(const struct reader *r, int64_t offset, void *to, size_t size)
{
  if (fseeko(r->file, (off_t)offset, SEEK_SET) == 0 && fread(to, 1, size, r->file) == size)
    return true;
  return report(r, ferror(r->file) ? "%s" : "cannot be read", strerror(errno));
}

/* Put elements that were stored first index fastest in row-major order. */
static void from_fortran(const struct gs_type *type, const char *from, char *to)
{
  size_t size = gs_dtype_size(type->dtype);
  int64_t position[GS_MAX_RANK] = { 0 }, elements = gs_type_elements(type);
  int64_t strides[GS_MAX_RANK];
  gs_type_strides(type, strides);
  for (int64_t i = 0; i < elements; i++) {
    int64_t offset = 0;
    for (int k = 0; k < type->rank; k++)
      offset += position[k] * strides[k];
    memcpy(to + (size_t)offset * size, from + (size_t)i * size, size);
    for (int k = 0; k < type->rank && ++position[k] == type->dims[k]; k++)
      position[k] = 0;
  }
}

/* Any byte but 0 is true in a file; a tensor has 0 and 1 only. */
static void clean_pred(struct gs_tensor *tensor)
{
  uint8_t *data = tensor->data;
  for (int64_t i = 0; i < gs_type_elements(&tensor->type); i++)
    data[i] = data[i] != 0;
}

/* The data after a header that was understood. */
static struct gs_tensor *read_data(const struct reader *r, struct gs_budget *budget,
                                   const struct gs_npy_header *header, int64_t offset, int64_t size)
{
  int64_t bytes = gs_type_bytes(&header->type);
  if (size != bytes) {
    report(r, "the data should have %" PRId64 " bytes, but %" PRId64 " are there", bytes, size);
    return NULL;
  }
  struct gs_tensor *tensor = gs_tensor_new(budget, &header->type);
  bool turn = header->fortran && header->type.rank > 1;
  struct gs_tensor *other = tensor != NULL && turn ? gs_tensor_new(budget, &header->type) : NULL;
  bool ok = tensor != NULL && (other != NULL || !turn);
  if (!ok)
    report(r, "out of memory for %" PRId64 " bytes", bytes);
  struct gs_tensor *target = turn ? other : tensor;
  ok = ok && (bytes == 0 || read_at(r, offset, target->data, (size_t)bytes));
  if (ok && turn)
    from_fortran(&header->type, other->data, tensor->data);
  if (ok && header->type.dtype == GS_DTYPE_PRED)
    clean_pred(tensor);
  gs_tensor_unref(other);
  if (ok)
    return tensor;
  gs_tensor_unref(tensor);
  return NULL;
}

/* The array that fills bytes [OFFSET, OFFSET + SIZE) of the file. */
static struct gs_tensor *read_array(const struct reader *r, struct gs_budget *budget,
                                    int64_t offset, int64_t size)
{
  unsigned char start[GS_NPY_START];
  size_t length, before;
  const char *problem = NULL;
  if (size < GS_NPY_START_SHORT) {
    report(r, "is too short to be a .npy file");
    return NULL;
  }
  size_t have = size < GS_NPY_START ? GS_NPY_START_SHORT : GS_NPY_START;
  if (!read_at(r, offset, start, have))
    return NULL;
  if (!gs_npy_parse_start(start, have, &before, &length, &problem)) {
    report(r, "%s", problem);
    return NULL;
  }
  if ((uint64_t)size < before + length || length > GS_NPY_HEADER_MOST) {
    report(r, "the header should have %zu bytes, but the file ends before", length);
    return NULL;
  }
  char *text = malloc(length + 1);
  struct gs_npy_header header;
  char message[GS_NPY_MESSAGE];
  struct gs_tensor *tensor = NULL;
  if (text == NULL) {
    report(r, "out of memory");
  } else if (read_at(r, offset + (int64_t)before, text, length)) {
    if (!gs_npy_parse_header(text, length, &header, message))
      report(r, "%s", message);
    else
      tensor = read_data(r, budget, &header, offset + (int64_t)(before + length),
                         size - (int64_t)(before + length));
  }
  free(text);
  return tensor;
}

/* Find the member in the archive of SIZE bytes, then read it. */
static struct gs_tensor *read_archive(const struct reader *r, struct gs_budget *budget,
                                      int64_t size, const char *member)
{
  size_t length = size < GS_ZIP_TAIL ? (size_t)size : GS_ZIP_TAIL;
  unsigned char *tail = malloc(length);
  struct gs_zip_directory directory;
  char message[GS_NPY_MESSAGE];
  bool ok = tail != NULL && read_at(r, size - (int64_t)length, tail, length);
  if (tail == NULL)
    report(r, "out of memory");
  if (ok && !gs_zip_find_directory(tail, length, size, &directory, message))
    ok = report(r, "%s", message);
  free(tail);
  if (!ok)
    return NULL;
  unsigned char *entries = malloc(directory.size + 1);
  struct gs_zip_member found;
  ok = entries != NULL && read_at(r, directory.offset, entries, directory.size);
  if (entries == NULL)
    report(r, "out of memory");
  if (ok && !gs_zip_find_member(entries, &directory, member, &found, message))
    ok = report(r, "%s", message);
  free(entries);
  unsigned char local[GS_ZIP_LOCAL];
  if (!ok || !read_at(r, found.offset, local, sizeof local))
    return NULL;
  int64_t data = found.offset + gs_zip_local_size(local);
  if (data > size - found.size) {
    report(r, "the archive ends before its member does");
    return NULL;
  }
  return read_array(r, budget, data, found.size);
}

struct gs_tensor *gs_npy_load(struct gs_budget *budget, struct gs_diagnostics *d, struct gs_span at,
                              const char *path, const char *member)
{
  struct reader r = { .diagnostics = d, .at = at, .path = path };
  struct stat status;
  r.file = fopen(path, "rb");
  if (r.file == NULL || fstat(fileno(r.file), &status) != 0) {
    report(&r, "%s", strerror(errno));
    if (r.file != NULL)
      fclose(r.file);
    return NULL;
  }
  struct gs_tensor *tensor = NULL;
  unsigned char magic[4] = { 0 };
  int64_t size = (int64_t)status.st_size;
  if (!S_ISREG(status.st_mode))
    report(&r, "is not a file");
  else if (size < (int64_t)sizeof magic)
    report(&r, "is too short to be a .npy file");
  else if (read_at(&r, 0, magic, sizeof magic))
    tensor = gs_zip_is_archive(magic) ? read_archive(&r, budget, size, member)
                                      : read_array(&r, budget, 0, size);
  fclose(r.file);
  return tensor;
}

/* Write TENSOR's elements; bf16 as f32, by blocks. */
static bool write_data(FILE *file, const struct gs_tensor *tensor)
{
  int64_t elements = gs_type_elements(&tensor->type);
  if (elements == 0)
    return true;
  if (tensor->type.dtype != GS_DTYPE_BF16)
    return fwrite(tensor->data, gs_dtype_size(tensor->type.dtype), (size_t)elements, file)
           == (size_t)elements;
  const uint16_t *data = tensor->data;
  for (int64_t first = 0; first < elements; first += 1024) {
    float block[1024];
    size_t count = 0;
    for (; count < 1024 && first + (int64_t)count < elements; count++)
      block[count] = gs_bf16_to_f32(data[first + (int64_t)count]);
    if (fwrite(block, sizeof block[0], count, file) != count)
      return false;
  }
  return true;
}

/* Write all into the new file at TEMPORARY.  On failure errno says why. */
static bool write_file(const char *temporary, const struct gs_tensor *tensor)
{
  int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return false;
  FILE *file = fdopen(descriptor, "wb");
  if (file == NULL) {
    close(descriptor);
    return false;
  }
  char header[GS_NPY_HEADER_ROOM];
  size_t length = gs_npy_format_header(&tensor->type, header);
  bool ok = fwrite(header, 1, length, file) == length && write_data(file, tensor);
  int error = errno;
  if (fclose(file) != 0 && ok) {
    ok = false;
    error = errno;
  }
  errno = error;
  return ok;
}

/* A device or pipe is written to directly: renaming would replace it. */
static bool write_special(const char *path, const struct gs_tensor *tensor)
{
  FILE *file = fopen(path, "wb");
  if (file == NULL)
    return false;
  char header[GS_NPY_HEADER_ROOM];
  size_t length = gs_npy_format_header(&tensor->type, header);
  bool ok = fwrite(header, 1, length, file) == length && write_data(file, tensor);
  return fclose(file) == 0 && ok;
}

bool gs_npy_save(struct gs_diagnostics *d, struct gs_span at, const char *path,
                 const struct gs_tensor *tensor)
{
  struct stat status;
  bool ok;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    ok = write_special(path, tensor);
  } else {
    size_t size = strlen(path) + 32;
    char *temporary = malloc(size);
    if (temporary == NULL) {
      gs_error(d, at, "save \"%s\": out of memory", path);
      return false;
    }
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    ok = write_file(temporary, tensor) && rename(temporary, path) == 0;
    int error = errno;
    if (!ok)
      unlink(temporary);
    free(temporary);
    errno = error;
  }
  if (!ok)
    gs_error(d, at, "save \"%s\": %s", path, strerror(errno));
  return ok;
}
