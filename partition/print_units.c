/* partition/print_units.c - bytes, counts and seconds in the units people read. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "partition/print_parts.h"

/* VALUE to about three digits, without zeros at the end of a fraction. */
static void print_short(struct gs_text *text, double value)
{
  char buffer[64];
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  if (decimals > 0) {
    size_t length = strlen(buffer);
    while (buffer[length - 1] == '0')
      length--;
    buffer[buffer[length - 1] == '.' ? length - 1 : length] = '\0';
  }
  gs_text_add(text, buffer);
}

void gs_print_bytes(struct gs_text *text, double bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < sizeof units / sizeof units[0]) {
    bytes /= 1024;
    unit++;
  }
  if (unit == 0)
    gs_text_printf(text, "%.0f", bytes);
  else
    print_short(text, bytes);
  gs_text_printf(text, " %s", units[unit]);
}

void gs_print_count(struct gs_text *text, double count)
{
  static const char *const units[] = { "M", "G", "T", "P", "E" };
  size_t unit = 0;
  if (count < 9999.5) {
    gs_text_printf(text, "%.0f", count);
  } else if (count < 99950) {
    print_short(text, count / 1e3);
    gs_text_add(text, " k");
  } else if (count < 999500) {
    gs_text_printf(text, "%.1f M", count / 1e6);
  } else {
    for (count /= 1e6; count >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; count /= 1e3)
      unit++;
    print_short(text, count);
    gs_text_printf(text, " %s", units[unit]);
  }
}

void gs_print_seconds(struct gs_text *text, double seconds)
{
  static const char *const units[] = { "s", "ms", "us", "ns" };
  size_t unit = 0;
  while (seconds > 0 && seconds < 0.9995 && unit + 1 < sizeof units / sizeof units[0]) {
    seconds *= 1e3;
    unit++;
  }
  print_short(text, seconds);
  gs_text_printf(text, " %s", units[unit]);
}

void gs_print_percent(struct gs_text *text, double share)
{
  double percent = 100 * share;
  if (percent > 0 && percent < 0.05)
    gs_text_add(text, "<0.1%");
  else
    gs_text_printf(text, percent > 0 && percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
}
