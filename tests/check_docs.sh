#!/bin/sh
# tests/check_docs.sh - the documents say what the program does.
#
#   every operator, function and command is in docs/language.md
#   every option of --help is in docs/gspmd.1
#   every block of the documents marked gsl runs without an error
#   every block marked session shows what the prompt answers: lines behind "gspmd> " are typed, those
#   behind "  ...> " go on with the statement before
#
# With GSPMD_ACCEPT=yes the sessions are written anew.
set -eu
srcdir=${srcdir:-.}
srcdir=$(cd "$srcdir" && pwd)
: "${GSPMD:=$PWD/gspmd}"
manual=$srcdir/docs/language.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAIL: %s\n' "$*"
  failures=$((failures + 1))
}

operators() {
  sed -n 's/^GS_OP([A-Z0-9_]*, *"\([^"]*\)".*/\1/p' "$srcdir/lang/ops.def" | grep -v '^reduce_'
}
# The first column of tables in C.
table_names() {
  sed -n 's/^  *\({ *\|[A-Z]*(\)"\([a-z_]*\)", .*/\2/p' "$@" | sort -u
}
# Whether the manual has NAME as a word in code: `name`, `name(...)`, `:name`.
in_manual() {
  grep -q "\`\([^\`]*[^a-z_\`-]\)\{0,1\}$1\([^a-z_-][^\`]*\)\{0,1\}\`" "$manual"
}

check_names() {
  for name in $(operators) $(table_names "$srcdir"/interp/functions_*.c); do
    in_manual "$name" || fail "docs/language.md lacks $name"
  done
  for name in $(table_names "$srcdir"/interp/commands*.c); do
    in_manual ":$name" || fail "docs/language.md lacks the command :$name"
  done
}

check_options() {
  "$GSPMD" --help | grep -o -e '--[a-z-]*' | sort -u > "$work/options"
  test -s "$work/options" || fail '--help names no option'
  sed 's/\\-/-/g' "$srcdir/docs/gspmd.1" > "$work/man"
  while read -r option; do
    grep -q -e "$option" "$work/man" || fail "docs/gspmd.1 lacks the option $option"
  done < "$work/options"
}

# Cut the blocks out of FILE into $work/NAME.LINE.gsl and $work/NAME.LINE.session.
cut_blocks() {
  awk -v base="$work/$(basename "$1")" '
    /^```/ && inside { close(out); inside = 0; next }
    /^```/ { inside = 1; kind = substr($0, 4); out = base "." NR "." kind
             if (kind == "session") printf "" > out
             next }
    inside && (kind == "gsl" || kind == "session") { print > out }
  ' "$1"
}

# What the prompt shows when the lines typed in the session FILE are typed again: run up to each
# statement, and take what the last one added.
replay() {
  grep -E '^(gspmd>|  \.\.\.>)' "$1" > "$work/lines"
  : > "$work/before"
  count=0
  total=$(wc -l < "$work/lines")
  while test "$count" -lt "$total"; do
    count=$((count + 1))
    sed -n "${count}p" "$work/lines"
    case $(sed -n "$((count + 1))p" "$work/lines") in
      '  ...>'*) continue ;;
    esac
    head -n "$count" "$work/lines" | cut -c 8- | "$GSPMD" > "$work/after" 2>&1 || true
    tail -n "+$(($(wc -l < "$work/before") + 1))" "$work/after" | sed 's/[ \t]*$//'
    mv "$work/after" "$work/before"
  done
}

# Put the sessions played again in place of those in FILE.
accept() {
  awk -v base="$work/$(basename "$1")" '
    /^```/ && inside { inside = 0; skip = 0 }
    /^```session$/ && !skip { print; file = base "." NR ".played"
                              while ((getline line < file) > 0) print line
                              close(file); inside = 1; skip = 1; next }
    /^```./ { inside = 1 }
    !skip { print }
  ' "$1" > "$work/accepted"
  cat "$work/accepted" > "$1"
}

check_blocks() {
  cd "$srcdir"
  for file in README.md docs/*.md; do
    cut_blocks "$file"
    name=$work/$(basename "$file")
    for block in "$name".*.gsl; do
      test -f "$block" || continue
      "$GSPMD" "$block" > "$work/output" 2>&1 || { cat "$work/output"; fail "$block: does not run"; }
    done
    for block in "$name".*.session; do
      test -f "$block" || continue
      replay "$block" > "${block%.session}.played"
      test "${GSPMD_ACCEPT:-no}" = yes && continue
      diff "$block" "${block%.session}.played" || fail "$block: the prompt answers something else"
    done
    test "${GSPMD_ACCEPT:-no}" != yes || accept "$file"
  done
}

check_names
check_options
check_blocks
test "$failures" -eq 0 || { echo "$failures failed"; exit 1; }
