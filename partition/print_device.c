/* partition/print_device.c - one device's view of a plan: index ranges and peers. */
#include <config.h>

#include "partition/print_device.h"

#include <inttypes.h>

enum { SHOWN_PEERS = 8 };

enum column { NUMBER, STEP, LOCAL, HOLDS, PEERS, SENDS, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [NUMBER] = { "number", "#", true, false },
  [STEP] = { "step", "step", false, true },
  [LOCAL] = { "local", "per device", false, false },
  [HOLDS] = { "holds", "holds of the whole", false, false },
  [PEERS] = { "peers", "with devices", false, false },
  [SENDS] = { "sends", "sends", true, false }
};

int64_t gs_mesh_device(const struct gs_mesh *mesh, int64_t position)
{
  return mesh->order == NULL ? position : mesh->order[position];
}

int64_t gs_mesh_position(const struct gs_mesh *mesh, int64_t device)
{
  if (device < 0 || device >= mesh->ndevices)
    return -1;
  int64_t position = mesh->order == NULL ? device : 0;
  while (mesh->order != NULL && mesh->order[position] != device)
    position++;
  return position;
}

static int64_t peer(const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes,
                    int64_t position, int64_t part)
{
  return gs_mesh_device(mesh, gs_mesh_with_part(mesh, axes, naxes, position, part));
}

/* Parts [*low, *high] hold what PART gets from PIECE of an exchange; false for nothing. */
static bool piece_owners(const struct gs_program *program, const struct gs_step *step,
                         const struct gs_exchange_piece *piece, int64_t part, int64_t *low,
                         int64_t *high)
{
  int dim = step->attrs->device.dim;
  int64_t block = program->steps[step->args[piece->operand]].type.dims[dim];
  int64_t begin = step->attrs->device.scale * part + step->attrs->device.offset - piece->first;
  int64_t end = begin + step->type.dims[dim] < piece->count ? begin + step->type.dims[dim]
                                                            : piece->count;
  int64_t from = begin <= 0 ? 0 : (begin + piece->divide - 1) / piece->divide;
  if (block == 0 || end <= 0 || from > (end - 1) / piece->divide)
    return false;
  int64_t a = (piece->source + from * piece->step) / block;
  int64_t b = (piece->source + (end - 1) / piece->divide * piece->step) / block;
  *low = a < b ? a : b;
  *high = a < b ? b : a;
  return true;
}

static void exchange_peers(const struct gs_program *program, const struct gs_step *step,
                           const struct gs_axis *axes, int naxes, int64_t position,
                           struct gs_peers *peers)
{
  int64_t part = gs_mesh_part(program->mesh, axes, naxes, position), low, high;
  for (int k = 0; k < step->attrs->device.npieces; k++) {
    if (!piece_owners(program, step, &step->attrs->device.pieces[k], part, &low, &high))
      continue;
    for (int64_t q = low; q <= high && peers->count < GS_MOST_PEERS; q++) {
      int64_t device = peer(program->mesh, axes, naxes, position, q);
      bool known = q == part;
      for (int i = 0; i < peers->count && !known; i++)
        known = peers->devices[i] == device;
      if (!known)
        peers->devices[peers->count++] = peers->last = device;
    }
  }
  peers->total = peers->count;
}

void gs_step_peers(const struct gs_program *program, const struct gs_step *step, int64_t position,
                   struct gs_peers *peers)
{
  struct gs_axis axes[GS_STEP_AXES];
  int naxes = gs_step_axes(step, axes);
  *peers = (struct gs_peers){ 0 };
  if (step->op == GS_OP_EXCHANGE) {
    exchange_peers(program, step, axes, naxes, position, peers);
    return;
  }
  if (step->op == GS_OP_PERMUTE) {
    int64_t source = gs_permute_source(step, program->mesh, position);
    peers->total = peers->count = 1;
    peers->last = peers->devices[0] = gs_mesh_device(program->mesh, source);
    return;
  }
  peers->total = gs_axes_size(axes, naxes);
  peers->count = peers->total < GS_MOST_PEERS ? (int)peers->total : GS_MOST_PEERS;
  for (int i = 0; i < peers->count; i++)
    peers->devices[i] = peer(program->mesh, axes, naxes, position, i);
  peers->last = peer(program->mesh, axes, naxes, position, peers->total - 1);
}

/* "[0:4, :, 128:256]"; an empty range when the device has nothing but padding. */
static void print_ranges(struct gs_text *text, const struct gs_step *s, int64_t position)
{
  gs_text_add(text, "[");
  for (int i = 0; i < s->sharding->rank; i++) {
    int64_t begin, end;
    gs_sharding_range(s->sharding, i, s->global.dims[i], position, &begin, &end);
    gs_text_add(text, i > 0 ? ", " : "");
    if (begin == 0 && end == s->global.dims[i])
      gs_text_add(text, ":");
    else
      gs_text_printf(text, "%" PRId64 ":%" PRId64, begin, end);
  }
  gs_text_add(text, "]");
  for (int k = 0; k < s->sharding->npartial; k++) {
    gs_text_add(text, " +");
    gs_axis_print(text, s->sharding->mesh, s->sharding->partial[k]);
  }
}

static void print_peers(struct gs_text *text, const struct gs_program *program,
                        const struct gs_step *s, int64_t position)
{
  struct gs_peers peers;
  gs_step_peers(program, s, position, &peers);
  if (s->op == GS_OP_PERMUTE || s->op == GS_OP_EXCHANGE)
    gs_text_add(text, peers.count > 0 ? "from " : "from none");
  int shown = peers.total > SHOWN_PEERS ? SHOWN_PEERS / 2 : peers.count;
  for (int i = 0; i < shown; i++)
    gs_text_printf(text, "%s%" PRId64, i > 0 ? " " : "", peers.devices[i]);
  if (peers.total > shown)
    gs_text_printf(text, " .. %" PRId64 " (%" PRId64 ")", peers.last, peers.total);
}

static void add_row(struct gs_writer *w, const struct gs_view *view, struct gs_table *table,
                    int index, int64_t position)
{
  const struct gs_step *s = &view->program->steps[index];
  const char **row = gs_table_row(table);
  struct gs_text step = gs_writer_text(w), local = gs_writer_text(w), holds = gs_writer_text(w),
                 peers = gs_writer_text(w), sends = gs_writer_text(w);
  if (row == NULL)
    return;
  gs_view_step(&step, view, index);
  gs_type_print(&local, &s->type);
  print_ranges(&holds, s, position);
  row[NUMBER] = gs_arena_printf(w->scratch, "%d", view->numbers[index]);
  row[STEP] = gs_text_string(&step);
  row[LOCAL] = gs_text_string(&local);
  row[HOLDS] = gs_text_string(&holds);
  if (gs_step_group_size(s) <= 1)
    return;
  print_peers(&peers, view->program, s, position);
  gs_print_bytes(&sends, gs_step_device_bytes(view->program, s, position));
  row[PEERS] = gs_text_string(&peers);
  row[SENDS] = gs_text_string(&sends);
}

void gs_print_device(struct gs_writer *w, struct gs_view *view)
{
  const struct gs_mesh *mesh = view->program->mesh;
  int64_t device = w->options->device, position = gs_mesh_position(mesh, device);
  struct gs_text line = gs_writer_text(w);
  gs_paint_from(&line, GS_ROLE_HEADING);
  gs_text_printf(&line, "device %" PRId64, device);
  gs_paint_from(&line, GS_ROLE_PLAIN);
  if (position < 0) {
    gs_text_printf(&line, " does not exist: the mesh has devices 0 to %" PRId64,
                   mesh->ndevices - 1);
    gs_writer_line(w, &line);
    return;
  }
  gs_text_add(&line, " at ");
  for (int i = 0; i < mesh->naxes; i++)
    gs_text_printf(&line, "%s%s=%" PRId64, i > 0 ? ", " : "", mesh->axes[i].name,
                   gs_mesh_coordinate(mesh, gs_axis_whole(mesh, i), position));
  gs_text_add(&line, " of mesh ");
  gs_mesh_print(&line, mesh);
  gs_writer_line(w, &line);
  struct gs_table table;
  gs_table_init(&table, w->scratch, columns, NCOLUMNS);
  for (int i = 0; i < view->program->nsteps; i++)
    if (view->numbers[i] > 0)
      add_row(w, view, &table, i, position);
  gs_writer_table(w, &table);
}
