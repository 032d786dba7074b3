extension Store {
  /// Opens the store in a directory, which is created if it is not there.
  ///
  /// What is on disk never makes it fail: a file that is damaged, foreign, or of a newer format is set aside, renamed
  /// and reported, and an empty one begun. Takes the same time for a million entries as for none, as long as the file is as
  /// the store left it; one that was copied, changed, or being written to by a process that was killed, is read through once
  /// before it is used.
  ///
  /// Throws `CisternError` for what has to be mended: a limit that cannot be, a directory that is a file or not ours to
  /// write, a disk without room for an empty store.
  ///
  /// - Parameters:
  ///   - directory: the path of a directory that holds nothing else.
  ///   - memoryLimit: the highest total cost of the values in memory, over all caches.
  ///   - diskLimit: the highest size of the store's file.
  ///   - configuration: what else is wanted.
  public convenience init(
    directory: String, memoryLimit: ByteCount, diskLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    let reportLog = ReportLog(handler: configuration.reportHandler)
    let tier = try DiskTier(
      directory: directory, limit: diskLimit, durability: configuration.durability,
      isReadOnly: configuration.isReadOnly, commitInterval: configuration.commitInterval,
      report: { reportLog.add($0) })
    try self.init(
      secondTier: tier, memoryLimit: memoryLimit, configuration: configuration, reportLog: reportLog)
  }
}
