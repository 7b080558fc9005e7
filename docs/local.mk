# docs/local.mk - the manual.

dist_man1_MANS += %D%/gspmd.1

dist_doc_DATA += \
  README.md \
  %D%/language.md \
  %D%/plan-format.md \
  %D%/plugins.md \
  %D%/tutorial.md

EXTRA_DIST += \
  CONTRIBUTING.md \
  NEWS.md \
  %D%/dependencies.md \
  %D%/design.md
