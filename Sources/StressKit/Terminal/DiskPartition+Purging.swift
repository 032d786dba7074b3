import CisternDisk

extension DiskPartition {
  /// Waits until the records of committed invalidations are purged, so that later commands do not count them.
  ///
  /// Another process can delay a purge, for example with a long read. The wait then ends after some time without
  /// progress. The next program that opens the cache for writing continues the purge.
  func waitForPurge() async throws {
    let clock = ContinuousClock()
    var (count, last) = (statistics.entryCount, clock.now)
    while isPurging, last.duration(to: clock.now) < DiskPartition.purgePatience {
      try await Task.sleep(for: .milliseconds(2))
      let left = statistics.entryCount
      if left != count { (count, last) = (left, clock.now) }
    }
  }

  /// The longest wait for a purge that removes no record.
  private static let purgePatience = Duration.seconds(5)
}
