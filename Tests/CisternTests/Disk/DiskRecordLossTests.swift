import Cistern
import CisternTesting
import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Record losses. A key that the tier evicted is present until its loss is acknowledged. Observers therefore receive
/// each removal exactly once.
@Suite struct DiskRecordLossTests {
  @Test func `a lost key is present until its loss is acknowledged, and a write in between cancels the loss`() {
    let partition = Partition(name: "values")
    #expect(!isThere(in: partition))
    leave(partition)
    #expect(isThere(in: partition))
    #expect(isToBeTold(in: partition))
    #expect(!isToBeTold(in: partition))
    leave(partition)
    _ = partition.stage(.removal(key: Self.key)) { 1 }
    #expect(!isThere(in: partition))
    // A key with a staged write does not become lost.
    leave(partition)
    #expect(!isToBeTold(in: partition))
  }

  @Test(arguments: [Invalidation.tag("red"), .prefix([1, 2]), .tag("blue"), .prefix([2])])
  func `a lost key that an invalidation covers is absent, and its loss is not reported`(invalidation: Invalidation) {
    let partition = Partition(name: "values")
    leave(partition)
    let isConcerned = invalidation == .tag("red") || invalidation == .prefix([1, 2])
    let number = partition.stageInvalidation(invalidation, limit: 1000) { 1 }.invalidationVersion
    #expect(isThere(in: partition) == !isConcerned)
    #expect(isToBeTold(in: partition) == !isConcerned)
    // The invalidation does not cover a record that was stored after it.
    leave(partition, invalidationVersion: number)
    #expect(isToBeTold(in: partition))
  }

  @Test func `a key that is lost during a removal of all records is absent`() {
    let partition = Partition(name: "values")
    let clearCount = partition.clearCount
    _ = partition.clear { 1 }
    partition.noteLoss(Self.key, LostRecord(clearCount: clearCount, invalidationVersion: 0, tags: []))
    #expect(!isThere(in: partition))
    #expect(!isToBeTold(in: partition))
  }

  @Test(arguments: [false, true])
  func `a conditional removal ends the loss of a record that a staged removal replaces`(isOfRecord: Bool) {
    let partition = Partition(name: "values")
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    let condition: RecordCondition =
      isOfRecord ? .identity(RecordIdentity(metadata, bytes: Self.key.rawSpan)) : .ended(by: metadata.created)
    // The removal replaces a record that could not be written.
    _ = partition.stage(.removal(key: Self.key)) { 1 }
    partition.lostKeys.insert(
      Self.key, LostRecord(clearCount: partition.clearCount, invalidationVersion: 0, tags: []))
    #expect(isThere(in: partition))
    #expect(partition.stage(.removal(key: Self.key), if: condition, makeTicket: { 2 }) == nil)
    #expect(!isThere(in: partition))
    #expect(!isToBeTold(in: partition))
  }

  @Test(arguments: [false, true])
  func `a conditional removal of a record that could not be written removes the older record`(isWritten: Bool) {
    let partition = Partition(name: "values")
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    _ = partition.stage(.record(key: Self.key, metadata, bytes: [7])) { 1 }
    _ = partition.beginCommitting()
    let condition = RecordCondition.identity(RecordIdentity(metadata, bytes: [7].rawSpan))
    _ = partition.stage(.removal(key: Self.key), if: condition, makeTicket: { 2 })
    partition.staging.finishCommitting(isUnwritten: { _ in !isWritten }, replacing: { $0 })
    let entry = partition.stagedEntry(forKey: Self.key.rawSpan)
    let isConditional = entry?.condition != nil
    // Without a condition, the removal applies to any record on disk.
    #expect(entry?.ticket == 2 && isConditional == isWritten)
  }

  private static let key: [UInt8] = [1, 2, 3]

  private func isThere(in partition: Partition) -> Bool { partition.isLost(Self.key.rawSpan) }

  private func isToBeTold(in partition: Partition) -> Bool { partition.acknowledgeLoss(of: Self.key.rawSpan) }

  private func leave(_ partition: Partition, invalidationVersion: InvalidationVersion = 0) {
    partition.noteLoss(
      Self.key,
      LostRecord(clearCount: partition.clearCount, invalidationVersion: invalidationVersion, tags: ["red", "large"]))
  }

  @Test func `a flush returns after every eviction on disk is reported`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .kibibytes(256), delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<800 {
      cache.put("key-\(number)", value(number, size: 900))
      if number % 32 == 0 { await cache.waitForRoom() }
    }
    try await tier.flush()
    let evicted = delivered.lost(.evicted)
    #expect(tier.statistics.evictions > 0)
    #expect(evicted.count == tier.statistics.evictions)
    #expect(cache.keys().count + evicted.count == 800)
    try await tier.close()
  }

  @Test func `observers receive each eviction on disk once, even if its key is written concurrently`() async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .kibibytes(64), diskLimit: .mebibytes(1))
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    let findings = Findings()
    let token = cache.observe { findings.add($0) }
    var generator = SeededGenerator(seed: 8)
    for number in 0..<6000 {
      let key = Int.random(in: 0..<1200, using: &generator)
      if number % 7 == 0 {
        cache.removeValue(forKey: key)
      } else {
        cache[key] = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 900)
      }
    }
    try await store.flush()
    #expect(cache.statistics.disk?.evictions ?? 0 > 0)
    await findings.settle(cache: cache)
    try await store.flush()
    #expect(findings.wrong == [])
    #expect(cache.checkInvariants() == [])
    token.cancel()
    try await store.close()
  }
}

/// An observer that records each change that contradicts earlier changes.
final class Findings: Sendable {
  private struct State {
    var present: Set<Int> = []
    var wrong: [String] = []
  }

  private let state = Guarded(State())

  func add(_ change: Change<Int, [UInt8]>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, _):
        if !state.present.insert(key).inserted { state.wrong.append("\(key) inserted twice") }
      case .updated(let key, _):
        if !state.present.contains(key) { state.wrong.append("\(key) updated while absent") }
      case .removed(let key, let cause):
        if state.present.remove(key) == nil { state.wrong.append("\(key) removed while absent: \(cause)") }
      case .cleared:
        state.present = []
      case .invalidated:
        state.wrong.append("invalidated without a call")
      }
    }
  }

  /// Waits until the observer has received every earlier change. It makes one more change, which arrives last.
  func settle(cache: Cache<Int, [UInt8]>) async {
    cache[-1] = []
    while !state.withLock({ $0.present.contains(-1) }) { await Task.yield() }
  }

  var wrong: [String] { state.withLock { $0.wrong } }
}
