import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Staged writes that a reader looks up, and uses later.
@Suite struct StagedEntryTests {
  @Test(arguments: [true, false])
  func `a reader that pauses after its look-up shows no write that an invalidation concealed`(isSet: Bool) throws {
    let partition = Partition(name: "values")
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["t"])
    metadata.isSet = isSet
    _ = partition.stage(.record(key: [1], metadata, bytes: [])) { .zero }
    let before = try #require(lookUp(in: partition))
    #expect(partition.shows(before))
    _ = partition.stageInvalidation(.tag("t"), limit: .max) { .zero }
    let entry = try #require(lookUp(in: partition))
    // The write and the invalidation are committed, and the writer thread takes the next group.
    for _ in 0..<2 {
      _ = partition.beginCommitting()
      partition.staging.finishCommitting()
    }
    #expect(!partition.shows(entry))
  }

  private func lookUp(in partition: Partition) -> StagedEntry? { partition.stagedEntry(forKey: [1].rawSpan) }
}
