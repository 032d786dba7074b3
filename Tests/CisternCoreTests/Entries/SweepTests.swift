import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The passes of a sweep over a shard whose table is rebuilt in between.
struct SweepTests {
  private static let groupCount = 64

  /// A shard with a full group, a further entry of it in the next group, and a few entries in every group.
  private struct Trial: ~Copyable {
    var shard = Shard<Int, Int>(policy: S3FIFO(), invalidations: SharedInvalidations())
    let budget = MemoryBudget(costLimit: 10_000)
    private var count = 0

    init(fullGroup: Int) {
      for round in 0..<4 {
        for group in 0..<SweepTests.groupCount where round < 3 || group < 30 { insert(inGroup: group) }
      }
      while shard.slots.numbers(inGroups: fullGroup..<fullGroup + 1).count < 8 { insert(inGroup: fullGroup) }
      insert(inGroup: fullGroup)
    }

    private mutating func insert(inGroup group: Int) {
      // The high bits select the home group in a table of 64 groups.
      let hash = UInt64(group) << 26
      let value = CachedValue(value: count, timing: .plain(until: .distantFuture), isPersisted: false)
      _ = budget.reserve(cost: 1, count: 1)
      _ = shard.transition(HashedKey(count, hash: hash), at: nil, cost: 1, budget: budget) { $0 = .ready(value) }
      count += 1
    }

    /// Removes an entry, and rebuilds the table. An entry in the next group moves to its home group.
    mutating func removeAndRebuild(inGroup group: Int) {
      let number = shard.slots.numbers(inGroups: group..<group + 1)[0]
      shard.reorder(number, holdsValue: false, cost: nil, budget: budget)
      _ = shard.slots.remove(number)
      shard.rebuildSlots()
    }

    /// The number of entries that the sweep has not compared with the newest invalidation.
    var outdatedCount: Int {
      var count = 0
      for number in shard.slots.numbers(inGroups: 0..<shard.slots.groupCount)
      where shard.slots[number].entry.invalidationVersion != shard.invalidationVersion {
        count += 1
      }
      return count
    }
  }

  @Test func `a sweep visits the entries that a rebuild of the same size moves behind it`() {
    let last = SweepPosition().groupsAtOnce - 1
    var trial = Trial(fullGroup: last)
    trial.shard.noteNewestInvalidation(InvalidationVersion(number: 1), budget: trial.budget)
    var position = SweepPosition()
    let isDone = trial.shard.sweep(&position, budget: trial.budget)
    trial.removeAndRebuild(inGroup: last)
    let groupCount = trial.shard.slots.groupCount
    #expect(!isDone && groupCount == Self.groupCount)
    while !trial.shard.sweep(&position, budget: trial.budget) {}
    let outdatedCount = trial.outdatedCount
    #expect(outdatedCount == 0)
  }

  @Test func `a sweep ends although the table is rebuilt after each of its steps`() {
    var trial = Trial(fullGroup: 0)
    trial.shard.noteNewestInvalidation(InvalidationVersion(number: 1), budget: trial.budget)
    var position = SweepPosition()
    var steps = 1
    while steps < 10, !trial.shard.sweep(&position, budget: trial.budget) {
      trial.shard.rebuildSlots()
      steps += 1
    }
    let outdatedCount = trial.outdatedCount
    #expect(steps < 10 && outdatedCount == 0)
  }

  @Test func `a sweep ends if the table is cleared between its steps`() {
    var trial = Trial(fullGroup: 0)
    trial.shard.noteNewestInvalidation(InvalidationVersion(number: 1), budget: trial.budget)
    var position = SweepPosition()
    let isDone = trial.shard.sweep(&position, budget: trial.budget)
    let cleared = ClearedContents<Int, Int>(capacity: 1)
    cleared.take(from: &trial.shard, as: 0)
    let isDoneAfterClear = trial.shard.sweep(&position, budget: trial.budget)
    #expect(!isDone && isDoneAfterClear)
  }
}
