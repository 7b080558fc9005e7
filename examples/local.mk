# examples/local.mk - scripts to read and run, and their data.
