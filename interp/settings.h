/* interp/settings.h - the table behind :set. */
#ifndef GS_INTERP_SETTINGS_H
#define GS_INTERP_SETTINGS_H

#include "interp/session.h"

/* How a setting's value is written. */
enum gs_setting_kind { GS_SETTING_SWITCH, GS_SETTING_NUMBER, GS_SETTING_SIZE, GS_SETTING_CHOICE };

struct gs_setting {
  const char *name;
  enum gs_setting_kind kind;
  size_t offset;                       /* in struct gs_settings */
  int64_t least, most;                 /* NUMBER */
  const char *choices[3];              /* CHOICE: what 0, 1 and, if there is one, 2 are called */
  bool replan, recompile;              /* what a change makes stale */
  const char *help;
};

/* All of them, sorted by name; NULL past the last. */
const struct gs_setting *gs_setting_at(int index);
/* "name = value" of one. */
void gs_setting_print(struct gs_text *text, const struct gs_session *s,
                      const struct gs_setting *setting);

/* "2G", "512M", "1.5 GiB", "1000" as bytes; false if TEXT is no size. */
bool gs_size_parse(const char *text, int64_t *bytes);

#endif
