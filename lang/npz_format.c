/* lang/npz_format.c - the directory of a ZIP archive, as far as .npz files need it: one disk, no
 * encryption, stored members below 4 GiB.
 */
#include <config.h>

#include "lang/npy_format.h"

#include <stdio.h>
#include <string.h>

enum {
  END_RECORD = 22,
  ENTRY = 46,                          /* fixed part of a directory entry */
  STORED = 0,
  ENCRYPTED = 1                        /* flag bit */
};

/* Little-endian numbers. */
static uint32_t read16(const unsigned char *at)
{
  return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t read32(const unsigned char *at)
{
  return read16(at) | read16(at + 2) << 16;
}

static bool fail(char message[GS_NPY_MESSAGE], const char *text)
{
  snprintf(message, GS_NPY_MESSAGE, "%s", text);
  return false;
}

bool gs_zip_is_archive(const unsigned char start[4])
{
  uint32_t word = read32(start);
  return word == 0x04034b50u || word == 0x06054b50u;
}

bool gs_zip_find_directory(const unsigned char *tail, size_t length, int64_t size,
                           struct gs_zip_directory *directory, char message[GS_NPY_MESSAGE])
{
  for (size_t back = END_RECORD; back <= length; back++) {
    const unsigned char *end = tail + length - back;
    if (read32(end) != 0x06054b50u || read16(end + 20) != back - END_RECORD)
      continue;
    directory->count = (int)read16(end + 10);
    directory->size = read32(end + 12);
    directory->offset = read32(end + 16);
    if (directory->offset == UINT32_MAX || directory->count == UINT16_MAX)
      return fail(message, "is an archive of more than 4 GiB, which cannot be read");
    if (directory->offset + (int64_t)directory->size > size)
      return fail(message, "is a damaged archive: its directory lies outside");
    return true;
  }
  return fail(message, "is a damaged archive: its end is missing");
}

/* One entry of the directory. */
struct entry {
  const unsigned char *fixed;
  const char *name;
  size_t name_length, size;
};

/* The entry AT, if it lies within END. */
static bool read_entry(const unsigned char *at, const unsigned char *end, struct entry *entry)
{
  if (end - at < ENTRY || read32(at) != 0x02014b50u)
    return false;
  entry->fixed = at;
  entry->name = (const char *)at + ENTRY;
  entry->name_length = read16(at + 28);
  entry->size = ENTRY + entry->name_length + read16(at + 30) + read16(at + 32);
  return entry->size <= (size_t)(end - at);
}

static size_t name_without_suffix(const struct entry *entry)
{
  size_t length = entry->name_length;
  bool suffix = length > 4 && memcmp(entry->name + length - 4, ".npy", 4) == 0;
  return suffix ? length - 4 : length;
}

static bool name_matches(const struct entry *entry, const char *name)
{
  size_t length = strlen(name), plain = name_without_suffix(entry);
  bool fits = length == plain || length == entry->name_length;
  return fits && memcmp(entry->name, name, length) == 0;
}

/* "holds a, b, c" after what was asked for. */
static bool fail_with_names(const unsigned char *entries, const struct gs_zip_directory *directory,
                            const char *name, char message[GS_NPY_MESSAGE])
{
  int length = snprintf(message, GS_NPY_MESSAGE, "%s%.60s%s", name != NULL ? "has no array \"" : "",
                        name != NULL ? name : "name one of its arrays: ",
                        name != NULL ? "\"; it holds " : "");
  const unsigned char *at = entries;
  struct entry entry;
  for (int i = 0; i < directory->count && read_entry(at, entries + directory->size, &entry); i++) {
    if (length > GS_NPY_MESSAGE - 80) {
      snprintf(message + length, (size_t)(GS_NPY_MESSAGE - length), ", …");
      break;
    }
    size_t shown = name_without_suffix(&entry);
    length += snprintf(message + length, (size_t)(GS_NPY_MESSAGE - length), "%s%.*s",
                       i > 0 ? ", " : "", shown < 60 ? (int)shown : 60, entry.name);
    at += entry.size;
  }
  return false;
}

bool gs_zip_find_member(const unsigned char *entries, const struct gs_zip_directory *directory,
                        const char *name, struct gs_zip_member *member,
                        char message[GS_NPY_MESSAGE])
{
  if (directory->count == 0)
    return fail(message, "is an archive without arrays");
  if (name == NULL && directory->count > 1)
    return fail_with_names(entries, directory, name, message);
  const unsigned char *at = entries, *end = entries + directory->size;
  struct entry entry;
  for (int i = 0; i < directory->count; i++, at += entry.size) {
    if (!read_entry(at, end, &entry))
      return fail(message, "is a damaged archive: its directory cannot be read");
    if (name != NULL && !name_matches(&entry, name))
      continue;
    if ((read16(at + 8) & ENCRYPTED) != 0)
      return fail(message, "is encrypted");
    if (read16(at + 10) != STORED)
      return fail(message, "is compressed; save it with numpy.savez, not savez_compressed");
    uint32_t compressed = read32(at + 20), offset = read32(at + 42);
    if (compressed == UINT32_MAX || offset == UINT32_MAX)
      return fail(message, "has a member of more than 4 GiB, which cannot be read");
    *member = (struct gs_zip_member){ .offset = offset, .size = compressed };
    return true;
  }
  return fail_with_names(entries, directory, name, message);
}

int64_t gs_zip_local_size(const unsigned char local[GS_ZIP_LOCAL])
{
  return GS_ZIP_LOCAL + (int64_t)read16(local + 26) + read16(local + 28);
}
