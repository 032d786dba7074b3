"""Builds a program for each language. A program that cannot be built is left out with a reason."""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
ROOT = PEERS.parent.parent
BUILD = ROOT / ".build" / "compare"
BENCHMARKS = ROOT / "Benchmarks"


class Missing(Exception):
    """The reason why a peer is not available here."""


class Harnesses:
    def __init__(self, say):
        self._say = say
        self._built = {}
        #: The names of omitted peers, with reasons.
        self.left_out = {}

    def command(self, name):
        """Returns the start of a command line, built at its first use, or None if it cannot be built."""
        if name not in self._built:
            try:
                self._built[name] = BUILDERS[name](self._say)
            except Missing as reason:
                self._built[name] = reason
        if isinstance(self._built[name], Missing):
            self.leave_out(name, str(self._built[name]))
            return None
        return self._built[name]

    def leave_out(self, name, reason):
        if name not in self.left_out:
            self._say(f"left out: {name}: {reason}")
            self.left_out[name] = reason


def _look_again():
    """Makes SwiftPM look for new files of the parent package, which it does only if the manifest changed."""
    (BENCHMARKS / "Package.swift").touch()


def _swift(say):
    _look_again()
    say("compiling the Swift harness for release")
    environment = dict(os.environ, CISTERN_BUILD="core,ratios")
    arguments = ["swift", "build", "--package-path", str(BENCHMARKS), "-c", "release", "--product", "Compared"]
    # No comparison is possible without this program, so a failed build is an error.
    subprocess.run(arguments, env=environment, check=True, stdout=2)
    return [str(BENCHMARKS / ".build" / "release" / "Compared")]


def _whole(say):
    _look_again()
    say("compiling the Swift harness with an HTTP server and client for release: at first, some minutes")
    environment = dict(os.environ, CISTERN_BUILD="core,ratios,whole")
    # A separate folder, because the resolved packages differ.
    scratch = BUILD / "swift-whole"
    arguments = [
        "swift", "build", "--package-path", str(BENCHMARKS), "--scratch-path", str(scratch), "-c", "release", "--product", "Whole"]
    if subprocess.run(arguments, env=environment, stdout=2, check=False).returncode:
        raise Missing("does not build: is there a network to fetch Hummingbird and AsyncHTTPClient from?")
    return [str(scratch / "release" / "Whole")]


def _go(say):
    if not shutil.which("go"):
        raise Missing("no go (golang-go)")
    # Debian's packages of Go libraries form a GOPATH.
    path = "/usr/share/gocode"
    if not os.path.isdir(f"{path}/src/golang.org/x/sync/singleflight"):
        raise Missing("no golang.org/x/sync (golang-golang-x-sync-dev)")
    say("compiling the Go harness")
    output = BUILD / "go-peer"
    _run(["go", "build", "-o", str(output), "."], cwd=PEERS / "Go", GO111MODULE="off", GOPATH=path)
    return [str(output)]


def _java(say):
    if not shutil.which("javac"):
        raise Missing("no javac (default-jdk-headless)")
    jar = "/usr/share/java/caffeine.jar"
    if not os.path.exists(jar):
        raise Missing("no Caffeine (libcaffeine-java)")
    say("compiling the Java harness")
    classes = BUILD / "java"
    _run(["javac", "-cp", jar, "-d", str(classes)] + sorted(glob.glob(str(PEERS / "Java" / "*.java"))))
    # A heap of fixed size, so that its growth is not measured.
    return ["java", "-Xms3g", "-Xmx3g", "-cp", f"{jar}:{classes}", "Peer"]


def _disk(say):
    if not shutil.which("g++"):
        raise Missing("no g++")
    say("compiling the C++ harness")
    output = BUILD / "disk-peer"
    # An engine whose header is missing leaves itself out.
    libraries = [
        f"-l{name}" for header, name in ENGINES.items()
        if subprocess.run(
            ["g++", "-E", "-x", "c++", "-"], input=f"#include <{header}>", capture_output=True, text=True,
            check=False).returncode == 0
    ]
    _run(["g++", "-std=c++17", "-O2", "-o", str(output)] + sorted(glob.glob(str(PEERS / "Disk" / "*.cpp")))
         + libraries + ["-lpthread"])
    return [str(output)]


#: The header and the library of each engine.
ENGINES = {"lmdb.h": "lmdb", "rocksdb/db.h": "rocksdb", "leveldb/db.h": "leveldb", "sqlite3.h": "sqlite3"}


def _run(arguments, cwd=None, **environment):
    outcome = subprocess.run(
        arguments, cwd=cwd, env=dict(os.environ, **environment), capture_output=True, text=True)
    if outcome.returncode:
        first = (outcome.stderr or outcome.stdout).strip().splitlines()[0]
        raise Missing(f"does not compile: {first.replace(str(ROOT) + '/', '')}")


def _simulator(say):
    outcome = subprocess.run([sys.executable, "-c", "import libcachesim"], capture_output=True, text=True, check=False)
    if outcome.returncode:
        raise Missing("no libcachesim for this Python")
    return [sys.executable, str(PEERS / "Eviction" / "simulate.py")]


BUILDERS = {"swift": _swift, "whole": _whole, "go": _go, "java": _java, "disk": _disk, "simulator": _simulator}
