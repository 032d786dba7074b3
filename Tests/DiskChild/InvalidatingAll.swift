import CisternCore
import CisternDisk

/// Invalidates a tag in all partitions of the file with one commit.
func invalidateAll(_ tag: String, in tier: DiskTier) -> CommitTicket {
  let batch = tier.beginInvalidating()
  tier.stageInvalidation(.tag(tag), exceptIn: [], in: batch)
  return tier.endInvalidating(batch)
}

/// Writes a tagged record to three partitions as one batch, and invalidates the tag in all of them. Repeats this until
/// the process is killed.
func invalidateAllRepeatedly(_ tier: DiskTier) async throws {
  let partitions = try ["cache", "second", "third"].map { try tier.diskPartition(named: $0) }
  var number = 0
  while true {
    number += 1
    let batch = partitions[0].beginBatch()
    for partition in partitions {
      var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["gone"])
      metadata.localVersion = partition.invalidationVersion
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 + number % 3000)
      _ = partition.stage(.record(key: Array("key".utf8), metadata, bytes: bytes), in: batch)
    }
    _ = partitions[0].endBatch(batch)
    if number % 2 == 0 { try await tier.flush() }
    _ = invalidateAll("gone", in: tier)
    if number % 3 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
}
