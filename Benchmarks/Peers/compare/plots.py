"""Plots as SVG, light and dark, with matplotlib: one line per row of a table, one mark per subject."""

COLOURS = {
    "light": {"ink": "#24292f", "grid": "#d0d7de", "base": "#0969da",
              "marks": ["#bc4c00", "#8250df", "#1a7f37", "#bf3989", "#6e7781", "#9a6700", "#0a7ea4"]},
    "dark": {"ink": "#e6edf3", "grid": "#3d444d", "base": "#58a6ff",
             "marks": ["#ffa657", "#d2a8ff", "#56d364", "#ff9bce", "#9ea7b3", "#e3b341", "#76e3ea"]},
}
MARKERS = ["o", "s", "D", "^", "v", "P", "X"]


def draw(tables, folder):
    """Returns the names of the drawn tables, which are none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("svg")
    # Equal figures give equal files.
    matplotlib.rcParams.update({
        "svg.hashsalt": "compare", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10})
    drawn = [table for table in tables if table.subjects and table.is_drawn]
    for table in drawn:
        for scheme in COLOURS:
            _draw(table, scheme, folder / f"{table.name}-{scheme}.svg")
    return [table.name for table in drawn]


def _draw(table, scheme, path):
    import matplotlib.pyplot as pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    colours = COLOURS[scheme]
    figure, axes = pyplot.subplots(figsize=(8.4, 1.35 + 0.36 * len(table.rows)))
    axes.set_xscale("log")
    places = range(len(table.rows))
    axes.axvline(1, color=colours["base"], linewidth=2, zorder=1)
    for index, subject in enumerate(table.subjects):
        colour = colours["marks"][index % len(colours["marks"])]
        # Marks that would cover each other are drawn side by side.
        shift = 0.5 * ((index + 0.5) / len(table.subjects) - 0.5)
        points = [(place + shift, row.ratios[subject]) for place, row in zip(places, table.rows) if subject in row.ratios]
        middles = [ratio[0] for _, ratio in points]
        errors = [[ratio[0] - ratio[1] for _, ratio in points], [ratio[2] - ratio[0] for _, ratio in points]]
        axes.errorbar(
            middles, [place for place, _ in points], xerr=errors, fmt=MARKERS[index % len(MARKERS)], color=colour,
            markersize=6, elinewidth=1, label=subject, zorder=2)
    axes.set_yticks(list(places), [row.title for row in table.rows])
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.8), max(high, 1.25))
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if high / low > 10 else (0.6, 0.8, 1, 1.5, 2, 3, 4, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color=colours["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=colours["ink"], length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    meaning = f"times {table.base} (blue line)" + (f"; right of it, {table.base} is better" if table.base_is_ours else "")
    columns = min(len(table.subjects), 7)
    axes.set_title(
        f"{table.title}: {meaning}", color=colours["ink"], fontsize=10, loc="left",
        pad=8 + 17 * -(-len(table.subjects) // columns))
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncol=columns, frameon=False, fontsize=8.5,
        labelcolor=colours["ink"], handletextpad=0.2, columnspacing=1, borderaxespad=0)
    figure.savefig(path, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
