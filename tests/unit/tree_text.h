/* tests/unit/tree_text.h - syntax trees as short text, for comparing. */
#ifndef GS_TESTS_UNIT_TREE_TEXT_H
#define GS_TESTS_UNIT_TREE_TEXT_H

#include "grammar/ast.h"

/* Append TREE as "(call f 1 (= dim 0))"; NULL is "_". */
void tree_text(struct gs_text *text, const struct gs_ast *tree);

#endif
