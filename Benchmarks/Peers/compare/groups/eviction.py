"""Eviction: the misses of policies on the same traces at the same sizes. The counts hardly differ between runs, so one round is enough."""

import re
import statistics
import sys
from pathlib import Path

from ..harnesses import BUILD, PEERS, ROOT, Missing
from ..running import Run
from ..table import Row, Table, ratio_table

TITLE = "Eviction"
BASE = "Cistern"
ROUNDS = 1
SHARES = {"0.1%": 0.001, "1%": 0.01, "10%": 0.1}
ALL = "all"
#: It knows the future. It is optimal only if all objects have one size.
OPTIMUM = "Belady"
SEED = 20_241
HELD_OUT_SEED = 7_451
#: The mark in the names of traces that the policy was not tuned on.
HELD_OUT = "(held out)"


def runs(options):
    """Also generates the traces, in the build folder."""
    try:
        sys.path.insert(0, str(PEERS))
        from Eviction import held_out, oracle, traces
    except ImportError:
        raise Missing("no numpy to make traces with") from None
    folder = BUILD / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    requests = 60_000 if options.quick else 300_000
    made = list(traces.synthetic(requests, SEED))
    made += [(f"{name} {HELD_OUT}", *rest) for name, *rest in held_out.synthetic(requests, HELD_OUT_SEED)]
    for path in sorted(Path(options.traces).glob("*.csv*")) if options.traces else []:
        made.append((re.sub(r"\.csv(\.gz)?$", "", path.name), *traces.read(path)))
    found = []
    for name, identifiers, sizes in made:
        path = folder / (re.sub(r"[^A-Za-z0-9.-]+", "-", name) + ".bin")
        cost = oracle.write(path, identifiers, sizes)
        # A comma would end the column.
        arguments = ("eviction", name.replace(",", ":"), str(path.relative_to(ROOT))) + tuple(
            f"{share}={max(round(cost * part), 1)}" for share, part in SHARES.items())
        found += [Run("swift", "Cistern", arguments), Run("simulator", "other policies", arguments)]
    return found


def tables(figures):
    workloads = list(dict.fromkeys(row.workload for row in figures.rows))
    if not workloads:
        return []
    found = []
    for metric, kind in (("object_misses", "object"), ("byte_misses", "byte")):
        # Without sizes, bytes equal objects.
        cells = [
            workload for workload in workloads
            if kind == "object" or not _has_one_size(figures, workload)
        ]
        if not cells:
            continue
        found.append(_excess(figures, cells, metric, kind))
        held_out = [workload for workload in cells if HELD_OUT in workload]
        if held_out:
            table = _excess(figures, held_out, metric, kind)
            table.name += "-held-out"
            table.title += ", on traces that Cistern's policy was not tuned on"
            table.is_drawn = False
            found.append(table)
        table = ratio_table(
            f"eviction-{kind}-traces", f"{kind.capitalize()} misses by trace",
            "Ratios of miss ratios. A limit is a share of the total size of the trace's objects. **Above 1, Cistern misses less.** Belady knows the future: it is the optimum if all objects have one size.",
            BASE, figures, [(_title(workload), workload, 1) for workload in cells], metric, lambda ratio: f"{ratio:.1%}")
        table.is_drawn = False
        found.append(table)
    return found


def _excess(figures, workloads, metric, kind):
    """Returns how far each policy is above the best online one of each cell, as mean and maximum."""
    table = Table(
        f"eviction-{kind}", f"{kind.capitalize()} misses, relative to the best online policy of each cell",
        f"A cell is a trace with a limit, which is a share of the total size of its objects. There are {len(workloads)} cells. In each cell, the "
        "fewest misses of all policies except Belady's are 1. A column has the mean over the cells and, in brackets, the worst cell. *Cistern* is "
        "its default policy with the default number of shards on this machine. The optimum knows the future; it is computed only for objects of one size.",
        "the best online policy", [*SHARES, ALL], shows_highest=True, base_is_ours=False)
    online = [subject for subject in figures.subjects() if subject != OPTIMUM]
    best = {
        workload: min(value for policy in online if (value := figures.median(workload, policy, metric)) is not None)
        for workload in workloads
    }
    of_one_size = [workload for workload in workloads if _has_one_size(figures, workload)]
    for policy in online + [OPTIMUM]:
        row = Row("optimum" if policy == OPTIMUM else policy, "", {})
        for share in table.subjects:
            excesses = [
                value / best[workload] for workload in (of_one_size if policy == OPTIMUM else workloads)
                if share in (ALL, workload.rsplit("/", 1)[1])
                and (value := figures.median(workload, policy, metric)) is not None
            ]
            if excesses:
                row.ratios[share] = (statistics.fmean(excesses), min(excesses), max(excesses))
        if row.ratios:
            table.rows.append(row)
    table.rows.sort(key=lambda row: row.ratios.get(ALL, (0,))[0])
    return table


def _has_one_size(figures, workload):
    """Without sizes, byte misses equal object misses."""
    return all(
        abs(figures.median(workload, subject, "object_misses") - figures.median(workload, subject, "byte_misses")) < 1e-9
        for subject in figures.subjects() if figures.median(workload, subject, "object_misses") is not None)


def _title(workload):
    name, share = workload.rsplit("/", 1)
    return f"{name.replace(':', ',')}, {share}"
