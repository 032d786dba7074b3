"""The machine of the measurements."""

import os
import platform
import shutil
import subprocess


def describe():
    """Returns one line: processor, cores, memory, system, load, and the versions of the programs."""
    load = f"{os.getloadavg()[0]:.1f}"
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory()}, {platform.system()} {platform.release().split('-')[0]} "
        f"{platform.machine()}; load {load} at the start")


def versions():
    """Returns the versions of the installed toolchains."""
    asked = [
        ("swift", ["swift", "--version"]), ("go", ["go", "version"]), ("java", ["java", "-version"]),
        ("g++", ["g++", "--version"]), ("redis-server", ["redis-server", "--version"]),
    ]
    found = []
    for name, command in asked:
        if shutil.which(name):
            outcome = subprocess.run(command, capture_output=True, text=True, check=False)
            # Redis also prints details of its build.
            found += [line.split(" sha=")[0] for line in (outcome.stdout or outcome.stderr).strip().splitlines()[:1]]
    return "; ".join(found)


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def _memory():
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.0f} GiB"
    except (OSError, ValueError):
        return "unknown memory"
