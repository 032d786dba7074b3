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
    let last = Switch<Int>()
    let faults = DiskFaults {
      transactions.record(())
      return switch transactions.count - (last.peek() ?? .max) {
      // The first transaction commits the clear. Without room for the next two, maintenance pauses.
      case 2, 3: .mapFull
      // The fourth one purges the cleared record for a new one.
      case 4: .inputOutput
      default: nil
      }
    }
    let tier = try openTier(
      scratch, limit: .mebibytes(1), layout: .ordered, interval: .unreachable, faults: faults)
    let (cleared, other) = (try tier.cache("cleared"), try tier.cache("other"))
    cleared.put("k", bytes("value"))
    for number in 0..<2000 {
      other.put("k\(number)", value(number, size: 700))
      if number % 10 == 9 { cleared.put("k", bytes("value")) }
      await other.waitForRoom()
    }
    try await tier.flush()
    last.set(transactions.count)
    _ = cleared.stageRemovalOfAll()
    try await tier.flush()
    while transactions.count < (last.peek() ?? 0) + 3 { await Task.yield() }
    for number in 0..<200 { other.put("n\(number)", value(number, size: 700)) }
    await #expect(throws: CisternError.self) { try await tier.flush() }
    // Maintenance has its turn after some commits in sequence.
    for number in 0..<2 * WriterState.commitsInSequence + 2 {
      other.put("x", [UInt8(number)])
      try? await tier.flush()
    }
    #expect(try tier.engine.file?.deadGenerations() == [])
    #expect(tier.checkInvariants() == [])
    try? await tier.close()
  }
}
