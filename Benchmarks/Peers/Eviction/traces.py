"""Traces of requests, generated from a seed. Each has a pattern that some policy is known to handle badly."""

import csv
import gzip

import numpy

#: The range of sizes over five decades, in bytes.
SMALLEST, LARGEST = 100, 10_000_000


def synthetic(requests, seed):
    """Yields (name, identifiers, sizes). The sizes are None if each object counts one."""
    random = numpy.random.default_rng(seed)
    for name, make in PATTERNS.items():
        identifiers = make(random, requests)
        yield name, identifiers, None
    for name, make in SIZED_PATTERNS.items():
        identifiers, by_object = make(random, requests)
        yield name, identifiers, by_object[identifiers]


def read(path):
    """Returns (identifiers, sizes) of a CSV file of `key` or `key,size`, plain or gzip. Skips a header line."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    numbers, keys, sizes = {}, [], []
    with opened as file:
        for line, cells in enumerate(csv.reader(file)):
            if line == 0 and len(cells) > 1 and not cells[1].strip().isdigit():
                continue
            keys.append(numbers.setdefault(cells[0], len(numbers)))
            if len(cells) > 1:
                sizes.append(max(int(cells[1]), 1))
    identifiers = numpy.array(keys, dtype=numpy.int64)
    if not sizes:
        return identifiers, None
    # The largest size of each object counts.
    by_object = numpy.zeros(len(numbers), dtype=numpy.int64)
    numpy.maximum.at(by_object, identifiers, numpy.array(sizes))
    return identifiers, by_object[identifiers]


def zipf(random, requests, objects, exponent):
    cumulative = numpy.cumsum(1 / numpy.arange(1, objects + 1) ** exponent)
    ranks = numpy.searchsorted(cumulative, random.random(requests) * cumulative[-1])
    # Identifiers are independent of ranks.
    return random.permutation(objects)[numpy.minimum(ranks, objects - 1)]


def loops(random, requests):
    """Loops of several lengths, one after the other, with requests for popular objects between them."""
    identifiers = zipf(random, requests, 2_000, 0.9)
    lengths = [300, 1_200, 5_000, 20_000]
    starts = 2_000 + numpy.cumsum([0] + lengths)
    place = 0
    while place < requests:
        which = random.integers(len(lengths))
        count = min(3 * lengths[which], requests - place)
        looped = starts[which] + numpy.arange(count) % lengths[which]
        chosen = random.random(count) < 0.7
        identifiers[place:place + count][chosen] = looped[chosen]
        place += count
    return identifiers


def scans(random, requests):
    """Popular objects, with occasional scans of thousands of new ones."""
    identifiers = zipf(random, requests, 20_000, 1.0)
    fresh = 20_000
    for place in range(0, requests, 15_000):
        count = min(5_000, requests - place)
        identifiers[place:place + count] = fresh + numpy.arange(count)
        fresh += count
    return identifiers


def shifts(random, requests):
    """Popularity changes abruptly, several times."""
    parts = [zipf(random, requests // 8 + 1, 20_000, 1.0) for _ in range(8)]
    return numpy.concatenate(parts)[:requests]


def drift(random, requests):
    """Popularity changes slowly: new objects appear and old ones fade."""
    cumulative = numpy.cumsum(1 / numpy.arange(1, 10_001))
    ranks = numpy.searchsorted(cumulative, random.random(requests) * cumulative[-1])
    return numpy.maximum(numpy.arange(requests) // 8 + 10_000 - ranks, 0)


def bursts(random, requests):
    """Objects with a few adjacent requests and no later ones, among popular objects."""
    background = zipf(random, requests, 10_000, 0.9)
    starts = numpy.sort(random.integers(0, requests, requests // 6))
    repeats = random.integers(2, 7, len(starts))
    places = numpy.repeat(starts, repeats) + random.integers(0, 40, repeats.sum())
    objects = numpy.repeat(numpy.arange(len(starts)) + 10_000, repeats)
    inside = places < requests
    background[places[inside]] = objects[inside]
    return background


def one_hit_wonders(random, requests):
    """Most objects are requested once."""
    identifiers = zipf(random, requests, 20_000, 0.9)
    once = random.random(requests) < 0.5
    identifiers[once] = 20_000 + numpy.arange(once.sum())
    return identifiers


def recency(random, requests):
    """Recently requested objects are the most likely ones to be requested again."""
    history = []
    identifiers = numpy.zeros(requests, dtype=numpy.int64)
    distances = numpy.minimum(random.pareto(0.35, requests) * 20, 1e9).astype(numpy.int64)
    fresh = 0
    for place, distance in enumerate(distances):
        if distance < len(history):
            chosen = history[-1 - distance]
        else:
            chosen, fresh = fresh, fresh + 1
        identifiers[place] = chosen
        history.append(chosen)
    return identifiers


def phases(random, requests):
    """Each of the other patterns for some time."""
    parts, base = [], 0
    for make in (loops, bursts, scans, shifts, recency, one_hit_wonders):
        part = make(random, requests // 6 + 1) + base
        base = part.max() + 1
        parts.append(part)
    return numpy.concatenate(parts)[:requests]


def dense(identifiers):
    return numpy.unique(identifiers, return_inverse=True)[1]


def log_uniform(random, objects):
    """Returns sizes over five decades."""
    return numpy.exp(random.uniform(numpy.log(SMALLEST), numpy.log(LARGEST), objects)).astype(numpy.int64)


def sized(make):
    def made(random, requests):
        identifiers = dense(make(random, requests))
        return identifiers, log_uniform(random, identifiers.max() + 1)
    return made


def sized_by_popularity(random, requests):
    """Returns sizes that mostly decrease with popularity."""
    identifiers = dense(zipf(random, requests, 30_000, 0.9))
    counts = numpy.bincount(identifiers)
    order = numpy.argsort(numpy.argsort(-counts * random.lognormal(0, 1, len(counts))))
    sizes = numpy.sort(log_uniform(random, len(counts)))[order]
    return identifiers, sizes


PATTERNS = {
    "Zipf 0.7": lambda random, requests: zipf(random, requests, 30_000, 0.7),
    "Zipf 1.1": lambda random, requests: zipf(random, requests, 30_000, 1.1),
    "loops": loops, "scans": scans, "shifts": shifts, "drift": drift, "bursts": bursts,
    "one-hit wonders": one_hit_wonders, "recency": recency, "phases": phases,
}
SIZED_PATTERNS = {
    "sizes, Zipf 0.9": sized(lambda random, requests: zipf(random, requests, 30_000, 0.9)),
    "sizes by popularity": sized_by_popularity,
    "sizes, one-hit wonders": sized(one_hit_wonders), "sizes, bursts": sized(bursts), "sizes, phases": sized(phases),
}
