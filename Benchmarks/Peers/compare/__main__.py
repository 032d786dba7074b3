"""The main program of scripts/compare after the installation: measures, and writes tables and plots."""

import argparse
import datetime
import json
import os
import sys
from pathlib import Path

from . import figures, machine, plots, report
from .figures import Figures
from .groups import GROUPS
from .harnesses import BUILD, ROOT, Harnesses, Missing
from .running import run_rounds

#: The rows in the README: the name of a table, and the title of one of its rows.
SHOWN = {
    "memory-hits": "64-bit keys, 16 k entries, 2 threads",
    "disk-reads": "1 KiB, 100 k entries",
    "whole-mixed": "requests a second",
}


def main():
    options = parse()
    results = Path(options.results).resolve()
    results.mkdir(parents=True, exist_ok=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    rows = figures.read(results / "results.csv")
    notes_path = results / "machine.json"
    notes = json.loads(notes_path.read_text()) if notes_path.exists() else {}
    if not options.report:
        harnesses = Harnesses(say)
        for name in options.only or GROUPS:
            rows, notes[name] = measure(name, options, harnesses, rows)
            figures.write(results / "results.csv", rows)
            notes_path.write_text(json.dumps(notes, indent=2) + "\n")
    write_report(results, rows, notes)


def folder_of_caller(text):
    """Returns the absolute path of a folder that the caller of the script names."""
    return str(Path(os.environ.get("CALLER", "")).absolute() / text)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/compare", add_help=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", choices=sorted(GROUPS))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--traces", type=folder_of_caller)
    parser.add_argument("--results", type=folder_of_caller, default=str(ROOT / "Benchmarks" / "results"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.rounds is None:
        options.rounds = 1 if options.quick else 5
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    return options


def measure(name, options, harnesses, rows):
    """Returns all rows with the group's earlier ones replaced, and the machine of the group's measurement."""
    group = GROUPS[name]
    say(f"{name}: {group.TITLE.lower()}")
    harnesses.left_out = {}
    note = {
        "machine": machine.describe(), "versions": machine.versions(), "rounds": getattr(group, "ROUNDS", options.rounds),
        "quick": options.quick, "date": datetime.date.today().isoformat(), "left_out": harnesses.left_out,
    }
    try:
        found = run_rounds(group.runs(options), note["rounds"], harnesses, say)
    except Missing as reason:
        harnesses.leave_out(f"all of {group.TITLE.lower()}", str(reason))
        found = []
    return [row for row in rows if row.group != name] + found, note


def write_report(results, rows, notes):
    groups = {}
    for name, group in GROUPS.items():
        tables = group.tables(Figures(row for row in rows if row.group == name))
        if tables:
            groups[name] = (group.TITLE, tables)
    drawn = plots.draw([table for _, tables in groups.values() for table in tables], results)
    if not drawn:
        say("left out: the plots (no matplotlib)")
    (results / "results.md").write_text(report.markdown(groups, notes, drawn))
    readme = ROOT / "README.md"
    if results == ROOT / "Benchmarks" / "results":
        section = report.readme_section(groups, notes, SHOWN)
        if not report.put_between_markers(readme, section):
            say("README.md has no markers to write between")
    say(f"written: {results / 'results.md'}")


def say(message):
    print(f"compare: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
