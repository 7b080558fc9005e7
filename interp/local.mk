# interp/local.mk - the evaluator, the functions and commands of the language, and the gspmd command.
#
# Everything but main.c, repl*.c and line*.c is in the library.

libgspmd_la_SOURCES += \
  %D%/prelude.h

# The library's part that is written in the language itself.
prelude_files =
EXTRA_DIST += build-aux/embed.sh $(prelude_files)
nodist_libgspmd_la_SOURCES += %D%/prelude_data.c
CLEANFILES += %D%/prelude_data.c
%D%/prelude_data.c: $(prelude_files) build-aux/embed.sh %D%/local.mk
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)$(SHELL) $(srcdir)/build-aux/embed.sh $(srcdir) $(prelude_files) > $@.tmp && mv $@.tmp $@

EXTRA_PROGRAMS += gspmd
gspmd_SOURCES =
gspmd_CPPFLAGS = $(AM_CPPFLAGS) $(READLINE_CFLAGS)
gspmd_LDADD = libgspmd.la $(READLINE_LIBS)
