// The process's part in the tests of a directory that another process has open.
import CisternCore
import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Blocks the thread until the process is killed.
func stay() -> Never {
  while true { sleep(1000) }
}

/// Keeps a snapshot open until the process is killed.
@MainActor func holdSnapshot(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  _ = cache.stage(record(key(0), 1, [1]))
  try await tier.flush()
  _ = cache.withRecord(forKey: key(0).rawSpan) { _, _ in
    say("holding")
    while true { sleep(1000) }
  }
}

/// Writes a newer record of key 0, and stays until the process is killed.
@MainActor func replaceRecord(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 7), cost: 1)
  metadata.isSet = true
  _ = cache.stage(.record(key: key(0), metadata, bytes: [7]))
  try await tier.flush()
  say("replaced")
  stay()
}

/// Removes everything, writes one record, and stays until the process is killed.
@MainActor func clearAndWrite(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  _ = cache.stageRemovalOfAll()
  _ = cache.stage(record(key(1), 1, [9]))
  try await tier.flush()
  say("cleared")
  stay()
}
