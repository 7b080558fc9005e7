dnl m4/gs_flags.m4 - compiler warnings and sanitizers.

dnl GS_APPEND_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE when the compiler takes it.
AC_DEFUN([GS_APPEND_FLAG], [
  AS_VAR_PUSHDEF([gs_cache], [gs_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [gs_cache], [
    gs_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_VAR_SET([gs_cache], [yes])], [AS_VAR_SET([gs_cache], [no])])
    CFLAGS=$gs_saved_CFLAGS])
  AS_VAR_IF([gs_cache], [yes], [AS_VAR_APPEND([$1], [" $2"])])
  AS_VAR_POPDEF([gs_cache])])

AC_DEFUN([GS_CHECK_FLAGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [], [enable_werror=no])
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize],
      [find bad memory accesses and undefined behaviour while running])],
    [], [enable_sanitize=no])

  WARN_CFLAGS=
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion
      -Wstrict-prototypes -Wmissing-prototypes -Wvla],
    [GS_APPEND_FLAG([WARN_CFLAGS], flag)])
  AS_VAR_IF([enable_werror], [no], [], [AS_VAR_APPEND([WARN_CFLAGS], [" -Werror"])])

  dnl What the loops of the CPU backend may assume: nothing reads errno or the floating-point flags.
  LOOP_CFLAGS=
  m4_foreach_w([flag], [-fno-math-errno -fno-trapping-math],
    [GS_APPEND_FLAG([LOOP_CFLAGS], flag)])

  SANITIZE_CFLAGS=
  AS_VAR_IF([enable_sanitize], [no], [], [
    SANITIZE_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all"
    SANITIZE_CFLAGS="$SANITIZE_CFLAGS -fno-omit-frame-pointer"
    gs_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZE_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
      [AC_MSG_ERROR([--enable-sanitize: $CC cannot link with $SANITIZE_CFLAGS])])
    CFLAGS=$gs_saved_CFLAGS])

  AM_CONDITIONAL([SANITIZE], [test "$enable_sanitize" != no])
  AC_SUBST([GS_OPTIMIZE])
  AC_SUBST([GS_OPTIMIZE_LOOPS])
  AC_SUBST([WARN_CFLAGS])
  AC_SUBST([LOOP_CFLAGS])
  AC_SUBST([SANITIZE_CFLAGS])])
