"""The disk tier, compared with storage engines."""

import statistics

from ..harnesses import BUILD, ROOT
from ..running import Run
from ..table import Row, Table, count, nanoseconds, ratio_table, size

TITLE = "Disk tier"
BASE = "Cistern"
SUBJECTS = [
    ("swift", "Cistern"), ("disk", "LMDB"), ("disk", "RocksDB"), ("disk", "LevelDB"), ("disk", "SQLite"), ("disk", "files"),
]
SIZES = [100, 1_024, 16_384]
ENTRIES = [10_000, 100_000, 1_000_000]
LOADS = {
    "reads": ("Reads", "Random keys, all in the page cache. Each value is copied. *Cistern arrays* returns each value as a new array."),
    "reads while writing": ("Reads while writing", "The same reads on one thread, while another thread writes batches without a pause."),
    "load": ("Filling", "Writes of random keys to an empty engine, until all are on disk. Each batch of 1,000 is synced; Cistern chooses its own batches."),
    "writes": ("Writes in batches", "The same writes over existing values."),
    "writes while reading": ("Writes while reading", "The cost of the writer that runs beside the reads above."),
    "synced writes": ("Single writes, each on disk", "Consecutive writes. Each is synced to disk before the next."),
    "deletes": ("Deletes", "Batches of 1,000, each synced; Cistern chooses its own batches."),
    "open": ("Opening", "The opening of the engine and the first look-up."),
}


def runs(options):
    entries = ENTRIES[:1] if options.quick else ENTRIES[1:] if options.full else ENTRIES[1:2]
    folder = BUILD / "disk"
    folder.mkdir(parents=True, exist_ok=True)
    # A million files or 16 GB would show nothing new.
    return [
        Run(harness, subject, ("disk", subject, str(folder.relative_to(ROOT)), str(number), str(bytes_)), limit=1_800)
        for number in entries for bytes_ in SIZES for harness, subject in SUBJECTS
        if number < 1_000_000 or (bytes_ <= 1_024 and subject != "files")
    ]


def tables(figures):
    subjects = ["Cistern arrays"] + [subject for _, subject in SUBJECTS]

    def rows(load):
        return [(_title(bytes_, entries), f"{load}/{bytes_}/{entries}", 1) for bytes_ in SIZES for entries in ENTRIES]

    made = [
        ratio_table(
            f"disk-{load.replace(' ', '-')}", title, note, BASE, figures, rows(load), "ns", nanoseconds, subjects)
        for load, (title, note) in LOADS.items()
    ]
    made.append(
        ratio_table(
            "disk-space", "Space on disk", "Bytes per entry after filling and closing.", BASE, figures, rows("space"),
            "bytes_per_entry", size, subjects))
    return [table for table in made if table] + _payload(figures)


def _payload(figures):
    """Returns the share of the occupied space that values take, as a table, or nothing without figures."""
    table = Table(
        "disk-payload", "Payload on disk", "The values' share of the occupied space after filling and closing. **A greater share is better.**",
        "the occupied space", [subject for _, subject in SUBJECTS], base_is_ours=False)
    for bytes_ in SIZES:
        for entries in ENTRIES:
            spaces = {subject: figures.values(f"space/{bytes_}/{entries}", subject, "bytes_per_entry") for subject in table.subjects}
            shares = {
                subject: (bytes_ / statistics.median(found), bytes_ / max(found), bytes_ / min(found))
                for subject, found in spaces.items() if found
            }
            if shares:
                table.rows.append(Row(_title(bytes_, entries), "", shares))
    return [table] if table.rows else []


def _title(bytes_, entries):
    return f"{size(bytes_).replace('.0', '')}, {count(entries)} entries"
