"""The groups. Each defines its processes, and makes tables of the figures.

A group is a module with `TITLE`, `runs(options)` and `tables(figures)`. `runs` returns the processes of a round.
"""

from . import coalescer, disk, eviction, memory, whole

GROUPS = {"memory": memory, "coalescer": coalescer, "disk": disk, "eviction": eviction, "whole": whole}
