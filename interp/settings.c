/* interp/settings.c - settings by name. */
#include <config.h>

#include "interp/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "interp/builtin.h"
#include "interp/command.h"
#include "interp/plans.h"
#include "interp/report.h"

#define AT(member) offsetof(struct gs_settings, member)
#define SWITCH(name, replan, recompile, help) \
  { #name, GS_SETTING_SWITCH, AT(name), 0, 1, { "off", "on" }, replan, recompile, help }
#define NUMBER(name, least, most, recompile, help) \
  { #name, GS_SETTING_NUMBER, AT(name), least, most, { NULL, NULL }, false, recompile, help }

static const struct gs_setting settings[] = {
  SWITCH(allow_uneven, true, false, "completion may bring in padding no annotation asked for"),
  SWITCH(colour, false, false, "colour in reports"),
  { "combine", GS_SETTING_SIZE, AT(combine), 0, INT64_MAX, { NULL, NULL }, true, false,
    "independent all-reduces over the same devices, of at most so many bytes each, are taken together; 0: none" },
  NUMBER(depth, 1, 100000, false, "calls inside each other before recursion is an error"),
  SWITCH(dry_run, false, false, "plan, never execute"),
  { "follow", GS_SETTING_CHOICE, AT(follow_completed), 0, 1, { "cost", "completed" }, true, false,
    "let the planner choose shardings by cost, or keep every completed one" },
  { "format", GS_SETTING_CHOICE, AT(format), 0, 1, { "text", "json" }, false, false,
    "reports for people, or one JSON object a line" },
  { "looped_einsum", GS_SETTING_CHOICE, AT(looped_einsum), 0, 2, { "auto", "never", "always" }, true, false,
    "gathers and reduce-scatters next to contractions as loops: auto where the mesh's profile says it is faster" },
  { "memory", GS_SETTING_SIZE, AT(memory), 0, INT64_MAX, { NULL, NULL }, false, false,
    "bytes the session may use, as 2G; 0 is no limit" },
  SWITCH(poison_padding, false, true, "fill padding with NaN, to show that nothing reads it"),
  NUMBER(precision, 1, 17, false, "significant digits of printed numbers"),
  SWITCH(quiet, false, false, "no warnings"),
  NUMBER(seed, INT64_MIN, INT64_MAX, false, "added to the seeds of random fills made from now on"),
  NUMBER(steps, 1, INT64_MAX / 16, false, "steps of the interpreter before a loop is an error"),
  NUMBER(threads, 0, 4096, true, "threads that execute; 0 is one per core"),
  SWITCH(unicode, false, false, "blocks and dots in drawings, else ASCII"),
  SWITCH(verbose, false, false, "say more"),
  NUMBER(width, 20, 1000, false, "columns of the terminal"),
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

const struct gs_setting *gs_setting_at(int index)
{
  return index >= 0 && index < SETTINGS ? &settings[index] : NULL;
}

static int64_t get(const struct gs_session *s, const struct gs_setting *setting)
{
  const char *base = (const char *)&s->settings + setting->offset;
  if (setting->kind == GS_SETTING_NUMBER || setting->kind == GS_SETTING_SIZE)
    return *(const int64_t *)(const void *)base;
  if (setting->offset == AT(format))
    return s->settings.format;
  if (setting->offset == AT(looped_einsum))
    return s->settings.looped_einsum;
  return *(const bool *)(const void *)base;
}

static void put(struct gs_session *s, const struct gs_setting *setting, int64_t value)
{
  char *base = (char *)&s->settings + setting->offset;
  if (setting->kind == GS_SETTING_NUMBER || setting->kind == GS_SETTING_SIZE)
    *(int64_t *)(void *)base = value;
  else if (setting->offset == AT(format))
    s->settings.format = (enum gs_format)value;
  else if (setting->offset == AT(looped_einsum))
    s->settings.looped_einsum = (enum gs_looped_mode)value;
  else
    *(bool *)(void *)base = value != 0;
  s->budget.limit = (size_t)s->settings.memory;
  if (setting->replan)
    gs_session_changed(s);
  if (setting->recompile)
    gs_plans_release(s);
}

bool gs_size_parse(const char *text, int64_t *bytes)
{
  static const char units[] = "KMGT";
  char *end;
  double number = strtod(text, &end);
  if (end == text || !(number >= 0))
    return false;
  end += strspn(end, " ");
  const char *unit = *end != '\0' ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
  if (unit != NULL) {
    for (const char *u = units; u <= unit; u++)
      number *= 1024;
    end++;
    if (*end == 'i')
      end++;
  }
  if (*end == 'B' || *end == 'b')
    end++;
  if (*end != '\0' || number >= 0x1p62)
    return false;
  *bytes = (int64_t)number;
  return true;
}

/* Words for off and on, and what the setting itself calls them. */
static bool choice(const struct gs_setting *setting, const char *text, int64_t *value)
{
  static const char *const words[2][4] = { { "off", "false", "no", "0" },
                                           { "on", "true", "yes", "1" } };
  for (int k = 0; k <= setting->most; k++) {
    if (strcasecmp(text, setting->choices[k]) == 0) {
      *value = k;
      return true;
    }
    for (int w = 0; setting->kind == GS_SETTING_SWITCH && w < 4; w++)
      if (strcasecmp(text, words[k][w]) == 0) {
        *value = k;
        return true;
      }
  }
  return false;
}

static bool parse(const struct gs_setting *setting, const char *text, int64_t *value)
{
  if (setting->kind == GS_SETTING_SIZE)
    return gs_size_parse(text, value);
  if (setting->kind != GS_SETTING_NUMBER)
    return choice(setting, text, value);
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *value >= setting->least &&
         *value <= setting->most;
}

void gs_setting_print(struct gs_text *text, const struct gs_session *s,
                      const struct gs_setting *setting)
{
  int64_t value = get(s, setting);
  gs_text_printf(text, "%-15s", setting->name);
  if (setting->kind == GS_SETTING_SIZE)
    gs_print_bytes(text, (double)value);
  else if (setting->kind == GS_SETTING_NUMBER)
    gs_text_printf(text, "%lld", (long long)value);
  else
    gs_text_add(text, setting->choices[value]);
}

static const struct gs_setting *find(struct gs_session *s, struct gs_span at, const char *name)
{
  const char *names[SETTINGS];
  for (int i = 0; i < SETTINGS; i++) {
    names[i] = settings[i].name;
    if (strcmp(settings[i].name, name) == 0)
      return &settings[i];
  }
  gs_session_fail(s, at, "unknown setting \"%s\"", name);
  const char *nearest = gs_nearest(name, names, SETTINGS);
  if (nearest != NULL)
    gs_hint(&s->diagnostics, "did you mean \"%s\"?", nearest);
  else
    gs_hint(&s->diagnostics, ":set lists them");
  return NULL;
}

static bool bad_value(struct gs_session *s, struct gs_span at, const struct gs_setting *setting,
                      const char *text)
{
  gs_session_fail(s, at, "%s cannot be \"%s\"", setting->name, text);
  if (setting->kind == GS_SETTING_NUMBER)
    gs_hint(&s->diagnostics, "it is a number from %lld to %lld", (long long)setting->least,
            (long long)setting->most);
  else if (setting->kind == GS_SETTING_SIZE)
    gs_hint(&s->diagnostics, "it is a size such as 512M or 2G");
  else if (setting->most == 1)
    gs_hint(&s->diagnostics, "it is %s or %s", setting->choices[0], setting->choices[1]);
  else
    gs_hint(&s->diagnostics, "it is %s, %s or %s", setting->choices[0], setting->choices[1],
            setting->choices[2]);
  return false;
}

static bool list_settings(struct gs_session *s)
{
  struct gs_text text = gs_report_begin(s);
  for (int i = 0; i < SETTINGS; i++) {
    struct gs_text line = gs_session_text(s);
    gs_setting_print(&line, s, &settings[i]);
    gs_text_printf(&text, "%-28s %s\n", gs_text_string(&line), settings[i].help);
  }
  return gs_report_finish(s, &text);
}

bool gs_command_set(struct gs_session *s, const struct gs_ast *ast)
{
  const char *words = ast->words != NULL ? ast->words : "";
  if (words[0] == '\0')
    return list_settings(s);
  size_t length = strcspn(words, " =");
  const char *name = gs_arena_string(s->values, words, length);
  const char *value = words + length + strspn(words + length, " =");
  const struct gs_setting *setting = name != NULL ? find(s, ast->words_span, name) : NULL;
  if (setting == NULL)
    return false;
  if (value[0] == '\0') {
    struct gs_text text = gs_report_begin(s);
    gs_setting_print(&text, s, setting);
    gs_text_add(&text, "\n");
    return gs_report_finish(s, &text);
  }
  int64_t number;
  if (!parse(setting, value, &number))
    return bad_value(s, ast->words_span, setting, value);
  put(s, setting, number);
  return true;
}
