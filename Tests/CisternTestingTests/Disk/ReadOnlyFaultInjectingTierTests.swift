import Cistern
import CisternTesting
import Testing

/// Tiers that are read-only: refused writes hide records, and the committed ones stay.
struct ReadOnlyFaultInjectingTierTests {
  private let tier = FaultInjectingTier(commits: .onDemand, losses: .onDemand)

  private func open(_ tier: FaultInjectingTier? = nil) throws -> any TransactionalPartition {
    try (tier ?? self.tier).transactionalPartition(named: "p") { _ in }
  }

  @Test func `a read-only tier hides the records of refused writes, and its committed records stay`() async throws {
    let partition = try open()
    for key in ["a", "b", "c"] as [Name] { partition.set(key, [1]) }
    tier.commit()
    tier.setMode(.readOnly)
    #expect(partition.set("a", [2]).ticket == nil)
    #expect(partition.stage(.removal(key: Name("b").bytes)).ticket == nil)
    #expect((["a", "b", "c"] as [Name]).map { partition.bytes($0) } == [nil, nil, [1]])
    let ticket = partition.stageRemovalOfAll()
    tier.commit()
    try await tier.flush()
    let error = await #expect(throws: CisternError.self) { try await partition.waitForCommit(ticket) }
    #expect(error?.code == .readOnly)
    #expect(partition.bytes("c") == nil)
    let reopened = try open(tier.reopenedAfterCrash())
    #expect((["a", "b", "c"] as [Name]).map { reopened.bytes($0) } == [[1], [1], [1]])
  }

  @Test func `a read-only tier drops conditional records, and stages conditional removals`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    tier.setMode(.readOnly)
    let key = Name("a").bytes
    let record = try #require(
      partition.withRecord(forKey: key.rawSpan) { StoredRecord(metadata: $0, bytes: $1.copiedBytes()) })
    func stage(_ write: StagedWrite) -> ConditionalStagingResult {
      partition.stage(write, if: .identity(RecordIdentity(record.metadata, bytes: record.bytes.rawSpan)))
    }
    let isDropped = if case .dropped = stage(.record(key: key, record.metadata, bytes: [2])) { true } else { false }
    #expect(isDropped && partition.bytes("a") == [1])
    let isStaged = if case .staged = stage(.removal(key: key)) { true } else { false }
    #expect(isStaged && partition.bytes("a") == nil)
    #expect(try open(tier.reopenedAfterCrash()).bytes("a") == [1])
  }
}
