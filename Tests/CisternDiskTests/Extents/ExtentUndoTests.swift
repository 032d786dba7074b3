import CisternTesting
import Testing

@testable import CisternDisk

/// The log after an aborted transaction, and the cost of released numbers.
struct ExtentUndoTests {
  private let layout = ExtentLayout(mapSize: 1 << 20)

  /// Applies random decisions to the log, as a transaction does.
  private func change(
    _ log: inout ExtentLog, _ addresses: inout [RecordAddress], in current: UInt, _ generator: inout SeededGenerator
  ) {
    let transaction = TransactionNumber(number: current)
    let horizon = TransactionHorizon(current: transaction, oldestSnapshot: nil)
    for _ in 0..<Int.random(in: 1...40, using: &generator) {
      let numbers = log.all.map(\.number)
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: _ = log.add()
      case 1:
        if let free = log.newestFree { log.release(free) }
      case 2: log.closeOpen(Bool.random(using: &generator) ? .writes : .copies)
      case 3:
        if let closed = numbers.filter({ log[$0]?.isClosed ?? false }).randomElement(using: &generator) {
          log.empty(closed, in: transaction)
        }
      case 4: _ = log.takeChangedRows(withLiveBytes: Bool.random(using: &generator))
      case 5: _ = log.nextAge()
      case 6, 7:
        if let address = addresses.randomElement(using: &generator) { log.remove(900, at: address) }
      default:
        let stream = Extent.Stream.allCases.randomElement(using: &generator)
        let size = Int.random(in: 1...layout.largestRecord, using: &generator)
        let address = log.place(size, in: stream ?? .writes, from: .zero, during: horizon)
        if let address { addresses.append(address) }
      }
    }
  }

  @Test(arguments: 1...40) func `an abort restores the log exactly`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var log = ExtentLog(layout: layout)
    var addresses: [RecordAddress] = []
    for current in 1..<80 as Range<UInt> {
      let former = log
      log.begin()
      change(&log, &addresses, in: current, &generator)
      let changed = log
      if Bool.random(using: &generator) {
        log.commit()
        var summary = changed.summary
        summary.added = []
        #expect(log.all.elementsEqual(changed.all, by: ==) && log.summary == summary)
      } else {
        log.abort()
        #expect(log == former)
      }
    }
  }

  @Test func `changes outside of a transaction stay`() {
    var log = ExtentLog(layout: layout)
    _ = log.add()
    log.abort()
    #expect(log.count == 1)
  }

  @Test func `released numbers take no memory`() throws {
    var log = ExtentLog(layout: layout)
    for _ in 0..<10_000 { log.release(log.add()) }
    let last = log.add()
    #expect(log.table.entries.count == 1 && log.givenCount == 10_001)
    let row = LogRow(log, nextSeparate: SeparateNumber(number: 0), reclaim: nil)
    let read = ExtentLog(row, rows: [last: try #require(log[last])])
    #expect(read?.table.entries.count == 1 && read?[last] == log[last])
    #expect(read?.givenCount == 10_001)
  }
}
