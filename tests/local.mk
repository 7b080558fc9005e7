# tests/local.mk - everything `make check` runs.
#
# A program or script named x.tap speaks TAP and counts as many tests as it says; any other test
# counts as one, by its exit status (77: skipped).  A new unit test appends, under HAVE_CHECK:
#   check_PROGRAMS += %D%/unit/check_graph.tap
#   %C%_unit_check_graph_tap_SOURCES = %D%/unit/check_graph.c %D%/unit/run.h
#   %C%_unit_check_graph_tap_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
#   %C%_unit_check_graph_tap_LDADD = libgspmd.la $(CHECK_LIBS)
#   %C%_unit_check_graph_tap_LDFLAGS = $(AM_LDFLAGS) -static

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
