import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Callers that begin to wait for a commit after the store was closed.
@Suite struct WaitingAfterCloseTests {
  private static func ticket(_ result: StagingResult) -> CommitTicket? {
    if case .staged(let ticket) = result { ticket } else { nil }
  }

  /// Closes the tier. Without a flush, the writer thread itself commits what was staged since the last one.
  private static func end(_ tier: DiskTier, flushing: Bool) async throws {
    if flushing { return try await tier.close() }
    #expect(tier.detach())
    await tier.release()
  }

  @Test(arguments: [Durability.processCrash, .powerCut], [false, true])
  func `a caller gets the result of a write that the close has committed`(
    durability: Durability, isFlushed: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, durability: durability, interval: .unreachable)
    let cache = try tier.cache()
    let ticket = try #require(Self.ticket(cache.put("a", [1])))
    let removal = try #require(Self.ticket(cache.stage(.removal(key: Array("b".utf8)))))
    try await Self.end(tier, flushing: isFlushed)
    try await cache.waitForCommit(ticket)
    try await cache.waitForCommit(removal)
    let again = try openTier(scratch)
    #expect(try again.cache().get("a") == [1])
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a caller gets the error of a write that the close could not commit`(isFlushed: Bool) async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    failing.set(.inputOutput)
    let ticket = try #require(Self.ticket(cache.put("a", [1])))
    if isFlushed {
      await #expect(throws: CisternError.self) { try await tier.close() }
    } else {
      try await Self.end(tier, flushing: false)
    }
    await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    let again = try openTier(scratch)
    #expect(try again.cache().get("a") == nil)
    try await again.close()
  }

  @Test func `a write and a flush after the close throw`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    try await tier.close()
    let late = Self.ticket(cache.put("a", [1])) ?? .zero
    await #expect(throws: CisternError.self) { try await cache.waitForCommit(late) }
    await #expect(throws: CisternError.self) { try await tier.flush() }
  }
}
