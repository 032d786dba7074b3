import Testing

@testable import StressKit

/// Histories written by hand. The numbers are times.
@Suite struct KeyHistoryTests {
  private var history = KeyHistory()
  private let a = Version.written(1)
  private let b = Version.written(2)
  private let f = Version.fetched(3)
  private let g = Version.fetched(4)

  private mutating func write(_ version: Version, _ call: UInt64, _ end: UInt64) {
    history.writeBegins(version, at: call)
    history.writeEnds(version, at: end)
  }

  private mutating func isRight(_ version: Version, _ start: UInt64, _ end: UInt64, _ clearing: Clearing? = nil) -> Bool
  {
    history.read(version, from: start, to: end, lastClearing: clearing) == nil
  }

  @Test mutating func `the newest value is valid`() {
    write(a, 1, 2)
    write(b, 3, 4)
    #expect(isRight(b, 5, 6))
  }

  @Test mutating func `a value older than one committed before the read began is stale`() {
    write(a, 1, 2)
    write(b, 3, 4)
    #expect(!isRight(a, 5, 6))
  }

  @Test mutating func `a read that overlaps a write may find either value`() {
    write(a, 1, 2)
    history.writeBegins(b, at: 4)
    #expect(isRight(a, 3, 9))
    #expect(isRight(b, 5, 8))
    history.writeEnds(b, at: 10)
    #expect(isRight(a, 4, 11))
  }

  @Test mutating func `a value older than one already returned is stale`() {
    write(a, 1, 2)
    history.writeBegins(b, at: 3)
    #expect(isRight(b, 4, 5))
    // The write of b has not returned, but a read has returned it.
    #expect(!isRight(a, 6, 7))
  }

  @Test mutating func `concurrent writes may settle either way, but not both`() {
    history.writeBegins(a, at: 1)
    history.writeBegins(b, at: 1)
    history.writeEnds(a, at: 5)
    history.writeEnds(b, at: 5)
    #expect(isRight(a, 6, 7))
    #expect(isRight(a, 8, 9))
    #expect(!isRight(b, 10, 11))
  }

  @Test mutating func `a removed value does not return`() {
    write(a, 1, 2)
    write(b, 3, 4)  // a removal, which no read returns
    #expect(!isRight(a, 5, 6))
  }

  @Test mutating func `a cleared value does not return`() {
    write(a, 1, 2)
    #expect(isRight(a, 4, 9, Clearing(call: 3, return: 5)))
    #expect(!isRight(a, 6, 9, Clearing(call: 3, return: 5)))
  }

  @Test mutating func `a waiter may get its flight's value even if a write replaced the entry`() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    // The read was called before the write and returned after it.
    #expect(isRight(f, 3, 9))
  }

  @Test mutating func `a flight may lose its entry before its fetch starts`() {
    // The leader calls at 1, and the write replaces its entry. The fetch starts later, and only the leader gets its
    // value.
    write(a, 2, 3)
    history.fetched(f, calledAt: 1, startedAt: 4)
    #expect(isRight(f, 1, 6))
    #expect(isRight(a, 7, 8))
  }

  @Test mutating func `no later caller gets the value of a replaced flight`() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    #expect(!isRight(f, 6, 9))
  }

  @Test mutating func `a fetch that starts after a write may replace its value`() {
    write(a, 1, 2)
    history.fetched(f, calledAt: 5, startedAt: 5)
    #expect(isRight(a, 3, 4))
    #expect(isRight(f, 4, 8))
    #expect(isRight(f, 9, 10))
    #expect(!isRight(a, 11, 12))
  }

  @Test mutating func `the later of two flights wins`() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    history.fetched(g, calledAt: 7, startedAt: 7)
    #expect(isRight(g, 6, 9))
    #expect(isRight(f, 3, 10))
    #expect(!isRight(f, 10, 11))
  }

  @Test mutating func `the older value may be read during the fetch of a newer one`() {
    write(a, 1, 2)
    history.fetched(f, calledAt: 3, startedAt: 4)
    #expect(isRight(a, 5, 6))
    #expect(isRight(f, 7, 8))
    #expect(!isRight(a, 9, 10))
  }

  @Test mutating func `a value of another run may be read during the fetch of a newer one`() {
    let foreign = Version.foreign(run: 9, number: 1)
    history.fetched(f, calledAt: 1, startedAt: 2)
    #expect(isRight(foreign, 3, 4))
    #expect(isRight(f, 5, 6))
    #expect(!isRight(foreign, 7, 8))
  }

  @Test mutating func `a value from before the run is older than all values of the run`() {
    let foreign = Version.foreign(run: 9, number: 1)
    #expect(isRight(foreign, 1, 2))
    write(a, 3, 4)
    #expect(!isRight(foreign, 5, 6))
  }

  @Test mutating func `an old value is still detected as stale`() {
    write(a, 1, 2)
    for number in 10..<200 {
      let version = Version.written(UInt64(number))
      write(version, UInt64(number) * 10, UInt64(number) * 10 + 1)
    }
    #expect(!isRight(a, 5_000, 5_001))
  }

  @Test mutating func `many open writes are handled`() {
    for number in 0..<1_000 { history.writeBegins(.written(UInt64(number)), at: UInt64(number)) }
    #expect(isRight(.written(500), 1_000, 1_001))
    for number in 0..<1_000 { history.writeEnds(.written(UInt64(number)), at: 2_000) }
    #expect(history.wasWritten(since: 2_000))
    #expect(!history.wasWritten(since: 2_001))
  }
}
