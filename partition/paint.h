/* partition/paint.h - how roles are marked inside a text, for the formats that read the marks. */
#ifndef GS_PARTITION_PAINT_H
#define GS_PARTITION_PAINT_H

#include "partition/writer.h"

/* A mark is this byte, which no program text may hold, and the role's letter. */
enum { GS_PAINT_MARK = 1, GS_PAINT_FIRST = 'A' };

/* STRING without its marks. */
void gs_paint_strip(struct gs_text *text, const char *string);

#endif
