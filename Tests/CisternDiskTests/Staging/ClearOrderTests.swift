import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The order of a clear among commits and other clears.
@Suite struct ClearOrderTests {
  @Test func `a commit that precedes the one of a clear shows no cleared records`() {
    let partition = Partition(name: "values")
    partition.learn(generation: 1, transaction: 1)
    #expect(partition.generation == 1)
    _ = partition.clear { 1 }
    // Another file is open. Its repeated invalidations are taken after the clear.
    _ = partition.forgetFile()
    partition.learn(generation: 1, transaction: 1)
    partition.publish(generation: 1, clearCount: partition.clearCount, transaction: 2)
    #expect(partition.generation == .zero && partition.clearState.hidesRecords)
    let changes = partition.beginCommitting()
    #expect(changes.clears)
    partition.publish(generation: 2, clearCount: changes.clearCount, transaction: 3)
    #expect(partition.generation == 2 && !partition.clearState.hidesRecords)
  }

  @Test func `another file shows no records until the commit group of a clear has removed them there, too`() {
    let partition = Partition(name: "values")
    partition.learn(generation: 1, transaction: 1)
    _ = partition.clear { 1 }
    let changes = partition.beginCommitting()
    partition.publish(generation: 2, clearCount: changes.clearCount, transaction: 2)
    #expect(partition.generation == 2 && !partition.clearState.hidesRecords)
    _ = partition.forgetFile()
    partition.learn(generation: 1, transaction: 1)
    #expect(partition.generation == .zero && partition.clearState.hidesRecords)
    partition.publish(generation: 2, clearCount: changes.clearCount, transaction: 2)
    #expect(partition.generation == 2 && !partition.clearState.hidesRecords)
    partition.endCommittedClear()
    _ = partition.forgetFile()
    partition.learn(generation: 1, transaction: 1)
    #expect(partition.generation == 1 && !partition.clearState.hidesRecords)
  }

  /// Stages a batch that does not fit into the transaction of a clear and an invalidation, so that its commit group has
  /// two.
  private func stageLargeBatch(in cache: any TransactionalPartition) {
    let batch = cache.beginBatch()
    for number in 0..<10 {
      _ = cache.stage(DiskPartition.write(bytes("new-\(number)"), value(number, size: 45_000)), in: batch)
    }
    cache.endBatch(batch)
  }

  @Test func `an older copy shows no records that a clear of the commit group in progress has removed`() async throws {
    let scratch = TemporaryDirectory()
    let next = Switch<@Sendable () -> DiskFaults.Fault?>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take()?() })
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    _ = cache.stageRemovalOfAll()
    _ = cache.stageInvalidation(.tag("none"))
    stageLargeBatch(in: cache)
    let found = Switch<[UInt8]?>()
    next.set {
      next.set {
        try? older.write(to: scratch.dataFile, options: .atomic)
        // The first transaction in the older copy.
        next.set {
          found.set(.some(cache.get("old")))
          return nil
        }
        return .panic
      }
      return nil
    }
    try await tier.flush()
    #expect(found.peek() == .some(.none))
    #expect(cache.get("old") == nil && cache.keys().count == 10)
    try await tier.purge()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `a clear of partitions that are not open holds in an older copy that its commit group meets`(
    isGivenUp: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let former = try openTier(scratch)
    for name in ["one", "two"] { try former.cache(name).put("old", [1]) }
    try await former.close()
    let next = Switch<@Sendable () -> DiskFaults.Fault?>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take()?() })
    let one = try tier.cache("one")
    let older = try Data(contentsOf: scratch.dataFile)
    for number in 0...tier.engine.limits.invalidationBytes / 4000 {
      let batch = tier.beginInvalidating()
      let tag = "\(number)" + String(repeating: "-", count: 4000)
      tier.stageInvalidation(.tag(tag), exceptIn: ["one"], in: batch)
      _ = tier.endInvalidating(batch)
    }
    try #require(tier.engine.unopened.withLock { $0.pending.removesAll })
    _ = one.stageInvalidation(.tag("none"))
    stageLargeBatch(in: one)
    let found = Switch<[UInt8]?>()
    next.set {
      next.set {
        try? older.write(to: scratch.dataFile, options: .atomic)
        // The first transaction in the older copy.
        next.set {
          if let two = try? tier.cache("two") { found.set(.some(two.get("old"))) }
          return isGivenUp ? .inputOutput : nil
        }
        return .panic
      }
      return nil
    }
    if isGivenUp {
      await #expect(throws: CisternError.self) { try await tier.flush() }
      #expect(try tier.cache("two").get("old") == nil)
      _ = try? await tier.flush()
    }
    try await tier.flush()
    #expect(found.peek() == .some(.none))
    #expect(try tier.cache("two").keys() == [])
    try await tier.purge()
    #expect(tier.engine.stagedCount.load(ordering: .relaxed) == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache("two").keys() == [] && again.cache("one").keys().count == (isGivenUp ? 1 : 11))
    try await again.close()
  }

  @Test func `a clear of an earlier commit group is not repeated in an older copy`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    _ = cache.stageRemovalOfAll()
    try await tier.purge()
    try older.write(to: scratch.dataFile, options: .atomic)
    // Without staged writes, the next commit group does not concern the cache.
    try await tier.flush()
    #expect(cache.get("old") == [1])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The last clear count of the second case is the greatest one.
  @Test(arguments: [[1], [30_000, 60_000, 65_535]] as [[ClearCount]])
  func `an earlier clear ends no write that follows a later one`(counts: [ClearCount]) {
    let staging = StagingArea()
    for count in counts { #expect(staging.begin(clearCount: count).count == StagingArea.shardCount) }
    let first = counts.last ?? .zero
    let second = first.next()
    put([1], first, in: staging)
    let clears = staging.begin(clearCount: second)
    #expect(clears.count == StagingArea.shardCount && clears.reduce(0) { $0 + $1.count } == 1)
    put([2], second, in: staging)
    #expect(staging.begin(clearCount: first).isEmpty && staging.begin(clearCount: second).isEmpty)
    #expect(staging.stagedCount == 1 && clearCount(of: [1], in: staging) == nil)
    #expect(clearCount(of: [2], in: staging) == second)
    // A write with the earlier count is void, and leaves the others.
    put([3], first, in: staging)
    #expect(clearCount(of: [2], in: staging) == second)
  }

  @Test func `a write that is being committed stays void when the count of clears repeats`() {
    let staging = StagingArea()
    put([1], .zero, in: staging)
    _ = staging.beginCommitting {}
    #expect(clearCount(of: [1], in: staging) == .zero)
    var count = ClearCount.zero
    repeat {
      count = count.next()
      _ = staging.begin(clearCount: count)
    } while count != .zero
    #expect(clearCount(of: [1], in: staging) == nil && staging.entryExceptRewrite(forKey: [UInt8(1)].rawSpan) == nil)
    var isAbsent = false
    staging.unlessStaged([1], clearCount: count) { isAbsent = true }
    #expect(isAbsent)
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    // The record has no end, so the condition would exclude it.
    let condition = RecordCondition.ended(by: WallTime(nanosecondsSince1970: 9))
    let change = staging.stage(.record(key: [1], metadata, bytes: []), if: condition) { _ in
      Issue.record("the void write is compared")
    } make: {
      (1, count)
    }
    #expect(change != nil)
    staging.finishCommitting(isUnwritten: { _ in true }) { _ in
      Issue.record("a removal replaces the void write")
      return nil
    }
    #expect(staging.stagedCount == 1)
    put([2], count, in: staging)
    _ = staging.beginCommitting {}
    #expect(clearCount(of: [2], in: staging) == count)
  }

  private func put(_ key: [UInt8], _ clearCount: ClearCount, in staging: StagingArea) {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    _ = staging.stage(.record(key: key, metadata, bytes: [])) { (.zero, clearCount, nil) }
  }

  private func clearCount(of key: [UInt8], in staging: StagingArea) -> ClearCount? {
    staging.entry(forKey: key.rawSpan) { _ in false }?.clearCount
  }
}
