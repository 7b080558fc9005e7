/* tests/corpus.c - what the runners of the corpora share: options, verdicts, totals. */
#include <config.h>

#include "tests/corpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool corpus_parse(int argc, char **argv, const char *data, struct corpus_options *o)
{
  *o = (struct corpus_options){ .data = data };
  const struct { const char *name; bool *flag; const char **text; } options[] = {
    { "--data", NULL, &o->data }, { "--exceptions", NULL, &o->exceptions },
    { "--group", NULL, &o->group }, { "--case", NULL, &o->name }, { "--list", &o->list, NULL },
    { "--verbose", &o->verbose, NULL }, { "--csv", &o->csv, NULL }, { "--tap", &o->tap, NULL },
  };
  size_t count = sizeof options / sizeof options[0];
  for (int i = 1; i < argc; i++) {
    size_t at = 0;
    while (at < count && strcmp(options[at].name, argv[i]) != 0)
      at++;
    if (at < count && options[at].flag != NULL) {
      *options[at].flag = true;
    } else if (at < count && i + 1 < argc) {
      *options[at].text = argv[++i];
    } else {
      fprintf(stderr, "usage: %s [--data PATH] [--exceptions FILE] [--group NAME] [--case NAME]\n"
                      "       [--list] [--verbose] [--csv] [--tap]\n", argv[0]);
      return false;
    }
  }
  return true;
}

void corpus_fail(struct corpus_report *report, enum verdict verdict, const char *format, ...)
{
  size_t length = strlen(report->message);
  va_list args;
  va_start(args, format);
  report->verdict = verdict;
  if (length > 0 && length + 2 < sizeof report->message) {
    memcpy(report->message + length, "; ", 3);
    length += 2;
  }
  vsnprintf(report->message + length, sizeof report->message - length, format, args);
  va_end(args);
}

static void print_tap(const struct corpus_report *r, const char *name, int number)
{
  printf("%s %d - %s", r->verdict == FAILED ? "not ok" : "ok", number, name);
  if (r->verdict == SKIPPED)
    printf(" # SKIP %s", r->message);
  printf("\n");
  if (r->verdict != SKIPPED && r->message[0] != '\0')
    printf("# %s\n", r->message);
}

void corpus_count(const struct corpus_options *o, const char *name, const struct corpus_report *r,
                  struct corpus_totals *totals)
{
  static const char *const words[] = { "passed", "failed", "skipped" };
  int *const counts[] = { &totals->passed, &totals->failed, &totals->skipped };
  ++*counts[r->verdict];
  if (r->verdict != SKIPPED && r->theirs >= 0) {
    totals->ours += r->ours;
    totals->theirs += r->theirs;
  }
  if (o->tap)
    print_tap(r, name, totals->before + totals->passed + totals->failed + totals->skipped);
  else if (o->csv)
    printf("%s,%s,%s,%.0f,%.0f,\"%s\"\n", name, words[r->verdict],
           r->relation != NULL ? r->relation : "", r->ours, r->theirs, r->message);
  else if (r->verdict == FAILED || o->verbose)
    printf("%s %s%s%s\n", words[r->verdict], name, r->message[0] != '\0' ? ": " : "", r->message);
  fflush(stdout);
}

void corpus_print_totals(const struct corpus_options *o, const char *title,
                         const struct corpus_totals *t)
{
  if (o->csv || o->list)
    return;
  printf("%s%-12s %3d passed, %3d failed, %3d skipped", o->tap ? "# " : "", title, t->passed,
         t->failed, t->skipped);
  if (t->theirs > 0)
    printf("; sends %.0f bytes, allowed %.0f (%.1f%%)", t->ours, t->theirs,
           100 * t->ours / t->theirs);
  printf("\n");
}

void corpus_add(struct corpus_totals *sum, const struct corpus_totals *part)
{
  sum->passed += part->passed;
  sum->failed += part->failed;
  sum->skipped += part->skipped;
  sum->ours += part->ours;
  sum->theirs += part->theirs;
}

void corpus_finish(const struct corpus_options *o, const struct corpus_totals *t)
{
  if (o->tap)
    printf("1..%d\n", t->passed + t->failed + t->skipped);
}
