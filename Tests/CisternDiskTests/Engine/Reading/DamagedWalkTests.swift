import CisternTestSupport
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Listings and walks of the purge in a file whose records are not in order.
@Suite struct DamagedWalkTests {
  private static let count = 80
  /// The number of records that one transaction of a listing reads.
  private static let listedTogether = 64

  /// Calls the body with a tier that has records, one of which precedes those before it in the order of the file.
  ///
  /// - Parameters:
  ///   - layout: The layout of the file.
  ///   - place: The number of records before the damaged one.
  ///   - isWriterHeld: Whether the writer thread is inside a commit, and therefore cannot replace the damaged file.
  ///   - body: Uses the tier.
  /// - Throws: The error of the body, or of a store that does not open.
  private func withDamage(
    in layout: DiskLayout, at place: Int, isWriterHeld: Bool = false,
    _ body: (DiskTier, DiskPartition) throws -> Void
  ) async throws {
    let scratch = TemporaryDirectory()
    let hold = CommitHold()
    let faults = DiskFaults {
      hold.pass()
      return nil
    }
    let tier = try openTier(scratch, layout: layout, faults: faults)
    let cache = try tier.diskPartition(named: "cache")
    let keys = (0..<Self.count).map { "key-\(100 + $0)" }
    for key in keys { cache.put(key, [1]) }
    try await tier.flush()
    do {
      defer { hold.end() }
      if isWriterHeld {
        let other = try tier.diskPartition(named: "other")
        hold.begin { other.put("key", [1]) }
      }
      switch layout {
      case .ordered: try scratch.replaceInDataFile(bytes(keys[place]), with: bytes("ke!" + keys[place].dropFirst(3)))
      case .dense:
        let items = try keys.map { try tier.indexItem(ofKey: $0) }.sorted { $0.rawSpan.precedes($1.rawSpan) }
        try scratch.replaceInDataFile(items[place], with: [0, 0] + items[place].dropFirst(2))
      }
      try body(tier, cache)
    }
    try await tier.close()
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a listing ends before a record that precedes those before it`(layout: DiskLayout) async throws {
    // The last place is that of the last record of a transaction.
    for place in [1, 30, Self.listedTogether - 1] {
      try await withDamage(in: layout, at: place, isWriterHeld: true) { _, cache in
        var listed = 0
        let isComplete = cache.listRecords { _, _, _ in
          listed += 1
          return listed <= 3 * Self.count
        }
        #expect(listed > 0 && listed <= place)
        #expect(!isComplete)
      }
    }
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a walk of the purge ends although the record from which it continues precedes those before it`(
    layout: DiskLayout
  ) async throws {
    var failures = 0
    for place in 1..<Self.count {
      try await withDamage(in: layout, at: place) { tier, cache in
        let file = try #require(tier.engine.file)
        var walk = PurgeWalk(
          of: cache.partition, .first, in: layout, targets: [.tag("tag"): FileInvalidationVersion(number: 9)])
        var steps = 0
        do throws(LMDBError) {
          while !walk.isDone, steps <= Self.count {
            steps += 1
            _ = try walk.next(1, of: 4, in: file)
          }
        } catch {
          #expect(error.code == .corrupted)
          failures += 1
        }
        #expect(steps <= Self.count)
      }
    }
    // Some walks do not continue from the damaged record.
    #expect(failures > 0)
  }
}

/// Holds the writer thread at the end of a commit.
private final class CommitHold: Sendable {
  private enum State: Sendable { case ended, requested, begun }

  private let state = Monitor(State.ended)

  /// Blocks the writer thread while it is held. Called at the end of each write transaction.
  func pass() {
    let isHeld = state.change { state in
      if state == .requested { state = .begun }
      return state == .begun
    }
    if isHeld { state.wait { $0 == .ended ? () : nil } }
  }

  /// Stages a write, and waits until the writer thread is held in its commit.
  func begin(_ stage: () -> Void) {
    state.change { $0 = .requested }
    stage()
    state.wait { $0 == .begun ? () : nil }
  }

  func end() { state.change { $0 = .ended } }
}
