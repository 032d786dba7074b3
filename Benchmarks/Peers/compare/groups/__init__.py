"""The groups: each says what runs, and makes tables of the figures.

A group is a module with `TITLE`, `runs(options)`, which gives the processes of a round, and `tables(figures)`.
"""

from . import coalescer, disk, eviction, memory, whole

GROUPS = {"memory": memory, "coalescer": coalescer, "disk": disk, "eviction": eviction, "whole": whole}
