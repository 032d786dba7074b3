"""A table of ratios, for the report and for plots."""

from dataclasses import dataclass, field


@dataclass
class Row:
    title: str
    #: The cost of the base, as text with its unit.
    cost: str
    #: The other subjects, with (median, lowest, highest) of the rounds' ratios to the base.
    ratios: dict


@dataclass
class Table:
    #: The table's name, which is also the plot's file name.
    name: str
    title: str
    note: str
    base: str
    subjects: list
    rows: list = field(default_factory=list)
    #: Whether a cell also shows its highest ratio.
    shows_highest: bool = False
    #: Whether the base is Cistern, so that ratios above 1 favor it, and has a column.
    base_is_ours: bool = True
    is_drawn: bool = True

    def markdown(self):
        header = [""] + [self.base] * self.base_is_ours + self.subjects
        lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
        for row in self.rows:
            cells = [row.title] + [f"1 ({row.cost})"] * self.base_is_ours + [self._cell(row.ratios.get(subject)) for subject in self.subjects]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def _cell(self, ratio):
        if not ratio:
            return "–"
        return number(ratio[0]) + (f" ({number(ratio[2])})" if self.shows_highest else "")


def ratio_table(name, title, note, base, figures, rows, metric, unit, subjects=None):
    """Returns a row for each of `rows`, (title, workload, threads), with a measured base, or nothing if no base was measured."""
    return _table(
        name, title, note, base, figures, [(*row, metric, unit) for row in rows], subjects or figures.subjects())


def metric_table(name, title, note, base, figures, workload, metrics, subjects):
    """Returns the same for one workload, with a row for each of `metrics`: (title, metric, unit)."""
    return _table(
        name, title, note, base, figures, [(row_title, workload, 1, metric, unit) for row_title, metric, unit in metrics], subjects)


def _table(name, title, note, base, figures, rows, subjects):
    others = [subject for subject in subjects if subject != base]
    table = Table(name, title, note, base, [])
    for row_title, workload, threads, metric, unit in rows:
        cost = figures.median(workload, base, metric, threads)
        if cost is None:
            continue
        ratios = {subject: figures.ratio(workload, subject, base, metric, threads) for subject in others}
        table.rows.append(Row(row_title, unit(cost), {subject: ratio for subject, ratio in ratios.items() if ratio}))
    table.subjects = [subject for subject in others if any(subject in row.ratios for row in table.rows)]
    return table if table.rows else None


def nanoseconds(value):
    if value >= 10_000_000:
        return f"{value / 1e6:.0f} ms"
    if value >= 1_000_000:
        return f"{value / 1e6:.1f} ms"
    return f"{value / 1e3:.0f} µs" if value >= 10_000 else f"{value:.0f} ns"


def size(value):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def count(value):
    return f"{value // 1_000_000} M" if value >= 1_000_000 else f"{value // 1000} k"


def number(ratio):
    return f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 9.95 else f"{ratio:.2f}"
