dnl m4/gs_libraries.m4 - the libraries that pkg-config alone does not settle.

dnl oneDNN: Debian's libdnnl-dev has no pkg-config file.
AC_DEFUN([GS_CHECK_ONEDNN], [
  gs_saved_LIBS=$LIBS
  AC_CHECK_HEADER([dnnl.h], [], [AC_MSG_ERROR([oneDNN is needed (Debian: libdnnl-dev)])])
  AC_CHECK_LIB([dnnl], [dnnl_sgemm], [DNNL_LIBS=-ldnnl],
    [AC_MSG_ERROR([oneDNN does not link (Debian: libdnnl-dev)])])
  dnl oneDNN's threads are OpenMP's: our pool's threads tell it to use one each.
  AC_CHECK_LIB([gomp], [omp_set_num_threads], [DNNL_LIBS="$DNNL_LIBS -lgomp"],
    [AC_MSG_ERROR([the OpenMP runtime libgomp is needed (it comes with gcc)])])
  LIBS=$gs_saved_LIBS
  AC_SUBST([DNNL_LIBS])])

dnl Readline itself, not libedit: the prompt needs rl_check_signals.
AC_DEFUN([GS_CHECK_READLINE], [
  AC_ARG_WITH([readline],
    [AS_HELP_STRING([--with-readline@<:@=auto|yes|no@:>@], [edit lines at the prompt (auto)])],
    [], [with_readline=auto])
  AS_VAR_IF([with_readline], [no], [], [
    gs_wanted=$with_readline
    PKG_CHECK_MODULES([READLINE], [readline >= 7.0], [with_readline=yes], [
      gs_saved_LIBS=$LIBS
      AC_CHECK_LIB([readline], [rl_check_signals],
        [READLINE_LIBS=-lreadline with_readline=yes], [with_readline=no])
      LIBS=$gs_saved_LIBS])
    AS_IF([test "$gs_wanted" = yes && test "$with_readline" = no],
      [AC_MSG_ERROR([--with-readline: not found (Debian: libreadline-dev)])])])
  AS_VAR_IF([with_readline], [yes],
    [AC_DEFINE([HAVE_READLINE], [1], [Define to 1 to edit lines with GNU Readline.])])
  AM_CONDITIONAL([HAVE_READLINE], [test "$with_readline" = yes])])

dnl Check, for the unit tests only.
AC_DEFUN([GS_CHECK_CHECK], [
  PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes],
    [have_check="no (Debian: check)"])
  AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])])

dnl MPI, for a plug-in only: flags are asked of pkg-config, then of the compiler wrapper, and
dnl believed once a program links with them.
AC_DEFUN([GS_CHECK_MPI], [
  AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi@<:@=auto|yes|no@:>@], [look for MPI (auto)])],
    [], [with_mpi=auto])
  AC_ARG_VAR([MPICC], [MPI compiler wrapper, asked only for its flags])
  AS_VAR_IF([with_mpi], [no], [], [
    gs_wanted=$with_mpi
    with_mpi=no
    for gs_module in mpi-c ompi-c mpich; do
      AS_IF([test -z "$MPI_LIBS" && $PKG_CONFIG --exists $gs_module], [
        MPI_CFLAGS=`$PKG_CONFIG --cflags $gs_module`
        MPI_LIBS=`$PKG_CONFIG --libs $gs_module`])
    done
    AS_IF([test -z "$MPI_LIBS"], [
      AC_CHECK_PROGS([MPICC], [mpicc])
      AS_IF([test -n "$MPICC"], [
        MPI_CFLAGS=`$MPICC --showme:compile 2>/dev/null`
        MPI_LIBS=`$MPICC --showme:link 2>/dev/null`])])
    AC_MSG_CHECKING([for MPI])
    AS_IF([test -n "$MPI_LIBS"], [
      gs_saved_CFLAGS=$CFLAGS gs_saved_LIBS=$LIBS
      CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <mpi.h>], [MPI_Init(0, 0);])], [with_mpi=yes])
      CFLAGS=$gs_saved_CFLAGS LIBS=$gs_saved_LIBS])
    AC_MSG_RESULT([$with_mpi])
    AS_IF([test "$gs_wanted" = yes && test "$with_mpi" = no],
      [AC_MSG_ERROR([--with-mpi: no MPI found (Debian: libopenmpi-dev)])])])
  AC_SUBST([MPI_CFLAGS])
  AC_SUBST([MPI_LIBS])
  AM_CONDITIONAL([HAVE_MPI], [test "$with_mpi" = yes])])
