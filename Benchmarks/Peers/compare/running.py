"""Runs harnesses alternately, so that a disturbance of a round affects all subjects."""

import subprocess
from dataclasses import dataclass, field

from .figures import Figure
from .harnesses import ROOT


#: The message for a harness that knows the subject but was built without it.
NOTHING = "not installed"


@dataclass(frozen=True)
class Run:
    """One process, which runs one subject under some loads."""

    harness: str
    subject: str
    arguments: tuple = field(default=())
    #: In seconds.
    limit: int = 600


def run_rounds(runs, rounds, harnesses, say):
    """Returns the figures of several rounds. Every second round runs in reverse order."""
    rows = []
    failed = set()
    for number in range(1, rounds + 1):
        ordered = runs if number % 2 else list(reversed(runs))
        for index, run in enumerate(ordered, 1):
            command = harnesses.command(run.harness)
            if command is None or run in failed:
                continue
            say(f"round {number} of {rounds}, {index} of {len(runs)}: {' '.join(run.arguments)}")
            found, problem = _measure(command, run, number)
            rows += found
            if problem:
                failed.add(run)
                what = "" if problem == NOTHING else f" ({' '.join(run.arguments)})"
                harnesses.leave_out(run.subject + what, problem)
    return rows


def _measure(command, run, number):
    try:
        outcome = subprocess.run(
            command + list(run.arguments), cwd=ROOT, capture_output=True, text=True, timeout=run.limit, check=False)
    except subprocess.TimeoutExpired:
        return [], f"took longer than {run.limit} s"
    if outcome.returncode:
        lines = outcome.stderr.strip().splitlines()
        return [], f"failed with {outcome.returncode}: {lines[-1] if lines else 'no message'}"
    problem = NOTHING if outcome.returncode == 0 and not outcome.stdout else None
    # A peer may print its own messages.
    lines = [line for line in outcome.stdout.splitlines() if line.startswith(run.arguments[0] + ",")]
    return [Figure.parse(line, number) for line in lines], problem
