@testable import CisternDisk

extension DiskTier {
  /// Waits until all writes are committed, and all invalidated records and those of cleared caches are purged.
  func purge() async throws {
    try await flush()
    while engine.partitions.contains(where: { !$0.invalidations.pending.isEmpty }) { await Task.yield() }
    while try engine.file?.deadGenerations().isEmpty == false { await Task.yield() }
    try await flush()
  }
}
