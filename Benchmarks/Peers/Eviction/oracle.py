"""Traces in the format of the simulator and of the Swift harness: packed records with the position of the next request."""

import numpy

RECORD = numpy.dtype([("time", "<u4"), ("identifier", "<u8"), ("size", "<u4"), ("next", "<i8")])


def write(path, identifiers, sizes):
    """Returns the footprint of the objects: their bytes, or their number without sizes."""
    numbers = numpy.unique(identifiers, return_inverse=True)[1]
    records = numpy.zeros(len(numbers), RECORD)
    records["identifier"] = numbers
    records["size"] = 1 if sizes is None else sizes
    records["next"] = next_requests(numbers)
    records.tofile(path)
    by_object = numpy.zeros(numbers.max() + 1, dtype=numpy.int64)
    by_object[numbers] = records["size"]
    return int(by_object.sum())


def next_requests(numbers):
    """Returns for each request the position of the next one for the same object, or -1."""
    following = numpy.full(len(numbers), -1, dtype=numpy.int64)
    order = numpy.argsort(numbers, kind="stable")
    same = numbers[order][1:] == numbers[order][:-1]
    following[order[:-1][same]] = order[1:][same]
    return following
