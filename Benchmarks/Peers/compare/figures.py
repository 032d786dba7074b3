"""The raw figures, one per round, as the harnesses print them."""

import csv
import statistics
from collections import defaultdict
from dataclasses import dataclass

COLUMNS = ["group", "workload", "subject", "threads", "metric", "value", "round"]


@dataclass(frozen=True)
class Figure:
    group: str
    workload: str
    subject: str
    threads: int
    metric: str
    value: float
    round: int

    @staticmethod
    def parse(line, number):
        """Parses a line of a harness. Raises ValueError for other text."""
        group, workload, subject, threads, metric, value = next(csv.reader([line]))
        return Figure(group, workload, subject, int(threads), metric, float(value), number)


class Figures:
    def __init__(self, rows):
        self.rows = list(rows)
        self._by_place = defaultdict(dict)
        for row in self.rows:
            self._by_place[row.workload, row.threads, row.metric, row.subject][row.round] = row.value

    def median(self, workload, subject, metric, threads=1):
        """Returns None if it was not measured."""
        values = self.values(workload, subject, metric, threads)
        return statistics.median(values) if values else None

    def values(self, workload, subject, metric, threads=1):
        """Returns the figures of all rounds, which are none if it was not measured."""
        return list(self._by_place.get((workload, threads, metric, subject), {}).values())

    def ratio(self, workload, subject, base, metric, threads=1):
        """Returns the median, lowest and highest ratio of two subjects over the rounds, or None if one is missing."""
        values = self._by_place.get((workload, threads, metric, subject), {})
        bases = self._by_place.get((workload, threads, metric, base), {})
        ratios = [value / bases[number] for number, value in values.items() if bases.get(number)]
        return (statistics.median(ratios), min(ratios), max(ratios)) if ratios else None

    def beside(self, references, metric, as_metric):
        """Returns the cost of each subject as a multiple of its reference in the same round, as figures of another metric."""
        return Figures(
            Figure(self.rows[0].group, workload, subject, threads, as_metric, values[number] / bases[number], number)
            for (workload, threads, of, subject), values in self._by_place.items() if of == metric
            for bases in [self._by_place.get((workload, threads, of, references.get(subject)), {})]
            for number in values if bases.get(number))

    def subjects(self):
        """Returns the subjects in order of appearance."""
        return list(dict.fromkeys(row.subject for row in self.rows))


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [
            Figure(row["group"], row["workload"], row["subject"], int(row["threads"]), row["metric"],
                   float(row["value"]), int(row["round"]))
            for row in csv.DictReader(file)
        ]


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([row.group, row.workload, row.subject, row.threads, row.metric, f"{row.value:.6g}", row.round])
