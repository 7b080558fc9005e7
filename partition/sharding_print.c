/* partition/sharding_print.c - shardings written in our, XLA's and Shardy's notation. */
#include <config.h>

#include "partition/sharding.h"

#include <inttypes.h>

/* An uncut dim as UNCUT; what completion may still cut with a ? if OPEN. */
static void print_dims(struct gs_text *text, const struct gs_sharding *s, const char *uncut, bool open)
{
  gs_text_add(text, "[");
  for (int i = 0; i < s->rank; i++) {
    const struct gs_dim_sharding *d = &s->dims[i];
    bool asks = open && d->open;
    bool list = d->naxes + asks > 1;
    if (i > 0)
      gs_text_add(text, ", ");
    if (d->naxes == 0)
      gs_text_add(text, asks ? "?" : uncut);
    if (list)
      gs_text_add(text, "[");
    gs_axes_print(text, s->mesh, d->axes, d->naxes);
    if (list)
      gs_text_add(text, asks ? ", ?]" : "]");
  }
  gs_text_add(text, "]");
}

void gs_sharding_print(struct gs_text *text, const struct gs_sharding *s)
{
  print_dims(text, s, "-", false);
  for (int i = 0; i < s->npartial; i++) {
    const char *kind = s->partial_kind == GS_OP_SUM ? "" : gs_op_info(s->partial_kind)->name;
    gs_text_printf(text, " %s+", kind);
    gs_axis_print(text, s->mesh, s->partial[i]);
  }
  for (int a = 0, n = 0; a < s->mesh->naxes; a++)
    if (s->mesh->manual >> a & 1)
      gs_text_printf(text, "%s%s", n++ == 0 ? " manual " : ",", s->mesh->axes[a].name);
}

/* The tile assignment is an iota over the devices, reshaped to factors of the mesh (the cuts of all
 * sub-axes) and transposed to the order in which dims use them, replicated factors last. */
struct factors {
  int count;
  struct gs_axis axis[64];             /* in mesh order, each used whole or not at all */
};

static void add_cut(int64_t *cuts, int *ncuts, int64_t cut)
{
  int at = 0;
  while (at < *ncuts && cuts[at] < cut)
    at++;
  if (at < *ncuts && cuts[at] == cut)
    return;
  for (int i = *ncuts; i > at; i--)
    cuts[i] = cuts[i - 1];
  cuts[at] = cut;
  (*ncuts)++;
}

static void add_axis_cuts(int64_t *cuts, int *ncuts, int axis, const struct gs_axis *axes, int naxes)
{
  for (int i = 0; i < naxes && *ncuts < 30; i++)
    if (axes[i].axis == axis) {
      add_cut(cuts, ncuts, axes[i].pre);
      add_cut(cuts, ncuts, axes[i].pre * axes[i].size);
    }
}

static void find_factors(struct factors *f, const struct gs_sharding *s)
{
  f->count = 0;
  for (int a = 0; a < s->mesh->naxes; a++) {
    int64_t cuts[34];
    int ncuts = 0;
    add_cut(cuts, &ncuts, 1);
    add_cut(cuts, &ncuts, s->mesh->axes[a].size);
    for (int i = 0; i < s->rank; i++)
      add_axis_cuts(cuts, &ncuts, a, s->dims[i].axes, s->dims[i].naxes);
    add_axis_cuts(cuts, &ncuts, a, s->partial, s->npartial);
    for (int i = 0; i + 1 < ncuts && f->count < 64; i++)
      f->axis[f->count++] = (struct gs_axis){ a, cuts[i], cuts[i + 1] / cuts[i] };
  }
}

static bool axis_inside(struct gs_axis part, struct gs_axis whole)
{
  return part.axis == whole.axis && part.pre >= whole.pre
         && part.pre * part.size <= whole.pre * whole.size;
}

/* Write which factors AXES consists of, in order, to ORDER. */
static int place_axes(const struct factors *f, const struct gs_axis *axes, int naxes, int *order,
                      int norder, bool *used)
{
  for (int i = 0; i < naxes; i++)
    for (int k = 0; k < f->count; k++)
      if (axis_inside(f->axis[k], axes[i])) {
        order[norder++] = k;
        used[k] = true;
      }
  return norder;
}

/* "[8]" or "[2,4]T(1,0)": neighbours that stay together are written as one factor. */
static void print_iota(struct gs_text *text, const struct factors *f, const int *order)
{
  int64_t size[64];
  int group[64], first[64], ngroups = 0, position[64];
  for (int i = 0; i < f->count; i++)
    position[order[i]] = i;
  for (int k = 0; k < f->count; k++) {
    bool joined = k > 0 && position[k] == position[k - 1] + 1;
    if (!joined) {
      first[ngroups] = k;
      size[ngroups++] = 1;
    }
    size[ngroups - 1] *= f->axis[k].size;
    group[k] = ngroups - 1;
  }
  gs_text_add(text, "<=[");
  for (int g = 0; g < ngroups; g++)
    gs_text_printf(text, "%s%" PRId64, g > 0 ? "," : "", size[g]);
  gs_text_add(text, "]");
  if (ngroups < 2)
    return;
  gs_text_add(text, "T(");
  int written = 0;
  for (int i = 0; i < f->count; i++)
    if (first[group[order[i]]] == order[i])
      gs_text_printf(text, "%s%d", written++ > 0 ? "," : "", group[order[i]]);
  gs_text_add(text, ")");
}

/* A mesh with an order of its own has no iota: the devices are listed, tile after tile. */
static void print_device_list(struct gs_text *text, const struct gs_mesh *mesh, const struct factors *f,
                              const int *order)
{
  struct gs_axis digits[64];
  for (int i = 0; i < f->count; i++)
    digits[i] = f->axis[order[i]];
  for (int64_t tile = 0; tile < mesh->ndevices; tile++) {
    int64_t position = gs_mesh_with_part(mesh, digits, f->count, 0, tile);
    gs_text_printf(text, "%s%" PRId64, tile > 0 ? "," : "", mesh->order[position]);
  }
}

/* The factors that no dim uses, those of manual axes if MANUAL or the others, to ORDER; *SIZE is what they
 * make together. */
static int place_rest(const struct factors *f, const struct gs_mesh *mesh, bool manual, const bool *used,
                      int *order, int norder, int64_t *size)
{
  *size = 1;
  for (int k = 0; k < f->count; k++) {
    if (used[k] || (mesh->manual >> f->axis[k].axis & 1) != manual)
      continue;
    order[norder++] = k;
    *size *= f->axis[k].size;
  }
  return norder;
}

void gs_sharding_print_xla(struct gs_text *text, const struct gs_sharding *s)
{
  const struct gs_mesh *mesh = s->mesh;
  bool all_manual = mesh->manual == (1u << mesh->naxes) - 1;
  if (all_manual || (gs_sharding_is_replicated(s) && mesh->manual == 0)) {
    gs_text_add(text, all_manual ? "{manual}" : "{replicated}");
    return;
  }
  struct factors f;
  int order[64], norder = 0;
  bool used[64] = { false };
  int64_t manual, replicated;
  find_factors(&f, s);
  gs_text_add(text, "{devices=[");
  for (int i = 0; i < s->rank; i++) {
    gs_text_printf(text, "%s%" PRId64, i > 0 ? "," : "", gs_sharding_parts(s, i));
    norder = place_axes(&f, s->dims[i].axes, s->dims[i].naxes, order, norder, used);
  }
  norder = place_rest(&f, mesh, true, used, order, norder, &manual);
  place_rest(&f, mesh, false, used, order, norder, &replicated);
  const char *comma = s->rank > 0 ? "," : "";
  if (manual > 1)
    gs_text_printf(text, "%s%" PRId64, comma, manual);
  if (replicated > 1)
    gs_text_printf(text, "%s%" PRId64, manual > 1 ? "," : comma, replicated);
  gs_text_add(text, "]");
  if (mesh->order == NULL)
    print_iota(text, &f, order);
  else
    print_device_list(text, mesh, &f, order);
  if (manual > 1)
    gs_text_add(text, replicated > 1 ? " last_tile_dims={manual, replicated}" : " last_tile_dims={manual}");
  else
    gs_text_add(text, replicated > 1 ? " last_tile_dim_replicate" : "");
  gs_text_add(text, "}");
}

static void print_sdy_axes(struct gs_text *text, const struct gs_mesh *mesh, const struct gs_axis *axes,
                           int naxes, const char *separator)
{
  for (int i = 0; i < naxes; i++) {
    gs_text_printf(text, "%s\"%s\"", i > 0 ? separator : "", mesh->axes[axes[i].axis].name);
    if (axes[i].pre != 1 || axes[i].size != mesh->axes[axes[i].axis].size)
      gs_text_printf(text, ":(%" PRId64 ")%" PRId64, axes[i].pre, axes[i].size);
  }
}

void gs_sharding_print_sdy(struct gs_text *text, const struct gs_sharding *s)
{
  gs_text_add(text, "[");
  for (int i = 0; i < s->rank; i++) {
    gs_text_add(text, i > 0 ? ", {" : "{");
    print_sdy_axes(text, s->mesh, s->dims[i].axes, s->dims[i].naxes, ", ");
    if (s->dims[i].open)
      gs_text_add(text, s->dims[i].naxes > 0 ? ", ?" : "?");
    gs_text_add(text, "}");
  }
  gs_text_add(text, "]");
  if (s->npartial > 0) {
    gs_text_add(text, ", unreduced={");
    print_sdy_axes(text, s->mesh, s->partial, s->npartial, ", ");
    gs_text_add(text, "}");
  }
}

static bool has_sub_axes(const struct gs_sharding *s)
{
  for (int i = 0; i < s->rank; i++)
    for (int k = 0; k < s->dims[i].naxes; k++)
      if (s->dims[i].axes[k].size != s->mesh->axes[s->dims[i].axes[k].axis].size)
        return true;
  return false;
}

/* Sub-axes have no words of ours in a program: Shardy's notation, a string there. */
static void print_quoted(struct gs_text *text, const struct gs_sharding *s)
{
  struct gs_text plain = { .arena = text->arena };
  gs_sharding_print_sdy(&plain, s);
  gs_text_add(text, "\"");
  for (const char *c = gs_text_string(&plain); *c != '\0'; c++)
    gs_text_printf(text, "%s%c", *c == '"' ? "\\" : "", *c);
  gs_text_add(text, "\"");
}

void gs_sharding_print_source(struct gs_text *text, const struct gs_sharding *s)
{
  bool open = false;
  for (int i = 0; i < s->rank; i++)
    open = open || s->dims[i].open;
  if (has_sub_axes(s))
    print_quoted(text, s);
  else if (gs_sharding_is_replicated(s) && !open)
    gs_text_add(text, "replicated");
  else
    print_dims(text, s, "-1", true);
}
