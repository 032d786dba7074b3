import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The opening of a directory.
///
/// It decides whether LMDB can trust the data file, and sets aside a file that it cannot trust. It rewrites a file that
/// exceeds the limit or has another layout.
struct DiskOpening {
  let directory: String
  let options: DiskOptions
  let limits: DiskLimits
  /// Reports of problems that the opening has handled. They are delivered when the engine exists.
  private(set) var reports: [StoreReport] = []
  /// The report of missing or older contents. It is apart from `reports`, because a store repeats an opening that
  /// fails.
  var historyReport: StoreReport?
  /// The reports of an opening that fails, and that a further one does not repeat.
  ///
  /// A further one finds older contents again, but not missing ones, because the mark names the next file already.
  var reportsOfFailure: [StoreReport] {
    guard let historyReport, historyReport.code == .filesReplaced else { return reports }
    return reports + [historyReport]
  }
  /// The number of pages that were checked before LMDB opened the file.
  var pagesChecked = 0
  /// Whether the device may lack pages of the file, because this opening could not write its changes through.
  var mayLackPages = false

  init(directory: String, options: DiskOptions, limits: DiskLimits) {
    self.directory = directory
    self.options = options
    self.limits = limits
  }

  /// Returns the options of the LMDB environment for this store.
  func environmentOptions(mapSize: Int? = nil) -> EnvironmentOptions {
    var environmentOptions = EnvironmentOptions(
      mapSize: mapSize ?? limits.mapSize, maximumDatabases: 4, maximumReaders: DiskLimits.readers,
      isReadOnly: options.isReadOnly, durability: options.durability == .powerCut ? .noMetaSync : .noSync)
    environmentOptions.readsAhead = false
    return environmentOptions
  }

  mutating func openFile(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile? {
    var opening = self
    defer { self = opening }
    let directory = directory
    return try claim.withGate({ (error) in
      CisternError(
        .storeInUse, "another process is still opening or repairing the store; try again later", location: directory,
        cause: error)
    }) { () throws(CisternError) -> DiskFile? in
      do throws(CisternError) {
        let file = opening.options.isReadOnly ? try opening.openToRead(claim) : try opening.openToWrite(claim)
        // A reader without a file does not vouch for it. The next process must check the file.
        if file == nil { claim.leave() } else { claim.share() }
        return file
      } catch {
        // An exclusive lock that outlives the gate would keep the next opening from its shared lock.
        claim.leave()
        throw error
      }
    }
  }

  // MARK: To write

  private mutating func openToWrite(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile {
    var marking = try beginMarking(claim)
    do throws(CisternError) {
      return try openToWrite(claim, &marking)
    } catch {
      restoreMark(marking, claim)
      throw error
    }
  }

  private mutating func openToWrite(
    _ claim: DirectoryClaim, _ marking: inout Marking
  ) throws(CisternError) -> DiskFile {
    var file = try openTrusted(claim, marking)
    do throws(CisternError) {
      if let fault = options.faults.atOpening() { throw cisternError(fault.error(of: "open")) }
      marking.mayHaveChangedFile = true
      file = try identified(file, marking, claim)
      if !marking.isAlone { try requireLayout(of: file, marking.former, claim) }
      try agree(on: file, &marking, claim)
      try synchronizeFormerCommits(file, &marking, claim)
      if marking.isAlone {
        file = try replaceIfUnsuitable(file, claim)
        try agree(on: file, &marking, claim)
        normalizeNames(of: file, claim)
      }
    } catch {
      // An open file would be shared with the next opening, whose options can differ. A file that a step has closed
      // stays closed.
      try? file.close()
      throw error
    }
    file.note.begin(file.environment, claim, isTrusted: marking.isTrusted && !mayLackPages)
    return file
  }

  /// Throws if a file that another process has open has another layout than the options name. The former mark is then
  /// back, because this process has written nothing.
  private func requireLayout(
    of file: DiskFile, _ mark: BootMark?, _ claim: DirectoryClaim
  ) throws(CisternError) {
    guard let layout = options.layout, layout != file.layout.kind else { return }
    if let mark { try write(mark, claim, isNew: false) }
    throw CisternError(
      .storeInUse,
      "another process has the store open with the disk layout \(file.layout.kind); open it with the same layout",
      location: directory)
  }

  private mutating func identified(
    _ file: DiskFile, _ marking: Marking, _ claim: DirectoryClaim
  ) throws(CisternError) -> DiskFile {
    do {
      return try requireIdentity(file, marking, claim)
    } catch {
      throw cisternError(error)
    }
  }

  /// Opens the file. If LMDB finds a defect in it, sets it aside and begins an empty one.
  private mutating func openTrusted(
    _ claim: DirectoryClaim, _ marking: Marking
  ) throws(CisternError) -> DiskFile {
    do {
      return try DiskFile.open(
        directory: directory, options: environmentOptions(mapSize: currentMapSize),
        layout: .any(beginning: options.layoutOfNewFile), checkingRows: pagesChecked > 0,
        newIdentity: marking.newIdentity)
    } catch {
      guard error.isAboutTheFile else { throw cisternError(error) }
      try requireKnownFormat(error, marking, claim)
      // Otherwise, another process would conclude that a foreign program removed the file.
      claim.forgetDataFile()
      try setAside("\(error)")
    }
    let (directory, options, layout) = (directory, environmentOptions(), options.layoutOfNewFile)
    return try lmdb { () throws(LMDBError) in
      try DiskFile.open(directory: directory, options: options, layout: .only(layout))
    }
  }

  /// The map size for the current file, in bytes.
  ///
  /// This is the limit's map size. A larger file gets a larger map, with room for the changes that shrink the file.
  var currentMapSize: Int {
    let size = DiskDirectory.fileSize(path) ?? 0
    guard size > limits.mapSize else { return limits.mapSize }
    let whole = size + DiskLimits.pageSize - 1
    return whole - whole % DiskLimits.pageSize + 256 * DiskLimits.pageSize
  }

  /// Sets the data file aside, and adds a report with the reason.
  mutating func setAside(_ reason: String) throws(CisternError) {
    withdrawRollback()
    let name = try system { () throws(SystemError) in try DiskDirectory.setAside(in: directory) }
    add(.setAside, "the data file cannot be used: \(reason). It was renamed to \(name), and an empty store was created")
  }

  /// Adds a report for the owner of the store.
  mutating func add(_ code: StoreReport.Code, _ message: String, cause: (any Error)? = nil) {
    reports.append(StoreReport(code, message, location: directory, cause: cause))
  }

  // MARK: To read only

  /// The map size of the processes that write, which can make the file larger later.
  private func writersMapSize(_ mark: BootMark?) -> Int {
    mark.flatMap { try? DiskLimits(.bytes($0.limit), location: directory) }?.mapSize ?? 0
  }

  private mutating func openToRead(_ claim: DirectoryClaim) throws(CisternError) -> DiskFile? {
    let mark = try system { () throws(SystemError) in try claim.readMark() }
    if claim.isAlone(), let reason = try markUntrusted(mark) {
      noteUnreadable(reason)
      return nil
    }
    compareHistory(mark)
    guard (DiskDirectory.fileSize(path) ?? 0) > 0 else { return nil }
    do {
      let file = try DiskFile.open(
        directory: directory, options: environmentOptions(mapSize: max(currentMapSize, writersMapSize(mark))),
        layout: .any(beginning: options.layoutOfNewFile), checkingRows: pagesChecked > 0)
      if isReadable(file, mark?.file.identity) { return file }
      try file.close()
      withdrawRollback()
      noteUnreadable("it belongs to another store")
      return nil
    } catch {
      // A folder has the name of a file of the store.
      guard error.isAboutTheFile || error.code == .other(EISDIR) else { throw cisternError(error) }
      noteUnreadable("\(error)")
      return nil
    }
  }

  private mutating func noteUnreadable(_ reason: String) {
    reports.append(
      StoreReport(
        .setAside, "the data file cannot be used: \(reason). The store is read-only, so the file was not changed",
        location: directory))
  }

  // MARK: Errors

  func system<Result>(_ body: () throws(SystemError) -> Result) throws(CisternError) -> Result {
    do {
      return try body()
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }

  func lmdb<Result>(_ body: () throws(LMDBError) -> Result) throws(CisternError) -> Result {
    do {
      return try body()
    } catch {
      throw cisternError(error)
    }
  }

  func cisternError(_ failure: LMDBError) -> CisternError {
    // A store that only reads must not write the test file of the diagnosis.
    let error = options.isReadOnly ? failure : options.diagnosis(of: failure, in: directory)
    if case .outOfResources = error.code {
      return CisternError(
        .diskFailed, "no memory, address space or file descriptor is left to open the store", location: directory,
        cause: error, remedy: nil)
    }
    let (code, message): (CisternError.Code, String) =
      switch error.code {
      case .noSpace: (.noSpace, "the disk has no space for the store")
      case .permission where options.isReadOnly:
        (
          .directoryUnusable,
          "this user cannot read the store: it must read the directory and its files, and write to \(DiskDirectory.lock), "
            + "which tells writers of readers; without this right, read a backup"
        )
      case .permission, .notADirectory, .notFoundDirectory:
        (.directoryUnusable, "the store's files cannot be read or written; check the path and its permissions")
      case .conflictingOpen: (.conflictingOpen, "this process has the directory open with other options; close it")
      case .readersFull: (.storeInUse, "too many processes have the store open; close it in one of them")
      case .other: (.storeInUse, "the store could not be opened")
      default: (.diskFailed, "the store could not be opened")
      }
    return code == .diskFailed
      ? CisternError(code, message, location: directory, cause: error, remedy: "Check the disk")
      : CisternError(code, message, location: directory, cause: error)
  }
}

extension LMDBError {
  /// Whether the file itself causes the error, so that an empty file would work.
  var isAboutTheFile: Bool {
    switch code {
    case .corrupted, .pageNotFound, .panic, .versionMismatch, .invalid, .incompatible, .truncated, .badTransaction,
      .databasesFull, .databaseNotFound, .badValueSize, .keyExists, .badDatabase:
      true
    default: false
    }
  }
}
