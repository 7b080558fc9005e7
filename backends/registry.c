/* backends/registry.c - the backends built into the library, and those of plug-ins. */
#include <config.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

static const struct gs_backend *const built_in[] = { &gs_backend_cpu, &gs_backend_reference };

enum { BUILT_IN = sizeof built_in / sizeof *built_in };

/* A file that may be a plug-in. */
struct plugin {
  struct plugin *next;
  char *path;
  void *handle;                        /* of dlopen; NULL: not open */
  const struct gs_backend *backend;    /* NULL: refused */
  char *reason;                        /* why */
};

struct gs_backend_registry {
  char *folders;
  bool searched;
  struct plugin *plugins;              /* in the order they were found */
};

struct gs_backend_registry *gs_backend_registry_new(const char *folders)
{
  struct gs_backend_registry *r = calloc(1, sizeof *r);
  size_t length = folders == NULL ? 0 : strlen(folders), installed = strlen(GS_PLUGIN_FOLDER);
  if (r == NULL || (r->folders = malloc(length + installed + 2)) == NULL) {
    free(r);
    return NULL;
  }
  snprintf(r->folders, length + installed + 2, "%s:%s", folders == NULL ? "" : folders, GS_PLUGIN_FOLDER);
  return r;
}

void gs_backend_registry_free(struct gs_backend_registry *r)
{
  if (r == NULL)
    return;
  while (r->plugins != NULL) {
    struct plugin *p = r->plugins;
    r->plugins = p->next;
    if (p->handle != NULL)
      dlclose(p->handle);
    free(p->path);
    free(p->reason);
    free(p);
  }
  free(r->folders);
  free(r);
}

static void refuse(struct plugin *p, const char *reason)
{
  if (reason != NULL && p->reason == NULL && (p->reason = malloc(strlen(reason) + 1)) != NULL)
    strcpy(p->reason, reason);
}

/* What is wrong with a plug-in's backend; NULL: nothing. */
static const char *find_fault(const struct gs_backend_registry *r, const struct gs_backend *b, char *text, size_t room)
{
  if (b == NULL)
    return "it gives no backend";
  if (b->abi != GS_BACKEND_ABI) {
    snprintf(text, room, "it is built for version %u of the interface; this is version %d", b->abi, GS_BACKEND_ABI);
    return text;
  }
  if (b->name == NULL || b->description == NULL || b->compile == NULL || b->run == NULL || b->release == NULL)
    return "its backend lacks a name, a description or a function";
  if (gs_backend_find(NULL, b->name) != NULL)
    return "a backend of that name is built in";
  for (const struct plugin *p = r->plugins; p != NULL; p = p->next)
    if (p->backend != NULL && strcmp(p->backend->name, b->name) == 0) {
      snprintf(text, room, "%s gives a backend of that name, too", p->path);
      return text;
    }
  return NULL;
}

static void load(struct gs_backend_registry *r, struct plugin *p)
{
  char text[512];
  p->handle = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
  if (p->handle == NULL) {
    refuse(p, dlerror());
    return;
  }
  gs_backend_entry_function *entry;
  void *symbol = dlsym(p->handle, GS_BACKEND_ENTRY);
  if (symbol == NULL) {
    refuse(p, "it has no function " GS_BACKEND_ENTRY);
    return;
  }
  memcpy(&entry, &symbol, sizeof entry);       /* C has no cast from data to functions */
  const struct gs_backend *backend = entry();
  const char *fault = find_fault(r, backend, text, sizeof text);
  refuse(p, fault);
  p->backend = fault == NULL ? backend : NULL;
}

static int is_plugin(const struct dirent *entry)
{
  size_t length = strlen(entry->d_name);
  return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static void search_folder(struct gs_backend_registry *r, const char *folder)
{
  struct dirent **found = NULL;
  struct plugin **end = &r->plugins;
  int n = folder[0] == '\0' ? 0 : scandir(folder, &found, is_plugin, alphasort);
  while (*end != NULL)
    end = &(*end)->next;
  for (int i = 0; i < n; i++) {
    size_t room = strlen(folder) + strlen(found[i]->d_name) + 2;
    struct plugin *p = calloc(1, sizeof *p);
    char *path = malloc(room);
    if (p != NULL && path != NULL) {
      snprintf(path, room, "%s/%s", folder, found[i]->d_name);
      p->path = path;
      load(r, p);
      *end = p;
      end = &p->next;
    } else {
      free(p);
      free(path);
    }
    free(found[i]);
  }
  free(found);
}

/* Plug-ins bring libraries with them: they are looked for when somebody asks. */
static void search(struct gs_backend_registry *r)
{
  if (r == NULL || r->searched)
    return;
  r->searched = true;
  for (char *folder = r->folders, *end; folder != NULL; folder = end) {
    if ((end = strchr(folder, ':')) != NULL)
      *end++ = '\0';
    search_folder(r, folder);
  }
}

const struct gs_backend *gs_backend_at(struct gs_backend_registry *r, int index)
{
  if (index < BUILT_IN)
    return index >= 0 ? built_in[index] : NULL;
  search(r);
  for (struct plugin *p = r != NULL ? r->plugins : NULL; p != NULL; p = p->next)
    if (p->backend != NULL && index-- == BUILT_IN)
      return p->backend;
  return NULL;
}

const struct gs_backend *gs_backend_find(struct gs_backend_registry *r, const char *name)
{
  const struct gs_backend *b;
  for (int i = 0; i < BUILT_IN; i++)
    if (strcmp(built_in[i]->name, name) == 0)
      return built_in[i];
  for (int i = BUILT_IN; (b = gs_backend_at(r, i)) != NULL; i++)
    if (strcmp(b->name, name) == 0)
      return b;
  return NULL;
}

bool gs_backend_refused(struct gs_backend_registry *r, int index, const char **path, const char **reason)
{
  search(r);
  for (struct plugin *p = r != NULL ? r->plugins : NULL; p != NULL; p = p->next)
    if (p->backend == NULL && index-- == 0) {
      *path = p->path;
      *reason = p->reason != NULL ? p->reason : "out of memory";
      return true;
    }
  return false;
}

const char *gs_backend_setting(const struct gs_host *host, const char *name, size_t *length)
{
  size_t size = strlen(name);
  for (const char *at = host->settings; at != NULL && *at != '\0';) {
    size_t word = strcspn(at, " ");
    if (word > size && strncmp(at, name, size) == 0 && at[size] == '=') {
      *length = word - size - 1;
      return at + size + 1;
    }
    at += word + strspn(at + word, " ");
  }
  return NULL;
}
