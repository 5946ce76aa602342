"""Kernels of the exact tree, each module importing only those above it in this list.

order       the canonical order of nodes
layout      what the kernels share: named tuples of arrays, codes of criteria and phases
deviation   median and mean distance from it
impurity    sums, impurity and the score of a split
sort        a column into ascending order
heap        which node is split next in best-first growth
thresholds  best threshold of a numeric column, missing values on either side
bounds      what a column that must rise or fall allows, and how it bounds the values below
levels      best partition of a categorical column's levels
random_splits  one threshold or partition of a column, drawn
grow        the whole tree: evaluate, partition, next node, within a budget of work
medians     best split of either by absolute error
grow_medians  the whole tree by absolute error
"""
