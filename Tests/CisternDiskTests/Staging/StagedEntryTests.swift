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

  @Test(arguments: [true, false])
  func `a rewrite is a set value only if its record is not taken for a commit yet`(isTaken: Bool) throws {
    let staging = StagingArea()
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)
    metadata.isSet = true
    let record = StagedWrite.record(key: [1], metadata, bytes: [7])
    _ = staging.stage(record) { (.zero, .zero, nil) }
    if isTaken { _ = staging.beginCommitting {} }
    let bytes: [UInt8] = [7]
    let identity = RecordIdentity(metadata, bytes: bytes.rawSpan)
    metadata.lastUsed = WallTime(nanosecondsSince1970: 2)
    let rewrite = StagedWrite.record(key: [1], metadata, bytes: [7])
    _ = staging.stage(rewrite, if: .identity(identity), exclude: { _ in }, make: { (.zero, .zero) })
    let entry = try #require(staging.entry(forKey: [UInt8]([1]).rawSpan) { _ in false })
    guard case .record(_, let found, _) = entry.write else {
      Issue.record("the rewrite is not found")
      return
    }
    #expect(found.lastUsed == metadata.lastUsed)
    #expect(found.isSet == !isTaken)
  }

  @Test func `a removal that leaves newer records does not hide the record that is being committed`() throws {
    let staging = StagingArea()
    let record = StagedWrite.record(
      key: [1], RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [7])
    _ = staging.stage(record) { (.zero, .zero, nil) }
    _ = staging.beginCommitting {}
    _ = staging.stage(record) { (.zero, .zero, ReplacingRemoval(key: [1], condition: .written(before: 1))) }
    let entry = try #require(staging.entry(forKey: [UInt8]([1]).rawSpan) { _ in false })
    guard case .record(_, _, [7]) = entry.write else {
      Issue.record("the removal is found")
      return
    }
    staging.finishCommitting()
    guard case .removal? = staging.entry(forKey: [UInt8]([1]).rawSpan, isConcealed: { _ in false })?.write else {
      Issue.record("the removal is not staged")
      return
    }
  }

  private func lookUp(in partition: Partition) -> StagedEntry? { partition.stagedEntry(forKey: [1].rawSpan) }
}
