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
}
