import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Transactions that purge cleared records to make room, and then fail.
@Suite struct AbortedPurgeTests {
  @Test func `cleared records are purged after the abort of the transaction that has purged them`() async throws {
    let scratch = TemporaryDirectory()
    let transactions = Recorder<Void>()
    let first = Switch<Int>()
    let faults = DiskFaults {
      transactions.record(())
      return first.peek().map { transactions.count == $0 + 2 } ?? false ? .inputOutput : nil
    }
    let tier = try openTier(
      scratch, limit: .mebibytes(1), layout: .ordered, interval: .unreachable, faults: faults)
    let (small, large) = (try tier.cache("small"), try tier.cache("large"))
    for number in 0..<2000 {
      large.put("k\(number)", value(number, size: 700))
      await large.waitForRoom()
    }
    small.put("k", bytes("value"))
    try await tier.flush()
    // The first transaction of the group commits the clear, and the second one purges for new records.
    _ = small.stageRemovalOfAll()
    for number in 0..<600 { large.put("n\(number)", value(number, size: 700)) }
    first.set(transactions.count)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(tier.engine.mode == .degraded)
    try #require(try tier.engine.file?.deadGenerations().count == 1)
    // Maintenance has its turn after some commits in sequence.
    for number in 0..<2 * WriterState.commitsInSequence + 2 {
      large.put("x", [UInt8(number)])
      try? await tier.flush()
    }
    #expect(try tier.engine.file?.deadGenerations() == [])
    #expect(tier.checkInvariants() == [])
    try? await tier.close()
  }
}
