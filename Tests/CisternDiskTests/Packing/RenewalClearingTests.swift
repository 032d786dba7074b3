import CisternTestSupport
import CisternTesting
import TestDirectories
import Testing

@testable import CisternCore
@testable import CisternDisk
@testable import LMDB

/// Rows with the newer times of records, in the pages that a transaction clears for a large record.
struct RenewalClearingTests: ExtentFileFixture {
  let directory = TemporaryDirectory()
  let recency = RecencyBitmap(capacity: 1 << 16)

  /// The key and contents of a row are longer than 40 bytes, so these rows take more pages than a window here.
  private static let rowCount: UInt64 = 4000

  /// Returns the pages of the leaves with rows.
  private func rowPages(_ file: ExtentFile) throws -> Set<Int> {
    try leafPages(of: file.tables.meta, in: file) { cursor in
      guard let key = cursor.key else { return false }
      return MetaTable.isRenewal(key)
    }
  }

  @Test func `only the rows in the window move`() throws {
    let file = try create(mapSize: 4 << 20)
    var state: ExtentState?
    let renewal = RecordRenewal.sample
    // The pages of an extent tell the location of the map, as soon as they are committed.
    let draft = RecordDraft(
      key: [1], metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [1])
    try transaction(&state, file) { (step, target) throws(LMDBError) in
      let isPut = try step.put(draft, of: .first, in: &target)
      #expect(isPut)
    }
    try transaction(&state, file) { (_, target) throws(LMDBError) in
      _ = try target.committedPage(of: ExtentRow.Key(ExtentNumber(number: 0)))
    }
    for first in stride(from: 0, to: Self.rowCount, by: 100) {
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        step.outcome.hasChanges = true
        for number in first..<first + 100 { try target.put(renewal, at: RecordAddress(separate: number)) }
      }
    }
    var (windows, moved) = (0, 0)
    for round in 0..<10 {
      var occupied: OccupiedPages?
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        step.outcome.hasChanges = true
        occupied = try step.occupiedPages(forWindowOf: 4, in: target)
      }
      let before = try rowPages(file)
      let sorted = before.sorted()
      let page = sorted[round * 7 % sorted.count]
      let window = page..<page + 4
      guard let occupied, occupied.contents(of: window).allSatisfy({ $0 == .other }) else { continue }
      // The first transaction moves the rows. Later ones move the leaf with the row of the log, which can come into the
      // window.
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        step.state.clearing = WindowClearing(OccupiedPages.Window(window), of: occupied)
        let progress = try step.clearWindow(of: 4, in: &target)
        #expect(progress == .unfinished)
      }
      state?.clearing = nil
      let after = try rowPages(file)
      windows += 1
      moved += before.subtracting(after).count
      #expect(after.isDisjoint(with: window), "round \(round)")
      // Each commit moves the leaf that also has the row of the log.
      #expect(before.subtracting(after).subtracting(window).count <= 1, "round \(round)")
    }
    #expect(windows > 5 && moved >= windows)
    let rows = try file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.renewalRows(in: file.tables.meta).map { (row) throws(LMDBError) in try row.renewal() }
    }
    #expect(rows.count == Int(Self.rowCount) && rows.allSatisfy { $0 == renewal })
    try file.environment.close()
  }
}
