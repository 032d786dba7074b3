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
    (f"{CALLERS:,} callers of one key", "one key", 1), (f"{CALLERS:,} callers, each with its own key", "many keys", 1),
    ("consecutive calls", "alone", 1),
]


def runs(options):
    return [Run(harness, subject, ("coalescer", subject, str(CALLERS))) for harness, subject in SUBJECTS]


def tables(figures):
    subjects = [subject for _, subject in SUBJECTS]
    calls = ratio_table(
        "coalescer", "Calls",
        "Nanoseconds per call, from the start of the first caller to the end of the last one. Each load waits until all callers have "
        "joined. Callers are tasks or goroutines; the callers of Caffeine are futures of one thread. *Alone* is the cost of the callers "
        "without a coalescer.",
        BASE, figures, WORKLOADS, "ns", nanoseconds, subjects)
    shares = ratio_table(
        "coalescer-beside-callers", "Calls beside their callers",
        "The same calls as multiples of the cost of their callers alone, in the same round. The rows above also compare a task with a "
        "goroutine; these rows do not. Callers alone also wait, for a gate. A value of about 1 is a call without a measurable cost.",
        BASE, figures.beside(CALLERS_ALONE, "ns", "multiple"), WORKLOADS[:2], "multiple",
        lambda value: f"{value:.2f} of a caller", list(CALLERS_ALONE))
    if shares:
        shares.is_drawn = False
    return [table for table in (calls, shares) if table]
