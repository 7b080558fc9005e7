# tests/local.mk - everything `make check` runs.
#
# A program or script named x.tap speaks TAP and counts as many tests as it says; any other test
# counts as one, by its exit status (77: skipped).  A unit test is a file unit/check_x.c with
# RUN_TESTS of unit/run.h at its end, and two lines below.

TEST_EXTENSIONS = .tap
TAP_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = \
  GSPMD='$(abs_builddir)/gspmd' LC_ALL=C TERM=dumb INPUTRC=/dev/null; \
  export GSPMD LC_ALL TERM INPUTRC; unset NO_COLOR GSPMD_HISTORY;
# Under sanitizers Check must not fork, or the children report the parent's memory as leaked.
if SANITIZE
AM_TESTS_ENVIRONMENT += CK_FORK=no; export CK_FORK;
endif

TESTS += $(check_PROGRAMS)

# Tests with programs of their own: the script x.tap runs them, tests/x.log needs them.
AM_TESTS_ENVIRONMENT += CC='$(CC)'; export CC;
tap_scripts = \
  %D%/check_dependencies.tap \
  %D%/check_headers.tap \
  %D%/check_status.tap \
  %D%/check_symbols.tap \
  %D%/differential.tap \
  %D%/golden.tap \
  %D%/plugins.tap \
  %D%/programs.tap \
  %D%/reshard.tap \
  %D%/xla.tap
TESTS += $(tap_scripts)
EXTRA_DIST += $(tap_scripts) %D%/golden %D%/golden-exceptions %D%/reshard %D%/run-golden %D%/xla

# As others build them: shared, without the library.
check_LTLIBRARIES += %D%/plugins/other.la %D%/plugins/trace.la
plugin_flags = $(SANITIZE_CFLAGS) -module -shared -avoid-version -rpath /nowhere
%C%_plugins_other_la_SOURCES = %D%/plugins/other.c
%C%_plugins_other_la_LDFLAGS = $(plugin_flags)
%C%_plugins_trace_la_SOURCES = %D%/plugins/trace.c
%C%_plugins_trace_la_LDFLAGS = $(plugin_flags)

EXTRA_PROGRAMS += %D%/differential/differential %D%/programs/programs %D%/reshard_runner %D%/xla_runner
CLEANFILES += \
  %D%/differential/differential$(EXEEXT) %D%/programs/programs$(EXEEXT) %D%/reshard_runner$(EXEEXT) \
  %D%/xla_runner$(EXEEXT)
%D%/check_status.log: gspmd$(EXEEXT)
%D%/check_symbols.log: libgspmd.la
%D%/differential.log: %D%/differential/differential$(EXEEXT)
%D%/golden.log: gspmd$(EXEEXT)
%D%/plugins.log: gspmd$(EXEEXT) %D%/plugins/other.la %D%/plugins/trace.la
%D%/programs.log: %D%/programs/programs$(EXEEXT)
%D%/unit/check_prompt.log: gspmd$(EXEEXT)
%D%/reshard.log: %D%/reshard_runner$(EXEEXT)
%D%/xla.log: %D%/xla_runner$(EXEEXT)

%C%_differential_differential_SOURCES = \
  %D%/differential/bounds.c \
  %D%/differential/bounds.h \
  %D%/differential/check.c \
  %D%/differential/check.h \
  %D%/differential/compare.c \
  %D%/differential/compare.h \
  %D%/differential/dice.h \
  %D%/differential/differential.c \
  %D%/differential/generate.c \
  %D%/differential/generate.h \
  %D%/differential/generate_leaf.c \
  %D%/differential/generate_shape.c \
  %D%/differential/isolate.c \
  %D%/differential/recipe.c \
  %D%/differential/recipe.h \
  %D%/differential/recipe_type.c \
  %D%/differential/shrink.c \
  %D%/differential/simulate.c \
  %D%/differential/simulate.h \
  %D%/differential/source.c
%C%_differential_differential_LDADD = libgspmd.la

%C%_programs_programs_SOURCES = \
  %D%/differential/compare.c \
  %D%/differential/compare.h \
  %D%/differential/dice.h \
  %D%/differential/recipe.h \
  %D%/differential/recipe_type.c \
  %D%/programs/generate.c \
  %D%/programs/main.c \
  %D%/programs/manual.c \
  %D%/programs/programs.h \
  %D%/programs/templates.c \
  %D%/programs/templates_index.c
%C%_programs_programs_LDADD = libgspmd.la

%C%_reshard_runner_SOURCES = \
  %D%/corpus.c %D%/corpus.h %D%/differential/compare.c %D%/differential/compare.h \
  %D%/reshard_runner.c
%C%_reshard_runner_LDADD = libgspmd.la $(JANSSON_LIBS)

%C%_xla_runner_SOURCES = \
  %D%/corpus.c %D%/corpus.h %D%/differential/compare.c %D%/differential/compare.h \
  %D%/xla_case.c %D%/xla_case.h %D%/xla_runner.c
%C%_xla_runner_LDADD = libgspmd.la $(JANSSON_LIBS)

# Unit tests; what they share is in a library of its own.
LDADD = %D%/unit/libunit.la libgspmd.la $(CHECK_LIBS)
if HAVE_CHECK
AM_CPPFLAGS += $(CHECK_CFLAGS)
check_LTLIBRARIES += %D%/unit/libunit.la
%C%_unit_libunit_la_SOURCES = \
  %D%/unit/fixture.c \
  %D%/unit/fixture.h \
  %D%/unit/run.h \
  %D%/unit/script.c \
  %D%/unit/script.h \
  %D%/unit/sketch.c \
  %D%/unit/sketch.h \
  %D%/unit/tree_text.c \
  %D%/unit/tree_text.h
check_PROGRAMS += \
  %D%/unit/check_bytes.tap \
  %D%/unit/check_choose.tap \
  %D%/unit/check_combine.tap \
  %D%/unit/check_contraction.tap \
  %D%/unit/check_control.tap \
  %D%/unit/check_cpu.tap \
  %D%/unit/check_device.tap \
  %D%/unit/check_einsum.tap \
  %D%/unit/check_eval.tap \
  %D%/unit/check_grammar_fuzz.tap \
  %D%/unit/check_graph.tap \
  %D%/unit/check_index.tap \
  %D%/unit/check_looped.tap \
  %D%/unit/check_lang.tap \
  %D%/unit/check_lexer.tap \
  %D%/unit/check_manual.tap \
  %D%/unit/check_notation.tap \
  %D%/unit/check_npy.tap \
  %D%/unit/check_parser.tap \
  %D%/unit/check_order.tap \
  %D%/unit/check_pains.tap \
  %D%/unit/check_partition.tap \
  %D%/unit/check_print.tap \
  %D%/unit/check_program.tap \
  %D%/unit/check_prompt.tap \
  %D%/unit/check_reference.tap \
  %D%/unit/check_reshard.tap \
  %D%/unit/check_session.tap \
  %D%/unit/check_sharding.tap \
  %D%/unit/check_transform.tap \
  %D%/unit/check_window.tap
%C%_unit_check_bytes_tap_SOURCES = %D%/unit/check_bytes.c
%C%_unit_check_choose_tap_SOURCES = %D%/unit/check_choose.c
%C%_unit_check_combine_tap_SOURCES = %D%/unit/check_combine.c
%C%_unit_check_contraction_tap_SOURCES = %D%/unit/check_contraction.c
%C%_unit_check_control_tap_SOURCES = %D%/unit/check_control.c
%C%_unit_check_cpu_tap_SOURCES = %D%/unit/check_cpu.c
%C%_unit_check_device_tap_SOURCES = %D%/unit/check_device.c
%C%_unit_check_einsum_tap_SOURCES = %D%/unit/check_einsum.c
%C%_unit_check_eval_tap_SOURCES = %D%/unit/check_eval.c
%C%_unit_check_grammar_fuzz_tap_SOURCES = %D%/unit/check_grammar_fuzz.c
%C%_unit_check_graph_tap_SOURCES = %D%/unit/check_graph.c
%C%_unit_check_index_tap_SOURCES = %D%/unit/check_index.c
%C%_unit_check_looped_tap_SOURCES = %D%/unit/check_looped.c
%C%_unit_check_lang_tap_SOURCES = %D%/unit/check_lang.c
%C%_unit_check_lexer_tap_SOURCES = %D%/unit/check_lexer.c
%C%_unit_check_manual_tap_SOURCES = %D%/unit/check_manual.c
%C%_unit_check_notation_tap_SOURCES = %D%/unit/check_notation.c
%C%_unit_check_notation_tap_LDADD = $(LDADD) $(JANSSON_LIBS)
%C%_unit_check_npy_tap_SOURCES = %D%/unit/check_npy.c
%C%_unit_check_parser_tap_SOURCES = %D%/unit/check_parser.c
%C%_unit_check_order_tap_SOURCES = %D%/unit/check_order.c
%C%_unit_check_pains_tap_SOURCES = %D%/unit/check_pains.c
%C%_unit_check_partition_tap_SOURCES = %D%/unit/check_partition.c
%C%_unit_check_print_tap_SOURCES = %D%/unit/check_print.c
%C%_unit_check_print_tap_LDADD = $(LDADD) $(JANSSON_LIBS)
%C%_unit_check_program_tap_SOURCES = %D%/unit/check_program.c
%C%_unit_check_prompt_tap_SOURCES = %D%/unit/check_prompt.c
%C%_unit_check_reference_tap_SOURCES = %D%/unit/check_reference.c
%C%_unit_check_reshard_tap_SOURCES = %D%/unit/check_reshard.c
%C%_unit_check_session_tap_SOURCES = %D%/unit/check_session.c
%C%_unit_check_sharding_tap_SOURCES = %D%/unit/check_sharding.c
%C%_unit_check_transform_tap_SOURCES = %D%/unit/check_transform.c
%C%_unit_check_window_tap_SOURCES = %D%/unit/check_window.c
endif

# The documents and examples say what the program does; refresh-docs writes their sessions anew.
TESTS += %D%/check_docs.tap
EXTRA_DIST += %D%/check_docs.tap
%D%/check_docs.log: gspmd$(EXEEXT)
.PHONY: refresh-docs
refresh-docs: gspmd$(EXEEXT)
	GSPMD_ACCEPT=yes srcdir=$(srcdir) GSPMD=$(abs_builddir)/gspmd $(srcdir)/%D%/check_docs.tap

# Transcripts: what sessions and scripts print, errors above all.
.PHONY: refresh-golden
refresh-golden: gspmd$(EXEEXT)
	GSPMD_ACCEPT=yes GSPMD=./gspmd srcdir=$(srcdir) $(srcdir)/%D%/run-golden
