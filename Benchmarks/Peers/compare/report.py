"""The report in Markdown and its short form in the README. Both are generated from the raw figures alone."""

from .table import number

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"

#: The README's names for subjects that only the notes of the report explain.
README_NAMES = {"Cistern arrays": "Cistern's `value(forKey:)`", "Cistern memory": "Cistern without a disk"}
#: One mark for each group, because each group has its own machine.
SUPERSCRIPTS = "¹²³⁴⁵⁶⁷⁸⁹"


def markdown(groups, notes, plots):
    """Returns the report. `groups` has (title, tables) by name, `notes` the machine of each group, and `plots` the names of drawn tables."""
    parts = [
        "# Measured beside others",
        "`scripts/compare` measures and writes this page. The raw figures are in [results.csv](results.csv). A cell is a ratio: the peer's "
        "time or space divided by Cistern's in the same round, as the median over the rounds. **Above 1, Cistern is faster or takes less.** "
        "Cistern's own column has the measured time or space.",
    ]
    for name, (title, tables) in groups.items():
        parts.append(f"## {title}")
        parts.append(_note(notes.get(name, {})))
        for table in tables:
            parts.append(f"### {table.title}")
            parts.append(table.note)
            if table.name in plots:
                parts.append(picture(table, ""))
            parts.append(table.markdown())
    return "\n\n".join(part for part in parts if part) + "\n"


def readme_section(groups, notes, shown):
    """Returns a table with the rows in `shown` (table name to row title), for the part between the README's markers.

    A superscript in a row is the number of its machine. The machines follow the table, one line each."""
    rows = []
    machines = []
    for name, (title, tables) in groups.items():
        for table in tables:
            row = next((row for row in table.rows if row.title == shown.get(table.name)), None)
            if row is None:
                continue
            others = ", ".join(
                f"{README_NAMES.get(subject, subject)} {number(row.ratios[subject][0])}"
                for subject in table.subjects if subject in row.ratios)
            machine = _note(notes.get(name, {}), short=True)
            if machine not in machines:
                machines.append(machine)
            mark = SUPERSCRIPTS[machines.index(machine)]
            rows.append(f"| {title}, {table.title.lower()}: {row.title} | {row.cost} {mark} | {others} |")
    if not rows:
        return ""
    header = "| | Cistern | others: above 1, Cistern is faster |\n| --- | ---: | --- |"
    lines = [f"{mark} {machine or 'an unknown machine'}" for mark, machine in zip(SUPERSCRIPTS, machines)]
    # A backslash at the end of a line breaks it.
    return "\n".join([header, *rows]) + "\n\n" + "\\\n".join(lines)


def put_between_markers(path, section):
    """Replaces the part between the markers. Returns whether the file has them."""
    text = path.read_text()
    if BEGIN not in text or END not in text:
        return False
    head, rest = text.split(BEGIN, 1)
    _, tail = rest.split(END, 1)
    path.write_text(f"{head}{BEGIN}\n{section}\n{END}{tail}")
    return True


def picture(table, folder):
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{folder}{table.name}-dark.svg">'
        f'<img alt="{table.title}: ratios to {table.base}" src="{folder}{table.name}-light.svg"></picture>')


def _note(note, short=False):
    if not note:
        return ""
    text = f"{note['machine']}. {note['rounds']} round{'s' if note['rounds'] != 1 else ''}, {note['date']}."
    if note["quick"]:
        text += " **A quick run: the figures of so few requests are only a hint.**"
    if short:
        return text
    text += f" {note['versions']}."
    for name, reason in note["left_out"].items():
        text += f"\n- Left out: {name}: {reason}."
    return text
