// The process's part in the tests of invalidations.
import CisternCore
import CisternDisk

/// Writes and invalidates until the process is killed. Round n writes n to 40 keys, which alternate between four tags.
///
/// At its end, a round invalidates one of the tags or a prefix. Every third round flushes.
@MainActor func invalidateInRounds(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  var number = 0
  while true {
    number += 1
    stageRound(number, in: cache)
    if number % 3 == 0 {
      try await tier.flush()
      say("\(number)")
    }
  }
}

/// Blocks the thread while there is no room, and stages the writes and the invalidation of a round.
private func stageRound(_ number: Int, in cache: DiskPartition) {
  cache.waitForRoom()
  for slot in 0..<40 {
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["t\(slot % 4)"])
    metadata.localVersion = cache.invalidationVersion
    _ = cache.stage(.record(key: key(slot), metadata, bytes: Array("\(number)".utf8)))
  }
  _ = cache.stageInvalidation(number % 8 < 4 ? .tag("t\(number % 4)") : .prefix(key(number % 4)))
}

/// Invalidates one tag after the other until the process is killed. No record has these tags.
@MainActor func invalidateRepeatedly(_ tier: DiskTier, _ cache: DiskPartition) async throws {
  var number = 0
  while true {
    number += 1
    _ = cache.stageInvalidation(.tag("none-\(number)"))
    try await tier.flush()
    if number == 1 { say("invalidating") }
  }
}

/// Invalidates a tag, or a prefix, and stays until the process is killed.
@MainActor func purge(_ prefix: String?, _ tier: DiskTier, _ cache: DiskPartition) async throws {
  let invalidation: Invalidation = if let prefix { .prefix(Array(prefix.utf8)) } else { .tag("gone") }
  _ = cache.stageInvalidation(invalidation)
  try await tier.flush()
  say("invalidated")
  stay()
}

/// Invalidates a tag in all partitions of the file, and stays until the process is killed.
@MainActor func purgeAll(_ tier: DiskTier) async throws {
  try await tier.waitForCommit(invalidateAll("gone", in: tier))
  say("invalidated")
  stay()
}
