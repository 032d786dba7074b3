import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The order of a clear among commits and other clears.
@Suite struct ClearOrderTests {
  @Test func `a commit that precedes the one of a clear shows no cleared records`() {
    let partition = Partition(name: "values")
    partition.learn(generation: 1, transaction: 1)
    #expect(partition.generation == 1)
    _ = partition.removeAll { 1 }
    // Another file is open. The batch of its repeated invalidations begins after the clear.
    _ = partition.forgetFile()
    partition.learn(generation: 1, transaction: 1)
    partition.publish(generation: 1, clearCount: partition.clearCount, transaction: 2)
    #expect(partition.generation == .zero && partition.wholeLoss.hidesRecords)
    let batch = partition.beginCommitting()
    #expect(batch.removesAll)
    partition.publish(generation: 2, clearCount: batch.clearCount, transaction: 3)
    #expect(partition.generation == 2 && !partition.wholeLoss.hidesRecords)
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

  private func put(_ key: [UInt8], _ clearCount: ClearCount, in staging: StagingArea) {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    _ = staging.stage(.record(key: key, metadata, bytes: [])) { (.zero, clearCount, nil) }
  }

  private func clearCount(of key: [UInt8], in staging: StagingArea) -> ClearCount? {
    staging.entry(forKey: key.rawSpan) { _ in false }?.clearCount
  }
}
