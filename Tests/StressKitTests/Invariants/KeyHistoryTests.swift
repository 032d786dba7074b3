import Testing

@testable import StressKit

/// Histories by hand: the numbers are times.
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

  @Test mutating func theNewestValueIsRight() {
    write(a, 1, 2)
    write(b, 3, 4)
    #expect(isRight(b, 5, 6))
  }

  @Test mutating func aValueOlderThanOneCommittedBeforeTheReadBeganIsStale() {
    write(a, 1, 2)
    write(b, 3, 4)
    #expect(!isRight(a, 5, 6))
  }

  @Test mutating func aReadThatOverlapsTheWriteMayFindEither() {
    write(a, 1, 2)
    history.writeBegins(b, at: 4)
    #expect(isRight(a, 3, 9))
    #expect(isRight(b, 5, 8))
    history.writeEnds(b, at: 10)
    #expect(isRight(a, 4, 11))
  }

  @Test mutating func aValueOlderThanOneAlreadyReturnedIsStale() {
    write(a, 1, 2)
    history.writeBegins(b, at: 3)
    #expect(isRight(b, 4, 5))
    // b's write has not returned, but someone has seen it.
    #expect(!isRight(a, 6, 7))
  }

  @Test mutating func concurrentWritesMaySettleEitherWayButNotBoth() {
    history.writeBegins(a, at: 1)
    history.writeBegins(b, at: 1)
    history.writeEnds(a, at: 5)
    history.writeEnds(b, at: 5)
    #expect(isRight(a, 6, 7))
    #expect(isRight(a, 8, 9))
    #expect(!isRight(b, 10, 11))
  }

  @Test mutating func whatWasRemovedDoesNotComeBack() {
    write(a, 1, 2)
    write(b, 3, 4)  // a removal, which no read returns
    #expect(!isRight(a, 5, 6))
  }

  @Test mutating func whatWasClearedDoesNotComeBack() {
    write(a, 1, 2)
    #expect(isRight(a, 4, 9, Clearing(call: 3, return: 5)))
    #expect(!isRight(a, 6, 9, Clearing(call: 3, return: 5)))
  }

  @Test mutating func aWaiterMayGetWhatItsFlightBringsThoughItWasReplacedMeanwhile() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    // Called before the write, returned after it.
    #expect(isRight(f, 3, 9))
  }

  @Test mutating func aFlightMayLoseItsEntryBeforeItsFetchStarts() {
    // The leader calls at 1; the write replaces its entry; only then the fetch starts, and goes to the leader alone.
    write(a, 2, 3)
    history.fetched(f, calledAt: 1, startedAt: 4)
    #expect(isRight(f, 1, 6))
    #expect(isRight(a, 7, 8))
  }

  @Test mutating func noLaterCallerGetsWhatAReplacedFlightBrings() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    #expect(!isRight(f, 6, 9))
  }

  @Test mutating func aFetchThatStartsAfterAWriteMayReplaceIt() {
    write(a, 1, 2)
    history.fetched(f, calledAt: 5, startedAt: 5)
    #expect(isRight(a, 3, 4))
    #expect(isRight(f, 4, 8))
    #expect(isRight(f, 9, 10))
    #expect(!isRight(a, 11, 12))
  }

  @Test mutating func theLaterOfTwoFlightsStands() {
    history.fetched(f, calledAt: 2, startedAt: 2)
    write(a, 4, 5)
    history.fetched(g, calledAt: 7, startedAt: 7)
    #expect(isRight(g, 6, 9))
    #expect(isRight(f, 3, 10))
    #expect(!isRight(f, 10, 11))
  }

  @Test mutating func `the older value may be read while a newer one is fetched`() {
    write(a, 1, 2)
    history.fetched(f, calledAt: 3, startedAt: 4)
    #expect(isRight(a, 5, 6))
    #expect(isRight(f, 7, 8))
    #expect(!isRight(a, 9, 10))
  }

  @Test mutating func `a value of another run may be read while a newer one is fetched`() {
    let foreign = Version.foreign(run: 9, number: 1)
    history.fetched(f, calledAt: 1, startedAt: 2)
    #expect(isRight(foreign, 3, 4))
    #expect(isRight(f, 5, 6))
    #expect(!isRight(foreign, 7, 8))
  }

  @Test mutating func whatWasOnDiskBeforeTheRunIsOlderThanAllThatTheRunWrote() {
    let foreign = Version.foreign(run: 9, number: 1)
    #expect(isRight(foreign, 1, 2))
    write(a, 3, 4)
    #expect(!isRight(foreign, 5, 6))
  }

  @Test mutating func aValueOfLongAgoIsStillFoundOut() {
    write(a, 1, 2)
    for number in 10..<200 {
      let version = Version.written(UInt64(number))
      write(version, UInt64(number) * 10, UInt64(number) * 10 + 1)
    }
    #expect(!isRight(a, 5_000, 5_001))
  }

  @Test mutating func manyOpenWritesAreNoTrouble() {
    for number in 0..<1_000 { history.writeBegins(.written(UInt64(number)), at: UInt64(number)) }
    #expect(isRight(.written(500), 1_000, 1_001))
    for number in 0..<1_000 { history.writeEnds(.written(UInt64(number)), at: 2_000) }
    #expect(history.wasWritten(since: 2_000))
    #expect(!history.wasWritten(since: 2_001))
  }
}
