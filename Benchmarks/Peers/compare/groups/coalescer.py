"""The coalescer, compared with others and with callers that share nothing."""

from ..running import Run
from ..table import nanoseconds, ratio_table

TITLE = "Coalescer"
BASE = "Cistern Coalescer"
SUBJECTS = [
    ("swift", "Cistern Coalescer"), ("swift", "Cistern Cache"), ("swift", "actor with tasks"), ("go", "Go singleflight"),
    ("java", "Caffeine futures"), ("swift", "tasks alone"), ("go", "goroutines alone"),
]
#: The subject with the cost of the callers alone, for each subject whose language has one.
CALLERS_ALONE = {
    "Cistern Coalescer": "tasks alone", "Cistern Cache": "tasks alone", "actor with tasks": "tasks alone",
    "Go singleflight": "goroutines alone",
}
CALLERS = 1_000
WORKLOADS = [
    (f"{CALLERS:,} callers of one key", "one key", 1), (f"{CALLERS:,} callers of a key each", "many keys", 1),
    ("one call after the other", "alone", 1),
]


def runs(options):
    return [Run(harness, subject, ("coalescer", subject, str(CALLERS))) for harness, subject in SUBJECTS]


def tables(figures):
    subjects = [subject for _, subject in SUBJECTS]
    calls = ratio_table(
        "coalescer", "Calls",
        "Nanoseconds a call, from the first caller's start to the last one's end; loads wait until all have come. Callers are "
        "tasks or goroutines; those of Caffeine are futures of one thread. *Alone* shares nothing and looks nothing up: "
        "what the callers themselves cost.",
        BASE, figures, WORKLOADS, "ns", nanoseconds, subjects)
    shares = ratio_table(
        "coalescer-beside-callers", "Calls beside their callers",
        "The same as multiples of what callers of their kind cost alone, in the same round: the rows above also compare a task with a "
        "goroutine. Callers that are alone wait too, for a door; about 1 is a call that adds nothing which could be measured.",
        BASE, figures.beside(CALLERS_ALONE, "ns", "multiple"), WORKLOADS[:2], "multiple",
        lambda value: f"{value:.2f} of a caller", list(CALLERS_ALONE))
    if shares:
        shares.is_drawn = False
    return [table for table in (calls, shares) if table]
