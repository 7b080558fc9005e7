# examples/local.mk - scripts to read and run, and their data.

examplesdir = $(docdir)/examples
dist_examples_DATA = \
  %D%/convolution.gsl \
  %D%/data_parallel.gsl \
  %D%/digits.gsl \
  %D%/hello.gsl \
  %D%/model_parallel.gsl \
  %D%/pipeline.gsl \
  %D%/transformer_2d.gsl \
  %D%/uneven.gsl

examplesdatadir = $(examplesdir)/data
dist_examplesdata_DATA = \
  %D%/data/README.md \
  %D%/data/digits_b1.npy \
  %D%/data/digits_b2.npy \
  %D%/data/digits_w1.npy \
  %D%/data/digits_w2.npy \
  %D%/data/digits_x.npy \
  %D%/data/digits_y.npy \
  %D%/data/train_digits.py
