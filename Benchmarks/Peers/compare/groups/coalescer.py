"""The coalescer, beside others, and beside callers that share nothing."""

from ..running import Run
from ..table import nanoseconds, ratio_table

TITLE = "Coalescer"
BASE = "Cistern Coalescer"
SUBJECTS = [
    ("swift", "Cistern Coalescer"), ("swift", "Cistern Cache"), ("swift", "actor with tasks"), ("go", "Go singleflight"),
    ("java", "Caffeine futures"), ("swift", "tasks alone"), ("go", "goroutines alone"),
]
CALLERS = 1_000
WORKLOADS = [
    (f"{CALLERS:,} callers of one key", "one key", 1), (f"{CALLERS:,} callers of a key each", "many keys", 1),
    ("one call after the other", "alone", 1),
]


def runs(options):
    return [Run(harness, subject, ("coalescer", subject, str(CALLERS))) for harness, subject in SUBJECTS]


def tables(figures):
    table = ratio_table(
        "coalescer", "Calls",
        "Nanoseconds a call, from the first caller's start to the last one's end; loads wait until all have come. Callers are "
        "tasks or goroutines; those of Caffeine are futures of one thread. *Alone* shares nothing and looks nothing up: "
        "what the callers themselves cost.",
        BASE, figures, WORKLOADS, "ns", nanoseconds, [subject for _, subject in SUBJECTS])
    return [table] if table else []
