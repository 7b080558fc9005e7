#!/bin/sh
# embed.sh - print C source that holds text files as byte arrays, for interp/prelude.h.
# usage: embed.sh SOURCE-FOLDER FILE...
set -eu
folder=$1
shift

echo '/* Made by build-aux/embed.sh from interp/prelude/. */'
echo '#include <config.h>'
echo
echo '#include "interp/prelude.h"'
number=0
rows=
for file; do
  echo
  echo "static const unsigned char text_${number}[] = {"
  od -An -v -tu1 "$folder/$file" | sed 's/  *\([0-9][0-9]*\)/\1,/g; s/^/  /'
  echo '  0'
  echo '};'
  rows="$rows
  { \"${file##*/}\", (const char *)text_$number, sizeof text_$number - 1 },"
  number=$((number + 1))
done
echo
echo "const struct gs_prelude_file gs_prelude_files[] = {$rows
  { 0 }
};"
