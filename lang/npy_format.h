/* lang/npy_format.h - the bytes of .npy headers and of .npz (ZIP) directories, in memory only.
 *
 * Everything read here may be hostile; every function says in MESSAGE what is wrong with it.
 */
#ifndef GS_LANG_NPY_FORMAT_H
#define GS_LANG_NPY_FORMAT_H

#include "lang/type.h"

enum {
  GS_NPY_START_SHORT = 10,             /* magic, version, header length of version 1 */
  GS_NPY_START = 12,                   /* of versions 2 and 3 */
  GS_NPY_HEADER_MOST = 1 << 20,
  GS_NPY_HEADER_ROOM = 512,            /* of a header we write */
  GS_NPY_MESSAGE = 320,
  GS_ZIP_TAIL = 22 + 65535,            /* where the end record must begin, from the end */
  GS_ZIP_LOCAL = 30                    /* fixed part of a member's own header */
};

struct gs_npy_header {
  struct gs_type type;
  bool fortran;                        /* first index fastest */
};

/* From the first LENGTH bytes of a file: where the header text begins and how long it is. */
bool gs_npy_parse_start(const unsigned char *start, size_t length, size_t *begin, size_t *size,
                        const char **problem);
/* The header text, a Python dictionary. */
bool gs_npy_parse_header(const char *text, size_t length, struct gs_npy_header *header,
                         char message[GS_NPY_MESSAGE]);
/* All bytes before the data of a row-major tensor of TYPE.  Returns their number. */
size_t gs_npy_format_header(const struct gs_type *type, char buffer[GS_NPY_HEADER_ROOM]);

struct gs_zip_directory { int64_t offset; size_t size; int count; };
struct gs_zip_member { int64_t offset, size; };

bool gs_zip_is_archive(const unsigned char magic[4]);
/* From the last LENGTH bytes of an archive of SIZE bytes. */
bool gs_zip_find_directory(const unsigned char *tail, size_t length, int64_t size,
                           struct gs_zip_directory *directory, char message[GS_NPY_MESSAGE]);
/* The stored member NAME (with or without ".npy"), or the only one if NAME is NULL. */
bool gs_zip_find_member(const unsigned char *entries, const struct gs_zip_directory *directory,
                        const char *name, struct gs_zip_member *member,
                        char message[GS_NPY_MESSAGE]);
/* Size of a member's own header, whose fixed part is LOCAL. */
int64_t gs_zip_local_size(const unsigned char local[GS_ZIP_LOCAL]);

#endif
