# interp/local.mk - the evaluator, the functions and commands of the language, and the gspmd command.
#
# Everything but main.c, repl*.c and line*.c is in the library.

libgspmd_la_SOURCES += \
  %D%/annotation.c \
  %D%/annotation.h \
  %D%/api.c \
  %D%/argument.c \
  %D%/ask.h \
  %D%/builtin.c \
  %D%/builtin.h \
  %D%/call.c \
  %D%/command.c \
  %D%/command.h \
  %D%/compare.c \
  %D%/complete.c \
  %D%/edit.c \
  %D%/eval.c \
  %D%/eval.h \
  %D%/functions_ask.c \
  %D%/functions_control.c \
  %D%/functions_index.c \
  %D%/functions_list.c \
  %D%/functions_manual.c \
  %D%/functions_math.c \
  %D%/functions_order.c \
  %D%/functions_shape.c \
  %D%/functions_sharding.c \
  %D%/functions_source.c \
  %D%/functions_text.c \
  %D%/functions_transform.c \
  %D%/functions_window.c \
  %D%/help.c \
  %D%/help.h \
  %D%/inputs.c \
  %D%/operate.c \
  %D%/plans.c \
  %D%/plans.h \
  %D%/prelude.h \
  %D%/regex.h \
  %D%/report.c \
  %D%/report.h \
  %D%/scope.c \
  %D%/scope.h \
  %D%/session.c \
  %D%/session.h \
  %D%/settings.c \
  %D%/settings.h \
  %D%/subscript.c \
  %D%/value.c \
  %D%/value.h \
  %D%/words.c

# The library's part that is written in the language itself.
prelude_files = \
  %D%/prelude/layers.gsl \
  %D%/prelude/reductions.gsl
EXTRA_DIST += build-aux/embed.sh $(prelude_files)
nodist_libgspmd_la_SOURCES += %D%/prelude_data.c
CLEANFILES += %D%/prelude_data.c
%D%/prelude_data.c: $(prelude_files) build-aux/embed.sh %D%/local.mk
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)$(SHELL) $(srcdir)/build-aux/embed.sh $(srcdir) $(prelude_files) > $@.tmp && mv $@.tmp $@

bin_PROGRAMS += gspmd
gspmd_SOURCES = \
  %D%/line.c \
  %D%/line.h \
  %D%/main.c \
  %D%/main_options.c \
  %D%/main_options.h \
  %D%/repl.c \
  %D%/repl.h
gspmd_CPPFLAGS = $(AM_CPPFLAGS) $(READLINE_CFLAGS)
gspmd_LDADD = libgspmd.la $(READLINE_LIBS)
# Plug-ins find the library in the process that opens them.
gspmd_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
