"""Traces that Cistern's policy was not tuned on, with other patterns and another seed than those of `traces.py`. Tune the policy on those,
and use these only to judge the result."""

import numpy

from .traces import dense, log_uniform, zipf


def synthetic(requests, seed):
    """Yields (name, identifiers, sizes). The sizes are None if each object counts one."""
    for place, (name, make) in enumerate(PATTERNS.items()):
        yield name, make(numpy.random.default_rng([seed, place]), requests), None
    for place, (name, (make, draw)) in enumerate(SIZED_PATTERNS.items()):
        random = numpy.random.default_rng([seed, 100 + place])
        identifiers = dense(make(random, requests))
        yield name, identifiers, draw(random, identifiers)[identifiers]


def feed(random, requests):
    """News: new objects appear all the time, and requests for each decrease with its age. Some are far more popular than others."""
    born = numpy.arange(requests) / 12
    objects = int(born[-1]) + 4_000
    weight = random.pareto(1.2, objects) + 0.1
    # Ages are drawn from a heavy tail and accepted by their weights.
    identifiers = numpy.empty(requests, dtype=numpy.int64)
    left = numpy.arange(requests)
    while len(left):
        age = numpy.minimum(random.pareto(0.8, len(left)) * 60, 3_999).astype(numpy.int64)
        chosen = born[left].astype(numpy.int64) + 3_999 - age
        accepted = random.random(len(left)) * 6 < weight[chosen]
        identifiers[left[accepted]] = chosen[accepted]
        left = left[~accepted]
    return identifiers


def sessions(random, requests):
    """Users come and go. Each requests a few own objects several times, and sometimes one that all share."""
    identifiers = numpy.empty(requests, dtype=numpy.int64)
    shared = zipf(random, requests, 3_000, 1.0)
    open_sessions, fresh = [], 3_000
    draws = random.random((requests, 3))
    lengths = random.integers(3, 80, requests)
    widths = random.integers(2, 30, requests)
    for place in range(requests):
        if len(open_sessions) < 60:
            open_sessions.append([fresh, widths[place], lengths[place]])
            fresh += widths[place]
        which = int(draws[place, 0] * len(open_sessions))
        session = open_sessions[which]
        if draws[place, 1] < 0.25:
            identifiers[place] = shared[place]
        else:
            identifiers[place] = session[0] + int(draws[place, 2] * session[1])
        session[2] -= 1
        if not session[2]:
            open_sessions[which] = open_sessions[-1]
            open_sessions.pop()
    return identifiers


def files(random, requests):
    """Blocks of files, read in ranges from random offsets. A few files are read repeatedly."""
    parts, total = [], 0
    starts = numpy.concatenate([[0], numpy.cumsum(random.integers(4, 400, 400))])
    popular = zipf(random, requests, 400, 0.8)
    step = 0
    while total < requests:
        file = popular[step]
        step += 1
        length = starts[file + 1] - starts[file]
        first = 0 if random.random() < 0.7 else random.integers(length)
        run = starts[file] + numpy.arange(first, min(length, first + random.geometric(0.01)))
        parts.append(run)
        total += len(run)
    return numpy.concatenate(parts)[:requests]


def joins(random, requests):
    """A database: each page of an outer table is followed by a scan of a part of an inner one, with index lookups between them."""
    parts, total, outer = [], 0, 0
    while total < requests:
        inner = random.choice([40, 150, 600], p=[0.6, 0.3, 0.1])
        for _ in range(random.integers(20, 60)):
            parts.append(numpy.array([100_000 + outer % 9_000]))
            parts.append(10_000 * (1 + [40, 150, 600].index(inner)) + numpy.arange(inner))
            parts.append(50_000 + numpy.minimum(random.pareto(0.6, 12) * 3, 8_000).astype(numpy.int64))
            outer += 1
            total += 13 + inner
    return numpy.concatenate(parts)[:requests]


def tides(random, requests):
    """Two populations, one by day and one by night, and objects that are requested always."""
    day, night = zipf(random, requests, 15_000, 0.9), 15_000 + zipf(random, requests, 15_000, 0.9)
    always = 30_000 + zipf(random, requests, 3_000, 0.8)
    phase = (1 + numpy.sin(numpy.arange(requests) * (2 * numpy.pi * 5 / requests))) / 2
    draw = random.random(requests)
    return numpy.where(random.random(requests) < 0.2, always, numpy.where(draw < phase, day, night))


def walks(random, requests):
    """Walks along the links of a graph with a few popular nodes, with occasional restarts."""
    objects = 25_000
    links = (objects * random.random((objects, 8)) ** 2.5).astype(numpy.int64)
    names = random.permutation(objects)
    identifiers = numpy.empty(requests, dtype=numpy.int64)
    restarts = random.random(requests) < 0.12
    which = random.integers(0, 8, requests)
    begins = (objects * random.random(requests) ** 4).astype(numpy.int64)
    here = 0
    for place in range(requests):
        here = begins[place] if restarts[place] else links[here, which[place]]
        identifiers[place] = here
    return names[identifiers]


def returns(random, requests):
    """Each object is requested at its own regular intervals, with jitter."""
    period = numpy.exp(random.uniform(numpy.log(2_000), numpy.log(200_000), 40_000))
    # The number of objects that gives one request per step.
    period = period[:max(int(numpy.searchsorted(numpy.cumsum(1 / period), 1)), 1)]
    times, objects = [], []
    for identifier, each in enumerate(period):
        count = int(requests / each) + 1
        times.append(random.random() * each + numpy.cumsum(each * random.uniform(0.8, 1.2, count)))
        objects.append(numpy.full(count, identifier))
    times, objects = numpy.concatenate(times), numpy.concatenate(objects)
    return objects[numpy.argsort(times, kind="stable")][:requests]


def batches(random, requests):
    """Nightly batches: a long scan of all objects after requests for few popular ones. Each scan has the same order."""
    identifiers = zipf(random, requests, 8_000, 1.0)
    for place in range(20_000, requests, 45_000):
        count = min(12_000, requests - place)
        identifiers[place:place + count] = numpy.arange(count)
    return identifiers


def pareto_sizes(random, identifiers):
    """Returns sizes like those of files: most are small, and a few are very large."""
    return numpy.minimum((random.pareto(0.7, identifiers.max() + 1) + 1) * 300, 20_000_000).astype(numpy.int64)


def two_sizes(random, identifiers):
    """Returns sizes of records and pictures."""
    objects = identifiers.max() + 1
    return numpy.where(random.random(objects) < 0.8, random.integers(150, 900, objects), random.integers(40_000, 400_000, objects))


def alike_sizes(random, identifiers):
    """Returns sizes within a small factor of each other."""
    return (4_000 * random.lognormal(0, 0.5, identifiers.max() + 1)).astype(numpy.int64) + 1


def large_and_popular(random, identifiers):
    """Returns sizes that mostly increase with popularity."""
    counts = numpy.bincount(identifiers)
    order = numpy.argsort(numpy.argsort(counts * random.lognormal(0, 1, len(counts))))
    return numpy.sort(log_uniform(random, len(counts)))[order]


PATTERNS = {
    "feed": feed, "sessions": sessions, "files": files, "joins": joins, "tides": tides, "walks": walks, "returns": returns,
    "batches": batches,
}
SIZED_PATTERNS = {
    "sizes, feed": (feed, pareto_sizes), "sizes, sessions": (sessions, two_sizes), "sizes, files": (files, pareto_sizes),
    "sizes, tides": (tides, two_sizes), "sizes, walks": (walks, lambda random, identifiers: log_uniform(random, identifiers.max() + 1)),
    "sizes, batches": (batches, alike_sizes), "sizes, returns": (returns, pareto_sizes),
    "sizes, large and popular": (walks, large_and_popular),
}
