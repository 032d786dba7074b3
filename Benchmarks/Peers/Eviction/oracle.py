"""Traces as the simulator reads them, and the harness in Swift too: packed records that know when an object is asked for next."""

import numpy

RECORD = numpy.dtype([("time", "<u4"), ("identifier", "<u8"), ("size", "<u4"), ("next", "<i8")])


def write(path, identifiers, sizes):
    """What the objects come to: bytes, or their number where there are no sizes."""
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
    """For each request the place of the next one of its object; -1 where there is none."""
    following = numpy.full(len(numbers), -1, dtype=numpy.int64)
    order = numpy.argsort(numbers, kind="stable")
    same = numbers[order][1:] == numbers[order][:-1]
    following[order[:-1][same]] = order[1:][same]
    return following
