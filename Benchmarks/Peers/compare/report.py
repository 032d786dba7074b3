"""The report in Markdown, and the README's short form of it: both from the raw figures alone."""

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


def markdown(groups, notes, plots):
    """`groups`: (title, tables) by name; `notes`: what each group was measured on; `plots`: names of tables drawn."""
    parts = [
        "# Measured beside others",
        "Written by `scripts/compare`, which measures again; the raw figures are in [results.csv](results.csv). A cell is a ratio: the "
        "median, over the rounds, of what the peer took to what Cistern took in the same round. **Above 1, Cistern is faster, or "
        "takes less.** In Cistern's own column stands what it took.",
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


def readme_section(groups, notes, plots, folder, shown):
    """The tables named in `shown`, for between the README's markers."""
    parts = [
        f"What was measured last, in ratios; the rest, and how to read it, is in [{folder}/results.md]({folder}/results.md)."
    ]
    for name, (_, tables) in groups.items():
        chosen = [table for table in tables if table.name in shown]
        if not chosen:
            continue
        parts.append(_note(notes.get(name, {}), short=True))
        for table in chosen:
            parts.append(f"**{groups[name][0]}: {table.title.lower()}.** {table.note}")
            if table.name in plots:
                parts.append(picture(table, folder + "/"))
            parts.append(table.markdown())
    return "\n\n".join(part for part in parts if part) if len(parts) > 1 else ""


def put_between_markers(path, section):
    """Gives whether the file has the markers."""
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
        text += " **A quick run: few requests, so no more than a hint.**"
    if short:
        return text
    text += f" {note['versions']}."
    for name, reason in note["left_out"].items():
        text += f"\n- Left out: {name}: {reason}."
    return text
