/* partition/signature.c - a hash table of the kinds of nodes. */
#include <config.h>

#include "partition/signature.h"

#include <string.h>

struct gs_signatures {
  struct gs_arena *arena;
  const struct gs_node **kinds;        /* by number, the first of each */
  int *slots;                          /* open addressing; -1 is empty */
  int count, capacity, nslots;
};

struct gs_signatures *gs_signatures_new(struct gs_arena *arena)
{
  struct gs_signatures *t = GS_NEW(arena, struct gs_signatures);
  if (t == NULL)
    return NULL;
  *t = (struct gs_signatures){ .arena = arena, .capacity = 64, .nslots = 256 };
  t->kinds = GS_NEW_ARRAY(arena, const struct gs_node *, t->capacity);
  t->slots = GS_NEW_ARRAY(arena, int, t->nslots);
  if (t->kinds == NULL || t->slots == NULL)
    return NULL;
  memset(t->slots, 0xff, (size_t)t->nslots * sizeof *t->slots);
  return t;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

static uint64_t mix_type(uint64_t hash, const struct gs_type *type)
{
  hash = mix(hash, (uint64_t)type->dtype * 64 + (uint64_t)type->rank);
  for (int i = 0; i < type->rank; i++)
    hash = mix(hash, (uint64_t)type->dims[i]);
  return hash;
}

/* Attributes do not decide the rule of these. */
static bool attrs_matter(enum gs_op op)
{
  switch (gs_op_info(op)->group) {
  case GS_GROUP_LEAF: case GS_GROUP_ELEMENTWISE: case GS_GROUP_SHARDING: return false;
  default: return true;
  }
}

/* ATTRS without what does not matter: the text of an einsum. */
static union gs_attrs plain_attrs(const struct gs_node *node)
{
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  if (node->attrs != NULL && attrs_matter(node->op)) {
    memcpy(&attrs, node->attrs, sizeof attrs);
    if (node->op == GS_OP_EINSUM)
      attrs.einsum.spec = NULL;
    if (node->op == GS_OP_CONV)
      attrs.conv.conv = NULL;
    if (node->op == GS_OP_REDUCE_WINDOW || node->op == GS_OP_SELECT_AND_SCATTER)
      attrs.window.dims = NULL;
  }
  return attrs;
}

static uint64_t hash_node(const struct gs_node *node)
{
  uint64_t hash = mix_type(mix(7, (uint64_t)node->op), &node->type);
  for (int a = 0; a < node->nargs; a++)
    hash = mix_type(hash, &node->args[a]->type);
  if (attrs_matter(node->op) && node->attrs != NULL) {
    union gs_attrs attrs = plain_attrs(node);
    uint64_t words[4];
    memcpy(words, &attrs, sizeof words);
    for (int i = 0; i < 4; i++)
      hash = mix(hash, words[i]);
  }
  return hash;
}

/* A padding value decides whether partial sums pass and what an exchange fills with. */
static bool same_padding(const struct gs_node *a, const struct gs_node *b)
{
  const struct gs_node *x = a->args[1], *y = b->args[1];
  if (x->op != GS_OP_CONSTANT || y->op != GS_OP_CONSTANT)
    return x->op != GS_OP_CONSTANT && y->op != GS_OP_CONSTANT;
  return memcmp(x->attrs->constant.tensor->data, y->attrs->constant.tensor->data,
                gs_dtype_size(x->type.dtype)) == 0;
}

/* What the attributes of window operators point to. */
static bool same_windows(const struct gs_node *a, const struct gs_node *b)
{
  if (a->op == GS_OP_REDUCE_WINDOW || a->op == GS_OP_SELECT_AND_SCATTER)
    return memcmp(a->attrs->window.dims, b->attrs->window.dims,
                  (size_t)a->type.rank * sizeof *a->attrs->window.dims) == 0;
  if (a->op != GS_OP_CONV)
    return true;
  struct gs_conv x = *a->attrs->conv.conv, y = *b->attrs->conv.conv;
  x.layout = y.layout = NULL;
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool alike(const struct gs_node *a, const struct gs_node *b)
{
  if (a->op != b->op || a->nargs != b->nargs || !gs_type_equal(&a->type, &b->type))
    return false;
  for (int i = 0; i < a->nargs; i++)
    if (!gs_type_equal(&a->args[i]->type, &b->args[i]->type))
      return false;
  if (a->op == GS_OP_PAD && !same_padding(a, b))
    return false;
  if (!same_windows(a, b))
    return false;
  union gs_attrs x = plain_attrs(a), y = plain_attrs(b);
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool grow(struct gs_signatures *t)
{
  int nslots = t->nslots * 2;
  const struct gs_node **kinds = GS_NEW_ARRAY(t->arena, const struct gs_node *, t->capacity * 2);
  int *slots = GS_NEW_ARRAY(t->arena, int, nslots);
  if (kinds == NULL || slots == NULL)
    return false;
  memcpy(kinds, t->kinds, (size_t)t->count * sizeof *kinds);
  memset(slots, 0xff, (size_t)nslots * sizeof *slots);
  for (int i = 0; i < t->count; i++) {
    uint64_t at = hash_node(kinds[i]) & ((uint64_t)nslots - 1);
    while (slots[at] >= 0)
      at = (at + 1) & ((uint64_t)nslots - 1);
    slots[at] = i;
  }
  t->kinds = kinds;
  t->slots = slots;
  t->capacity *= 2;
  t->nslots = nslots;
  return true;
}

int gs_signature_of(struct gs_signatures *t, const struct gs_node *node)
{
  if (t->count == t->capacity && !grow(t))
    return -1;
  uint64_t mask = (uint64_t)t->nslots - 1, at = hash_node(node) & mask;
  for (; t->slots[at] >= 0; at = (at + 1) & mask)
    if (alike(t->kinds[t->slots[at]], node))
      return t->slots[at];
  t->slots[at] = t->count;
  t->kinds[t->count] = node;
  return t->count++;
}
