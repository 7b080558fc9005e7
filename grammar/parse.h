/* grammar/parse.h - from text to syntax trees, piece by piece.
 *
 * The parser is fed text (a line, a file); complete statements go to a callback as soon as they
 * end, an unfinished one is kept for more text.  Syntax errors are reported with the tokens that
 * could have followed; parsing goes on at the next statement.  One parser has no global state:
 * any number may be used at once.
 */
#ifndef GS_GRAMMAR_PARSE_H
#define GS_GRAMMAR_PARSE_H

#include "grammar/ast.h"

struct gs_parser;

/* Called with each complete statement, in order.  Return false to stop (the rest of the fed text
 * is dropped).  The tree is in the arena current at that time, of which the parser then holds
 * nothing else: it may be rewound. */
typedef bool gs_statement_function(void *user, struct gs_ast *statement);

enum gs_parse_state {
  GS_PARSE_IDLE,                       /* everything so far is complete statements */
  GS_PARSE_MORE                        /* inside a statement: ask for a continuation line */
};

struct gs_parser *gs_parser_new(struct gs_arena *arena, struct gs_diagnostics *diagnostics,
                                gs_statement_function *statement, void *user);
void gs_parser_free(struct gs_parser *parser);

/* Where the following trees are made; at first, the arena given to gs_parser_new, which holds the
 * sources' texts in any case. */
void gs_parser_set_arena(struct gs_parser *parser, struct gs_arena *arena);

/* Start reading a source called NAME (NULL: the prompt) whose first line has number LINE.  The
 * texts fed after it are that source's; the parser keeps them, in the arena, for the spans.
 *
 * A source with a name may be cut anywhere; its statements come one token late, since the next line
 * may go on with a statement (|>, else).  At the prompt the text fed is whole lines, the last line
 * end may be missing, and a statement that is complete at its end is not waited with. */
void gs_parser_begin(struct gs_parser *parser, const char *name, int line);
enum gs_parse_state gs_parser_feed(struct gs_parser *parser, const char *text, size_t length);
/* End of the source: an unfinished statement is an error. */
enum gs_parse_state gs_parser_finish(struct gs_parser *parser);
/* Forget an unfinished statement (Ctrl-C). */
void gs_parser_reset(struct gs_parser *parser);

/* Names of the tokens that could come after TEXT, for completion at the prompt: at most MAX
 * strings with static lifetime into NAMES; the count is returned. */
int gs_parser_expected(struct gs_arena *arena, const char *text, size_t length,
                       const char **names, int max);

#endif
