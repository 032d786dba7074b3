import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Waits for writes that later writes of their keys have replaced before the commit.
@Suite struct ReplacedWriteTests {
  private struct Refusal: Error {}

  private func write(_ key: Int, _ bytes: [UInt8]) -> StagedWrite {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    return .record(key: [UInt8]("key-\(key)".utf8), metadata, bytes: bytes)
  }

  private func stage(_ write: StagedWrite, in cache: any TransactionalPartition) throws -> CommitTicket {
    guard case .staged(let ticket) = cache.stage(write) else { throw Refusal() }
    return ticket
  }

  @Test func `a wait throws if the write that replaced the awaited one is given up with its batch`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(4), interval: .unreachable)
    let cache = try tier.cache()
    cache.put("key-5", bytes("old"))
    try await tier.flush()
    // The batches overlap, and are too large together. None can be committed while one is open.
    let batches = (0..<40).map { _ in tier.beginBatch() }
    let replaced = try (0..<3).map { try stage(write(5, [UInt8($0)]), in: cache) }
    let removal = try stage(.removal(key: bytes("key-6")), in: cache)
    let other = try stage(write(1000, [1]), in: cache)
    for (number, batch) in batches.enumerated() {
      for key in 0...10 { _ = cache.stage(write(number * 10 + key, value(key, size: 6000)), in: batch) }
    }
    for batch in batches { _ = tier.endBatch(batch) }
    for ticket in replaced + [removal] {
      await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    }
    try await cache.waitForCommit(other)
    _ = try? await tier.flush()
    try await tier.flush()
    #expect(cache.get("key-5") == nil && cache.get("key-1000") == [1])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a wait throws if the disk fails before the write that replaced the awaited one`() async throws {
    let scratch = TemporaryDirectory()
    let commits = Commits()
    let tier = try openTier(
      scratch, limit: .mebibytes(1), interval: .unreachable, faults: DiskFaults(atCommit: commits.fault))
    let cache = try tier.cache()
    try await tier.flush()
    // The group has a transaction for each batch.
    let batches = (0..<3).map { _ in tier.beginBatch() }
    let replaced = try (0..<3).map { try stage(write($0 * 10, [UInt8($0)]), in: cache) }
    for (number, batch) in batches.enumerated() {
      for key in 0..<10 { _ = cache.stage(write(number * 10 + key, value(key, size: 6000)), in: batch) }
    }
    commits.failAfterNext()
    for batch in batches { _ = tier.endBatch(batch) }
    var failed: Set<Int> = []
    for (number, ticket) in replaced.enumerated() {
      do { try await cache.waitForCommit(ticket) } catch { failed.insert(number) }
    }
    let present = Set((0..<3).filter { cache.get("key-\($0 * 10)") != nil })
    #expect(present.count == 1 && failed.isDisjoint(with: present) && failed.count == 2)
    _ = try? await tier.close()
  }

  @Test func `a wait throws if the records of its cache are lost with the write that replaced the awaited one`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    let replaced = try stage(write(1, [1]), in: cache)
    let newest = try stage(write(1, [2]), in: cache)
    cache.requireRemovalOfAll()
    _ = cache.stageRemovalOfAll()
    for ticket in [replaced, newest] {
      await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    }
    _ = try? await tier.close()
  }

  @Test func `many writes of a few keys need little memory, and keep all tickets`() {
    let staging = StagingArea()
    var ticket = CommitTicket.zero
    var size = 0
    var first: CommitTicket?
    for number in 0..<10_000 {
      // Writes of one key in a row alternate with writes of others.
      let key = number / 7 % 3
      let change = staging.stage(write(key, [])) {
        ticket = ticket.next()
        return (ticket, .zero, nil)
      }
      size += change.addedBytes
      if key == 0, first == nil { first = ticket }
    }
    let writes = staging.beginCommitting {}.writes.flatMap { Array($0) }
    #expect(writes.count == 3 && writes.reduce(0) { $0 + $1.size } == size)
    for entry in writes {
      let tickets = entry.tickets
      #expect(tickets.count <= ReplacedTickets.mostRanges + 1)
      #expect(zip(tickets, tickets.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      #expect(entry.size <= entry.write.stagedSize + ReplacedTickets.mostRanges * 16)
      // The first write and the last one of the key.
      #expect(tickets.last == entry.ticket...entry.ticket)
      #expect(tickets.first.map { $0.lowerBound.number <= 15 } == true)
    }
  }

  @Test func `replaced tickets include no ticket of another key until they have too many ranges`() {
    var tickets = ReplacedTickets()
    let most = ReplacedTickets.mostRanges
    for number in 0..<most {
      for next in 1...2 { tickets.add(CommitTicket(number: UInt64(number * 10 + next))) }
    }
    let range = { (first: Int, last: Int) in CommitTicket(number: UInt64(first))...CommitTicket(number: UInt64(last)) }
    #expect(tickets.ranges == (0..<most).map { range($0 * 10 + 1, $0 * 10 + 2) })
    tickets.add(CommitTicket(number: UInt64(most * 10)))
    #expect(tickets.ranges.count == most && tickets.ranges.first == range(1, 12))
    #expect(tickets.ranges.last == range(most * 10, most * 10))
    for number in 1...1000 { tickets.add(CommitTicket(number: UInt64(most * 10 + number * 10))) }
    #expect(tickets.ranges.count == most && tickets.ranges.first?.lowerBound.number == 1)
  }

  /// The commits of a tier, all of which fail from one on.
  private final class Commits: Sendable {
    private let left = Switch<Int>()

    /// Lets one commit succeed, and none of the following ones.
    func failAfterNext() { left.set(1) }

    @Sendable func fault() -> DiskFaults.Fault? {
      guard let count = left.peek() else { return nil }
      left.set(count - 1)
      return count > 0 ? nil : .inputOutput
    }
  }
}
