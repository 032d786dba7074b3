import CisternTestSupport
import CisternTesting
import TestDirectories
import Testing

@testable import CisternCore
@testable import CisternDisk
@testable import LMDB

/// Pages in a row that a transaction clears in a full file of LMDB.
struct WindowClearingTests: ExtentFileFixture {
  let directory = TemporaryDirectory()
  let recency = RecencyBitmap(capacity: 1 << 16)

  private struct Impossible: Error {}

  private func draft(_ number: Int, size: Int) -> RecordDraft {
    RecordDraft(
      key: bytes("key \(number)"),
      metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: UInt32(size)),
      bytes: value(number, size: size))
  }

  /// Returns a file that has been full for some time, and its state.
  private func fullFile() throws -> (ExtentFile, ExtentState?) {
    let file = try create(mapSize: 4 << 20)
    var state: ExtentState?
    var (number, evictions) = (0, 0)
    while evictions < 1500 {
      evictions += try put((0..<40).map { draft(number + $0, size: 400 + ($0 * 31 + number) % 700) }, &state, file)
        .evicted
      number += 40
    }
    return (file, state)
  }

  /// Puts records in one transaction, as far as they have room. Makes the map less full if LMDB finds it full.
  @discardableResult
  private func put(
    _ drafts: [RecordDraft], _ state: inout ExtentState?, _ file: ExtentFile
  ) throws -> (count: Int, evicted: Int) {
    var (count, evicted) = (0, 0)
    do {
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        while count < drafts.count, try step.put(drafts[count], of: .first, in: &target) { count += 1 }
        evicted = step.outcome.evicted.count
      }
      return (count, evicted)
    } catch let error as LMDBError {
      try #require(error.code == .mapFull)
      try pass(&state, file)
      let pages = drafts.map { file.tables.limits.pages(ofSeparate: $0.packedSize) }.max() ?? 0
      if pages > file.tables.limits.pagesPerExtent {
        try clear(pages, &state, file)
      } else {
        try transaction(&state, file) { (step, target) throws(LMDBError) in _ = try step.freeSpace(in: &target) }
      }
      try pass(&state, file)
      return (0, 0)
    }
  }

  private func pass(_ state: inout ExtentState?, _ file: ExtentFile) throws {
    for _ in 0..<2 { try transaction(&state, file) { step, _ in step.outcome.hasChanges = true } }
  }

  /// Returns the pages in use after the last commit.
  private func occupied(
    _ state: inout ExtentState?, _ file: ExtentFile, forWindowOf count: Int = 1
  ) throws -> OccupiedPages {
    var occupied: OccupiedPages?
    try transaction(&state, file) { (step, target) throws(LMDBError) in
      occupied = try step.occupiedPages(forWindowOf: count, in: target)
    }
    return try #require(occupied)
  }

  /// Clears a window, in as many transactions as it takes. Returns its pages.
  @discardableResult
  private func clear(
    _ count: Int, _ state: inout ExtentState?, _ file: ExtentFile
  ) throws -> Range<Int> {
    for _ in 0..<200 {
      let before = try occupied(&state, file, forWindowOf: count)
      var progress = WindowClearing.Progress.impossible
      var window = 0..<0
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        step.outcome.hasChanges = true
        window = step.state.clearing?.window ?? before.cheapestWindow(of: count)?.pages ?? window
        progress = try step.clearWindow(of: count, in: &target)
      }
      switch progress {
      case .finished: return window
      case .unfinished: continue
      case .impossible: throw Impossible()
      }
    }
    Issue.record("the clearing does not end")
    throw Impossible()
  }

  /// Clears a window that is not the cheapest one.
  private func clear(
    _ window: Range<Int>, of occupied: OccupiedPages, _ state: inout ExtentState?, _ file: ExtentFile
  ) throws {
    try transaction(&state, file) { (step, target) throws(LMDBError) in
      step.state.clearing = WindowClearing(OccupiedPages.Window(window), of: occupied)
      step.outcome.hasChanges = true
    }
    try clear(window.count, &state, file)
  }

  /// Returns the pages of the rows.
  private func rowPages(_ file: ExtentFile) throws -> Set<Int> {
    try leafPages(of: file.tables.rows, in: file) { _ in true }
  }

  @Test func `values leave the window`() throws {
    var (file, state) = try fullFile()
    for round in 0..<12 {
      let count = 40 + round * 5
      let window = try clear(count, &state, file)
      let after = try occupied(&state, file)
      #expect(
        after.contents(of: window).allSatisfy { content in
          switch content {
          case .extent, .separate: false
          case .items, .other: true
          }
        })
      #expect(window.count == count && state?.clearing == nil && state?.log.summary.held == [])
      // Fills the pages again.
      for number in 0..<20 {
        try put((0..<10).map { draft(100_000 + round * 200 + number * 10 + $0, size: 900) }, &state, file)
      }
    }
    try file.environment.close()
  }

  @Test func `a window is cleared without evictions if a part of the file is dead`() throws {
    var (file, state) = try fullFile()
    for first in stride(from: 0, to: 12_000, by: 20) {
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        for number in first..<first + 20 where number % 3 != 0 {
          _ = try step.remove(bytes("key \(number)"), of: .first, in: &target)
        }
      }
    }
    func count() throws -> Int {
      var count = 0
      try transaction(&state, file) { (_, target) throws(LMDBError) in count = try target.tablePages().itemCount }
      return count
    }
    var expected = try count()
    for round in 0..<4 {
      // Fills the reserve of free extents.
      for number in 0..<10 {
        expected += try put([draft(300_000 + round * 10 + number, size: 100)], &state, file).count
      }
      try clear(100, &state, file)
    }
    #expect(try expected > 500 && count() == expected)
    try file.environment.close()
  }

  @Test func `the pages of the index leave the window`() throws {
    var (file, state) = try fullFile()
    var moved = 0
    for round in 0..<20 {
      let before = try occupied(&state, file)
      let pages = before.runs.filter { if case .items = $0.content { true } else { false } }.map(\.pages)
      let page = pages[round * 7 % pages.count]
      try clear(page, of: before, &state, file)
      if try occupied(&state, file).contents(of: page).allSatisfy({ if case .items = $0 { false } else { true } }) {
        moved += 1
      }
      try pass(&state, file)
    }
    // Items with equal digests can begin in the page before.
    #expect(moved > 18)
    try file.environment.close()
  }

  @Test func `a page that did not leave the window costs more than any records`() throws {
    var (file, state) = try fullFile()
    let trees = try occupied(&state, file).treePages(in: 0..<1024)
    for page in trees {
      state?.experience.treePagesInWindow = [page]
      let runs = try occupied(&state, file, forWindowOf: 100).runs
      let cost = try #require(runs.first { $0.pages == page..<page + 1 }?.cost)
      #expect(runs.allSatisfy { $0.pages.lowerBound == page || ($0.cost ?? 0) < cost })
      #expect(cost > 8 * 100 * 4096)
    }
    // A clearing forgets the pages that have moved since.
    state?.experience.treePagesInWindow = Set(0..<1024)
    try clear(20, &state, file)
    #expect(state?.experience.treePagesInWindow.isSubset(of: trees) == true)
    try file.environment.close()
  }

  @Test func `the pages of rows leave the window`() throws {
    var (file, state) = try fullFile()
    for _ in 0..<4 {
      for page in try rowPages(file) {
        let before = try occupied(&state, file)
        // The page can have moved since, with the row of a reclaimed extent.
        guard before.contents(of: page..<page + 1) == [.other], try rowPages(file).contains(page) else { continue }
        let window = page..<page + 20
        try clear(window, of: before, &state, file)
        #expect(try !rowPages(file).contains(page))
        try pass(&state, file)
      }
    }
    try file.environment.close()
  }

  @Test func `large records have room after few transactions`() throws {
    var (file, state) = try fullFile()
    for round in 0..<20 {
      let large = draft(-round - 1, size: 300_000 + round * 10_000)
      var transactions = 0
      while try put([large], &state, file).count == 0 {
        transactions += 1
        try #require(transactions < 60, "round \(round)")
      }
      try put((0..<20).map { draft(200_000 + round * 20 + $0, size: 900) }, &state, file)
    }
    try file.environment.close()
  }

  /// The trees take free pages of the window, unless LMDB has read lists with enough pages below it.
  @Test func `a released window stays free until the record is stored`() throws {
    var (file, state) = try fullFile()
    var full = 0
    for round in 0..<240 {
      // The large records of the last groups leave last.
      state?.noteGroup()
      let large = draft(-round - 1, size: 250_000 + round * 31_000 % 270_000)
      try clear(file.tables.limits.pages(ofSeparate: large.packedSize), &state, file)
      try pass(&state, file)
      do {
        var isPut = false
        try transaction(&state, file) { (step, target) throws(LMDBError) in
          isPut = try step.put(large, of: .first, in: &target)
        }
        #expect(isPut, "round \(round)")
      } catch let error as LMDBError {
        try #require(error.code == .mapFull)
        full += 1
      }
      for first in stride(from: 0, to: round * 7 % 60, by: 10) {
        try put((first..<first + 10).map { draft(400_000 + round * 100 + $0, size: 900) }, &state, file)
      }
    }
    #expect(full < 12)
    try file.environment.close()
  }

  @Test func `no window is chosen in a transaction that has put a large record`() throws {
    var (file, state) = try fullFile()
    let size = 400_000
    let pages = file.tables.limits.pages(ofSeparate: size + 200)
    for round in 0..<6 {
      try clear(pages, &state, file)
      try pass(&state, file)
      var arePut = (first: false, second: true)
      var evicted: [EvictedRecord] = []
      do {
        try transaction(&state, file) { (step, target) throws(LMDBError) in
          arePut.first = try step.put(draft(-2 * round - 1, size: size), of: .first, in: &target)
          guard arePut.first else { return }
          step.outcome.evicted = []
          arePut.second = try step.put(draft(-2 * round - 2, size: size), of: .first, in: &target)
          evicted = step.outcome.evicted
        }
      } catch let error as LMDBError {
        try #require(error.code == .mapFull)
        continue
      }
      // The second record waits, and costs nothing yet.
      if arePut.first { #expect(!arePut.second && evicted.isEmpty && state?.clearing == nil) }
    }
    try file.environment.close()
  }
}
