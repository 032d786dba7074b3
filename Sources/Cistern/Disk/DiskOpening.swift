import LMDB

/// The opening of a directory: decides, before LMDB sees it, whether the file can be trusted; sets aside what cannot;
/// makes it as small as the limit says.
struct DiskOpening {
  let directory: String
  let options: DiskOptions
  let limits: DiskLimits
  /// What was met and dealt with, to be reported once there is someone to report it.
  private(set) var reports: [StoreReport] = []
  /// How many pages had to be looked at, before LMDB saw the file.
  var pagesChecked = 0

  init(directory: String, options: DiskOptions, limits: DiskLimits) {
    self.directory = directory
    self.options = options
    self.limits = limits
  }

  /// The environment's options for this store.
  func environmentOptions(mapSize: Int? = nil) -> EnvironmentOptions {
    EnvironmentOptions(
      mapSize: mapSize ?? limits.mapSize, maximumDatabases: 4, maximumReaders: DiskLimits.readers,
      isReadOnly: options.isReadOnly, durability: options.durability == .powerCut ? .noMetaSync : .noSync,
      readsAhead: false)
  }

  /// Opens the store, and starts its writer thread.
  consuming func open(
    reportingTo report: @escaping @Sendable (StoreReport) -> Void, for owner: DiskOwner
  ) throws(CisternError) -> DiskEngine {
    let directory = directory
    let claim: DirectoryClaim
    do {
      claim = try DirectoryClaim(directory: directory, isReadOnly: options.isReadOnly)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
    let file = try openFile(claim)
    let engine = DiskEngine(directory: directory, options: options, limits: limits, claim: claim, file: file)
    engine.counters.pagesChecked.store(pagesChecked, ordering: .relaxed)
    engine.addReporter(report, for: owner.number)
    for report in reports { engine.report(report) }
    if options.isReadOnly { return engine }
    do {
      try Writer.start(for: engine)
    } catch {
      throw CisternError(
        .diskFailed, "the store's writer thread could not be started", location: directory, cause: error)
    }
    return engine
  }

  private mutating func openFile(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile? {
    var opening = self
    defer { self = opening }
    let directory = directory
    return try claim.withGate({ (error) in
      CisternError(
        .storeInUse, "another process has been opening or mending the store for long", location: directory,
        cause: error)
    }) { () throws(CisternError) -> DiskFile? in
      let file = opening.options.isReadOnly ? try opening.openToRead(claim) : try opening.openToWrite(claim)
      claim.share()
      return file
    }
  }

  // MARK: To write

  private mutating func openToWrite(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile {
    let mark = try system { () throws(SystemError) in try claim.readMark() }
    let isAlone = claim.isAlone()
    if isAlone {
      DiskDirectory.removeCopy(in: directory)
      if let reason = distrust(mark) { try setAside(reason) }
    } else if let mark, mark.limit != limits.limit {
      throw CisternError(
        .storeInUse,
        "another process has the store open with a disk limit of \(mark.limit) bytes; open it with the same",
        location: directory)
    }
    // Before anything is written that a power cut could tear, the mark says so; and it stays, while others may.
    let wasUnsynchronized = mark?.state == .unsynchronized
    let isUnsynchronized = options.durability == .processCrash
    // Alone, the file was found sound; else those who have it open say what they know of it.
    let stamp = isAlone ? DataFileStamp(of: path) : mark?.stamp
    if isUnsynchronized || mark?.vouches(for: stamp, limit: limits.limit) != true {
      try write(isUnsynchronized || wasUnsynchronized ? .unsynchronized : .sound, stamp, claim, isNew: mark == nil)
    }
    var file = try openTrusted()
    if isAlone, wasUnsynchronized, !isUnsynchronized {
      try lmdb { () throws(LMDBError) in try file.environment.synchronize(force: true) }
      try write(.sound, stamp, claim, isNew: false)
    }
    if isAlone { file = try shrinkIfLarge(file) }
    file.note.begin(file.environment, claim, isVouchedFor: isAlone || stamp != nil)
    return file
  }

  private func write(
    _ state: BootMark.State, _ stamp: DataFileStamp?, _ claim: DirectoryClaim, isNew: Bool
  ) throws(CisternError) {
    try system { () throws(SystemError) in
      try claim.write(BootMark(state: state, boot: presentBoot(), limit: limits.limit, stamp: stamp))
      if isNew { try DiskDirectory.synchronize(directory) }
    }
  }

  /// Opens the file; what LMDB finds wrong with it is set aside, once.
  private mutating func openTrusted() throws(CisternError) -> DiskFile {
    do {
      return try DiskFile.open(
        directory: directory, options: environmentOptions(mapSize: presentMapSize), checkingRows: pagesChecked > 0)
    } catch {
      guard error.isAboutTheFile else { throw cisternError(error) }
      try setAside("\(error)")
    }
    let options = environmentOptions()
    return try lmdb { () throws(LMDBError) in try DiskFile.open(directory: directory, options: options) }
  }

  /// The limit's, or what a larger file needs, with room for the changes that make it smaller.
  var presentMapSize: Int {
    let size = DiskDirectory.fileSize(path) ?? 0
    guard size > limits.mapSize else { return limits.mapSize }
    let whole = size + DiskLimits.pageSize - 1
    return whole - whole % DiskLimits.pageSize + 256 * DiskLimits.pageSize
  }

  mutating func setAside(_ reason: String) throws(CisternError) {
    let name = try system { () throws(SystemError) in try DiskDirectory.setAside(in: directory) }
    reports.append(
      StoreReport(
        .setAside, "the data file could not be used: \(reason). It is now \(name), and an empty store was begun",
        location: directory))
  }

  // MARK: Smaller

  /// Where the file is larger than the limit: evicts what has to go, and puts a compacted copy in its place.
  private mutating func shrinkIfLarge(_ file: DiskFile) throws(CisternError) -> DiskFile {
    guard file.environment.options.mapSize != limits.mapSize else { return file }
    let limits = limits
    let directory = directory
    do {
      try file.evict(untilPages: limits.lowWatermark)
      try file.replaceByCopy()
    } catch {
      guard let error = error as? LMDBError, error.isAboutTheFile else {
        throw CisternError(
          .noSpace, "the file could not be made as small as the limit", location: directory, cause: error)
      }
      try lmdb { () throws(LMDBError) in try file.close() }
      try setAside("\(error)")
    }
    let options = environmentOptions()
    return try lmdb { () throws(LMDBError) in try DiskFile.open(directory: directory, options: options) }
  }

  // MARK: To read only

  private mutating func openToRead(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile? {
    guard DiskDirectory.fileSize(path) != nil else { return nil }
    let mark = try system { () throws(SystemError) in try claim.readMark() }
    if claim.isAlone(), let reason = distrust(mark) {
      noteUnreadable(reason)
      return nil
    }
    do {
      return try DiskFile.open(
        directory: directory, options: environmentOptions(mapSize: presentMapSize), checkingRows: pagesChecked > 0)
    } catch {
      guard error.isAboutTheFile else { throw cisternError(error) }
      noteUnreadable("\(error)")
      return nil
    }
  }

  private mutating func noteUnreadable(_ reason: String) {
    reports.append(
      StoreReport(
        .setAside, "the data file cannot be used: \(reason). It was left as it is, since the store is read-only",
        location: directory))
  }

  // MARK: Errors

  private func system<Result>(_ body: () throws(SystemError) -> Result) throws(CisternError) -> Result {
    do {
      return try body()
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }

  private func lmdb<Result>(_ body: () throws(LMDBError) -> Result) throws(CisternError) -> Result {
    do {
      return try body()
    } catch {
      throw cisternError(error)
    }
  }

  private func cisternError(_ error: LMDBError) -> CisternError {
    let (code, message): (CisternError.Code, String) =
      switch error.code {
      case .noSpace: (.noSpace, "the disk has no room for the store")
      case .permission, .notADirectory, .notFoundDirectory:
        (.directoryUnusable, "the store's files cannot be read and written")
      case .conflictingOpen: (.conflictingOpen, "this process has the directory open otherwise")
      case .readersFull: (.storeInUse, "too many processes have the store open")
      case .other: (.storeInUse, "the store could not be opened")
      default: (.diskFailed, "the store could not be opened")
      }
    return CisternError(code, message, location: directory, cause: error)
  }
}

extension LMDBError {
  /// Whether the file itself is at fault, so that another in its place would do.
  var isAboutTheFile: Bool {
    switch code {
    case .corrupted, .pageNotFound, .panic, .versionMismatch, .invalid, .incompatible, .truncated, .badTransaction,
      .databasesFull, .databaseNotFound, .badValueSize, .keyExists, .badDatabase:
      true
    default: false
    }
  }
}
