"""The memory tier, compared with other containers of values."""

from ..running import Run
from ..table import count, nanoseconds, ratio_table, size

TITLE = "Memory tier"
BASE = "Cistern"
SUBJECTS = [
    ("swift", "Cistern"), ("swift", "Dictionary+Mutex"), ("java", "Caffeine"), ("go", "Go map+mutex"),
    ("go", "Go sync.Map"), ("swift", "NSCache"),
]
KINDS = {"int": "64-bit keys", "string": "strings of 20 bytes"}
SIZES = [16_000, 1_000_000]


def runs(options):
    sizes = SIZES[:1] if options.quick else SIZES
    requests = 100_000 if options.quick else 500_000
    return [
        Run(harness, subject, ("memory", subject, kind, str(entries), str(requests)))
        for entries in sizes for kind in KINDS for harness, subject in SUBJECTS
    ]


def tables(figures):
    def rows(load):
        return [
            (f"{KINDS[kind]}, {count(entries)} entries, {threads} thread{'s' if threads > 1 else ''}",
             f"{load}/{kind}/{entries}", threads)
            for kind in KINDS for entries in SIZES for threads in (1, 2)
        ]

    def space():
        # With few entries, a garbage collector's count is not precise.
        return [(f"{KINDS[kind]}, {count(SIZES[1])} entries", f"space/{kind}/{SIZES[1]}", 1) for kind in KINDS]

    subjects = [subject for _, subject in SUBJECTS]
    made = [
        ratio_table(
            "memory-hits", "Hits", "Look-ups by Zipf's law (0.99). All look-ups hit. Nanoseconds per look-up and thread.",
            BASE, figures, rows("hits"), "ns", nanoseconds, subjects),
        ratio_table(
            "memory-mix", "Mix", "Three look-ups that hit, and then one write over a value. Keys by Zipf's law (0.99).",
            BASE, figures, rows("mix"), "ns", nanoseconds, subjects),
        ratio_table(
            "memory-load", "Load", "The limit admits a tenth of the entries. Each miss is stored and evicts others. Only subjects with a limit take part.",
            BASE, figures, rows("load"), "ns", nanoseconds, subjects),
        ratio_table(
            "memory-load-processor", "Processor time of that load",
            "The processor time of all threads of the process. Caffeine evicts on a separate thread.",
            BASE, figures, rows("load"), "processor_ns", nanoseconds, subjects),
        ratio_table(
            "memory-misses", "Misses of that load", "The share of look-ups that missed. Less is better.",
            BASE, figures, rows("load"), "miss_ratio", lambda ratio: f"{ratio:.1%}", subjects),
        ratio_table(
            "memory-space", "Bytes per entry",
            "The size includes the key, which only the cache holds. Values are numbers.",
            BASE, figures, space(), "bytes_per_entry", size, subjects),
    ]
    return [table for table in made if table]
