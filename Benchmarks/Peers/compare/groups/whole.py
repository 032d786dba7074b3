"""The whole system: a client of an HTTP origin, with and without a cache."""

from ..harnesses import BUILD, ROOT
from ..running import Run
from ..table import metric_table, nanoseconds

TITLE = "Whole"
BASE = "Cistern"
SUBJECTS = ["Cistern", "Cistern memory", "no cache", "NSCache", "Redis"]
#: The origin's latency for each answer, in milliseconds.
LATENCY = 5
LOADS = {
    "mixed": (
        "Warm mixed load",
        "Keys by Zipf's law (0.99) over 20,000 keys, all of which were requested before. Every hundredth request also removes a random key, as if "
        "its value had changed. *Requests a second* is the throughput of 64 tasks without pauses. The other rows are measured at 2,000 requests a "
        f"second at random times. The origin takes {LATENCY} ms for each answer, and values have 1 to 16 KiB. Memory is limited to 32 MiB, a fifth of "
        "all values. *Cistern* has the rest on disk, *Cistern memory* has no disk, and Redis holds all values. On Linux, NSCache evicts the entries "
        "with the lowest cost first, even new ones. Once full, it keeps few of the popular values."),
    "restart": (
        "After a restart of the client",
        "The first requests after the client was restarted without its memory, at 2,000 a second."),
    "burst": (
        "Bursts",
        "1,000 concurrent callers: 50 for each of 20 keys without a value. Latencies count from the start of the burst."),
}
METRICS = [
    # The ratio divides the times of one request, so that above 1 more requests are served.
    ("requests a second", "ns", lambda value: f"{1e9 / value:,.0f}"),
    ("origin requests", "origin_requests", lambda share: f"{share:.2%}"),
    ("latency, median", "p50_ns", nanoseconds),
    ("latency, 99 %", "p99_ns", nanoseconds),
    ("latency, 99.9 %", "p999_ns", nanoseconds),
]


def runs(options):
    folder = BUILD / "whole"
    folder.mkdir(parents=True, exist_ok=True)
    seconds = 0.3 if options.quick else 2
    return [
        Run("whole", subject, ("whole", subject, str(folder.relative_to(ROOT)), str(seconds), str(LATENCY)))
        for subject in SUBJECTS
    ]


def tables(figures):
    made = [
        metric_table(f"whole-{load}", title, note, BASE, figures, load, METRICS, SUBJECTS)
        for load, (title, note) in LOADS.items()
    ]
    return [table for table in made if table]
