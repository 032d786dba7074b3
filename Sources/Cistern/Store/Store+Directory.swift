extension Store {
  /// Opens the store in a directory, which is created if it is missing, with its missing parents.
  ///
  /// What is on disk never makes it fail: a file that is damaged, foreign, or of a newer format is set aside, renamed
  /// and reported, and an empty one begun. Takes the same time for a million entries as for none, as long as the file is as
  /// the store left it; one that was copied, changed, or being written to by a process that was killed, is read through once
  /// before it is used.
  ///
  /// Stores of one directory in a process share everything: see ``Store``. Throws `CisternError` with the code
  /// ``CisternError/Code/conflictingOpen`` if the directory is open with other settings.
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
    let memoryLimit = try Self.checkedLimit(memoryLimit, "memoryLimit")
    let options = DiskOptions(
      limit: diskLimit, durability: configuration.durability, isReadOnly: configuration.isReadOnly,
      commitInterval: configuration.commitInterval)
    let number = Self.nextNumber()
    let identity = try Self.identity(of: directory, isReadOnly: configuration.isReadOnly)
    let settings = configuration.settings(memoryLimit: .bytes(memoryLimit), disk: options)
    let (shared, isNew) = try StoreRegistry.shared.open(identity, settings: settings, location: directory) {
      () throws(CisternError) in
      let reportLog = ReportLog(handler: configuration.reportHandler, number: number)
      let tier = try DiskTier(directory: directory, options: options, report: { reportLog.add($0) })
      return SharedStore(
        memoryLimit: memoryLimit, secondTier: tier, configuration: configuration, reportLog: reportLog,
        directory: (identity, settings))
    }
    if !isNew { shared.reportLog.addHandler(configuration.reportHandler, number) }
    self.init(sharing: shared, number: number)
  }

  /// Creates the directory if it is missing.
  private static func identity(of directory: String, isReadOnly: Bool) throws(CisternError) -> DirectoryIdentity {
    // What else may be wrong with a directory that is there is found when it is opened.
    if !directory.utf8.contains(0), let identity = DirectoryIdentity(ifPresent: directory) { return identity }
    try DiskDirectory.prepare(directory, isReadOnly: isReadOnly)
    return try DirectoryIdentity(of: directory)
  }
}

extension Store.Configuration {
  /// The settings in which all stores of a directory must agree.
  fileprivate func settings(memoryLimit: ByteCount, disk: DiskOptions) -> OpenSettings {
    var settings = disk.settings
    settings.add("memoryLimit", memoryLimit)
    settings.add("evictionPolicy", evictionPolicy)
    settings.add("clock", instance: clock)
    settings.add("taskExecutor", instance: taskExecutor)
    settings.add("respondsToMemoryPressure", respondsToMemoryPressure)
    settings.add("shardCount", shardCount)
    return settings
  }
}
