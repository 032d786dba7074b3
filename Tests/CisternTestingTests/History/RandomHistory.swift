import CisternTesting

/// Random histories of a few operations, both valid and invalid.
enum RandomHistory {
  private typealias Operation = HistoryOperation<Int>

  /// Returns operations with random times, which are often equal, and random values. Each value is written once.
  static func arbitrary(_ generator: inout SeededGenerator) -> [HistoryOperation<Int>] {
    var written = 0
    return (0..<(1 + generator.next(below: 7))).map { _ in
      let called = UInt64(generator.next(below: 12))
      let returned = called + UInt64(generator.next(below: 5))
      let isPending = generator.next(below: 8) == 0
      switch generator.next(below: 6) {
      case 0, 1:
        written += 1
        return Operation(.write(written), called: called, returned: isPending ? .max : returned)
      case 2: return Operation(.removal, called: called, returned: isPending ? .max : returned)
      case 3: return Operation(.miss, called: called, returned: returned)
      default: return Operation(.read(1 + generator.next(below: 3)), called: called, returned: returned)
      }
    }
  }

  /// Returns the observations of a register that may forget its value. Each operation is extended around its instant,
  /// and two of three histories move one operation to a random time.
  static func plausible(_ generator: inout SeededGenerator, forgets: Bool) -> [HistoryOperation<Int>] {
    var (value, written) = (nil as Int?, 0)
    var history = (0..<(3 + generator.next(below: 6))).map { index in
      let instant = UInt64(10 + index * 3)
      let called = instant - UInt64(generator.next(below: 8))
      let returned = instant + UInt64(generator.next(below: 8))
      if forgets, generator.next(below: 10) == 0 { value = nil }
      switch generator.next(below: 5) {
      case 0, 1:
        written += 1
        value = written
        return Operation(.write(written), called: called, returned: returned)
      case 2 where generator.next(below: 2) == 0:
        value = nil
        return Operation(.removal, called: called, returned: returned)
      default: return Operation(value.map { .read($0) } ?? .miss, called: called, returned: returned)
      }
    }
    if generator.next(below: 3) > 0 {
      let index = generator.next(below: history.count)
      let called = UInt64(generator.next(below: 40))
      history[index] = Operation(
        history[index].kind, called: called, returned: called + UInt64(generator.next(below: 4)))
    }
    return history
  }
}
