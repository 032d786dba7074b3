import CisternCore
import CisternDisk

extension Store {
  /// Opens the store in a directory. A missing directory and its missing parents are created.
  ///
  /// Bad data on disk never causes an error. A file that is damaged, foreign or in a newer format is renamed and
  /// reported, and the store begins an empty file.
  ///
  /// The time to open does not depend on the number of entries if the file is as a store left it. Otherwise, the
  /// store first reads the whole file once. This is necessary if the file was copied or changed, or if a process was
  /// killed while it wrote.
  ///
  /// The stores of one directory in a process share everything; see ``Store``.
  ///
  /// - Parameters:
  ///   - directory: The path of a directory that contains nothing else.
  ///   - memoryLimit: The highest total cost of the values in memory, for all caches together.
  ///   - diskLimit: The highest size of the store's file, from 64 pages (256 KiB) to 64 TiB.
  ///   - configuration: Further options.
  ///
  /// - Throws: `CisternError` in these cases:
  ///   - The directory is open with other settings. The code is ``CisternError/Code/conflictingOpen``.
  ///   - Another process has the directory open with another limit or layout. Or the directory was renamed, and the
  ///     store of the former path cannot leave it, because the disk fails. The code is
  ///     ``CisternError/Code/storeInUse``.
  ///   - A report handler or a body of `withBytes` opens a directory whose last store is closing, or that the store of
  ///     its former path has not left. That store could wait for the thread. The code is
  ///     ``CisternError/Code/storeInUse``.
  ///   - A limit or the commit interval is invalid, or the disk limit is below 4 MiB and the layout
  ///     ``DiskLayout/dense``.
  ///   - The path leads to a file, or the process may not write to the directory.
  ///   - The disk has no room for an empty store.
  public convenience init(
    directory: String, memoryLimit: ByteCount, diskLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    let memoryLimit = try ByteCount.checkedLimit(memoryLimit, "memoryLimit")
    guard configuration.commitInterval >= .zero else {
      throw CisternError(
        .invalidArgument, "commitInterval is \(configuration.commitInterval); it must not be negative",
        location: "opening a store")
    }
    guard
      configuration.diskLayout != .dense || configuration.isReadOnly || diskLimit >= DiskLayout.smallestDenseLimit
    else {
      throw CisternError(
        .invalidArgument,
        "diskLayout is dense, which needs a diskLimit of at least \(DiskLayout.smallestDenseLimit); it is \(diskLimit.bytes) bytes",
        location: "opening a store", remedy: "Raise diskLimit, or leave diskLayout nil")
    }
    let options = DiskOptions(
      limit: diskLimit, layout: configuration.diskLayout, durability: configuration.durability,
      isReadOnly: configuration.isReadOnly, commitInterval: configuration.commitInterval)
    // An invalid limit must not leave a new directory.
    try options.checkLimit(location: directory)
    let number = Self.nextNumber()
    let reportLog = ReportLog(handler: configuration.reportHandler, number: number)
    let tier = try DiskTier(directory: directory, options: options, report: { reportLog.add($0) })
    let settings = configuration.settings(memoryLimit: .bytes(memoryLimit), disk: options.settings)
    let (shared, isNew) = try StoreRegistry.shared.open(tier, settings: settings, location: directory) {
      SharedStore(
        memoryLimit: memoryLimit, secondTier: tier, configuration: configuration, reportLog: reportLog,
        listing: SharedStore.Listing {
          configuration.settings(memoryLimit: .bytes(memoryLimit), disk: tier.settings)
        } remove: { [engine = tier.engineIdentity] in
          StoreRegistry.shared.forget($0, of: engine)
        })
    }
    if !isNew {
      // The tier of the shared state stays open for this store, too.
      tier.withdraw()
      // Another thread has made the state for the engine that this one has opened.
      if tier.isFirst { for report in reportLog.newest { shared.reportLog.add(report) } }
      shared.reportLog.addHandler(configuration.reportHandler, number)
    }
    self.init(sharing: shared, number: number)
  }
}

extension Store.Configuration {
  /// The settings that must be equal in all stores of a directory.
  ///
  /// - Parameters:
  ///   - memoryLimit: The limit of memory.
  ///   - disk: The settings of the disk tier.
  /// - Returns: The settings.
  fileprivate func settings(memoryLimit: ByteCount, disk: OpenSettings) -> OpenSettings {
    var settings = disk
    settings.add("memoryLimit", memoryLimit)
    settings.add("evictionPolicy", evictionPolicy)
    settings.add("clock", instance: clock)
    settings.add("taskExecutor", instance: taskExecutor)
    settings.add("respondsToMemoryPressure", respondsToMemoryPressure)
    settings.add("shardCount", shardCount)
    return settings
  }
}
