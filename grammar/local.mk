# grammar/local.mk - from text to syntax trees.
#
# The lexer and the parser are generated at build time and are part of releases.

libgspmd_la_SOURCES += \
  %D%/ast.c \
  %D%/ast.h \
  %D%/grammar.h \
  %D%/lexer.c \
  %D%/literal.c \
  %D%/message.c \
  %D%/parse.c \
  %D%/parse.h \
  %D%/parser.c \
  %D%/parser.h \
  %D%/token.c \
  %D%/tree.c

EXTRA_DIST += %D%/lexer.re %D%/parser.y
BUILT_SOURCES += %D%/parser.h
MAINTAINERCLEANFILES += %D%/lexer.c %D%/parser.c %D%/parser.h

BISONFLAGS = -Wall -Werror -Wcounterexamples
RE2CFLAGS = -W -Werror --no-generation-date --no-version

%D%/lexer.c: %D%/lexer.re
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)$(RE2C) $(RE2CFLAGS) -o $@ $<
%D%/parser.c: %D%/parser.y
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)$(BISON) $(BISONFLAGS) --header -o $@ $<
# One command makes both; a lost header brings it back.
%D%/parser.h: %D%/parser.c
	@if test -f $@ || test -f $(srcdir)/$@; then :; else \
	  rm -f %D%/parser.c; $(MAKE) $(AM_MAKEFLAGS) %D%/parser.c; fi

# For those who build a single object.
%D%/lexer.lo %D%/message.lo %D%/parse.lo %D%/token.lo: %D%/parser.h
