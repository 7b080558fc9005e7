/* tests/differential/dice.h - random numbers that depend on nothing but the seed. */
#ifndef GS_TESTS_DICE_H
#define GS_TESTS_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
  uint64_t state;
};

static inline uint64_t dice_next(struct dice *d)
{
  uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 to N-1; N >= 1. */
static inline int dice_below(struct dice *d, int n)
{
  return (int)(dice_next(d) % (uint64_t)n);
}

/* LOW to HIGH, both included. */
static inline int64_t dice_between(struct dice *d, int64_t low, int64_t high)
{
  return low + (int64_t)(dice_next(d) % (uint64_t)(high - low + 1));
}

static inline bool dice_percent(struct dice *d, int percent)
{
  return dice_below(d, 100) < percent;
}

/* An index of WEIGHTS, of which N are given, as often as its weight says. */
static inline int dice_weighted(struct dice *d, const int *weights, int n)
{
  int total = 0;
  for (int i = 0; i < n; i++)
    total += weights[i];
  int at = dice_below(d, total);
  for (int i = 0; i < n; i++) {
    if (at < weights[i])
      return i;
    at -= weights[i];
  }
  return n - 1;
}

/* 0 to N-1 in random order. */
static inline void dice_shuffle(struct dice *d, int *items, int n)
{
  for (int i = 0; i < n; i++)
    items[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = dice_below(d, i + 1);
    int kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

#endif
