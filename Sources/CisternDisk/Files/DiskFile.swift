import CisternCore
import LMDB
import Locking
import Synchronization

/// An open data file with its tables.
///
/// The engine replaces the file as a whole if its contents cannot be trusted.
final class DiskFile: Sendable {
  let environment: Environment
  /// The store's own rows. See ``MetaTable``.
  let meta: Database
  /// The tables with the records.
  let layout: Layout
  /// The newest commit up to which this process knows the generations of all partitions.
  ///
  /// Later commits are from other processes.
  let knownTransaction: Atomic<TransactionNumber>
  /// The newest commit of another process that the writer thread has noticed.
  ///
  /// It is raised before the writer thread lists the partitions that it informs. A partition that the list does not
  /// have is compared with this number when it is entered.
  let noticedTransaction = Atomic<TransactionNumber>(.zero)
  /// Whether any record has a renewal, as far as readers know it.
  let renewalState = RenewalState()
  /// The note by which the next opening recognizes the file.
  let note = FileNote()
  /// Whether the file could not be read for its copy.
  let hasFailedAsSource = Atomic<Bool>(false)
  /// The identity of the file. Nil in a file of an older version until it gets one.
  var identity: StoreIdentity? { identityState.withLock { $0 } }
  /// Whether this opening began the file.
  var isNew: Bool { newness.load(ordering: .relaxed) }

  private let identityState = Guarded<StoreIdentity?>(nil)
  private let newness = Atomic<Bool>(false)

  private init(environment: Environment, meta: Database, layout: Layout) throws(LMDBError) {
    self.environment = environment
    self.meta = meta
    self.layout = layout
    knownTransaction = Atomic(try environment.lastTransaction())
  }

  /// Opens the file in `directory`. Creates it unless the options are read-only.
  ///
  /// Without `checkingRows`, the cost does not depend on the size of the file.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store.
  ///   - options: The options of the LMDB environment.
  ///   - layout: The layouts to accept, and the one that the file gets if this method begins it.
  ///   - checkingRows: Whether to verify every row of the store's own table. Required for a file that another program
  ///     changed, because a row with a damaged key would go unnoticed.
  ///   - newIdentity: The identity of the file if this method begins it.
  /// - Returns: The open file.
  /// - Throws: `invalid` if the file belongs to another program, `versionMismatch` if its format has another version,
  ///   or `corrupted` if a verified row is damaged. The file is then as it was.
  static func open(
    directory: String, options: EnvironmentOptions, layout: AcceptedLayout, checkingRows: Bool = false,
    newIdentity: StoreIdentity = StoreIdentity()
  ) throws(LMDBError) -> DiskFile {
    let environment = try Environment.open(directory: directory, options: options)
    do throws(LMDBError) {
      if !options.isReadOnly { try environment.clearStaleReaders() }
      try requireOurs(environment)
      let meta = try environment.openDatabase(named: metaName)
      // The other tables are created only after this. A file of another format stays as it is.
      let known = try requireFormat(of: environment, meta, layout)
      let file = try DiskFile(
        environment: environment, meta: meta,
        layout: Layout(known ?? layout.ofNewFile, of: environment, meta, layout.ofNewExtents))
      if known == nil, !options.isReadOnly { try file.begin(newIdentity) }
      try file.readIdentity()
      if checkingRows { try file.requireSoundRows() }
      return file
    } catch {
      // The first error is the cause.
      try? environment.close()
      throw error
    }
  }

  static let metaName = "cstrn"

  /// Throws if the file has tables and none of them is the store's. The file then belongs to another program.
  private static func requireOurs(_ environment: Environment) throws(LMDBError) {
    // Opened like any other table: before that, LMDB has no order for its keys.
    let main = try environment.openDatabase(named: nil)
    let isOurs = try environment.withRead { (transaction) throws(LMDBError) in
      if try transaction.statistics(of: main).entryCount == 0 { return true }
      let name = [UInt8](metaName.utf8)
      return try transaction.value(forKey: name.rawSpan, in: main) != nil
    }
    if !isOurs {
      throw LMDBError(
        .invalid, operation: "open \(environment.directory)", message: "the file belongs to another program")
    }
  }

  /// Returns the layout of the file, or nil if the file is new. Throws if the layout is not accepted.
  private static func requireFormat(
    of environment: Environment, _ meta: Database, _ accepted: AcceptedLayout
  ) throws(LMDBError) -> DiskLayout? {
    let version = try environment.withRead { (transaction) throws(LMDBError) -> UInt64? in
      // The row may have any version. Versions before the third have no checksum here.
      let key = MetaTable.format
      guard let row = try transaction.value(forKey: key.rawSpan, in: meta) else { return nil }
      return row.byteCount < 8 ? .max : row.integer(at: 0, as: UInt64.self)
    }
    guard let version else { return nil }
    guard let layout = accepted.layout(formatVersion: version) else {
      throw LMDBError(
        .versionMismatch, operation: "open \(environment.directory)",
        message: "the file has format version \(version); this program needs version \(accepted.versions)")
    }
    if layout == .dense {
      let log = try environment.withRead { (transaction) throws(LMDBError) in
        try transaction.row(forKey: MetaTable.log, in: meta)
      }
      if log == nil {
        throw LMDBError(
          .corrupted, operation: "open \(environment.directory)", message: "the file has no row of the log")
      }
    }
    return layout
  }

  /// Writes the first rows of a new file.
  private func begin(_ identity: StoreIdentity) throws(LMDBError) {
    try environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(MetaTable.value(layout.kind.formatVersion), forKey: MetaTable.format, in: meta)
      try transaction.put([UInt8](identity.text.utf8), forKey: MetaTable.identity, in: meta)
      if case .dense(let tables) = layout { try tables.putFirstRows(in: &transaction) }
    }
    newness.store(true, ordering: .relaxed)
    knownTransaction.store(try environment.lastTransaction(), ordering: .releasing)
  }

  private func readIdentity() throws(LMDBError) {
    let row = try environment.withRead { (transaction) throws(LMDBError) in
      try transaction.row(forKey: MetaTable.identity, in: meta)
    }
    let identity = row.flatMap { StoreIdentity(String(decoding: $0, as: UTF8.self)[...]) }
    identityState.withLock { $0 = identity }
  }

  /// Assigns an identity to a file of an older version.
  ///
  /// The identity must be on the device before a mark has it. Otherwise a power cut could make the file look like
  /// the file of another store.
  func assignIdentity() throws(LMDBError) {
    let identity = StoreIdentity()
    try environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put([UInt8](identity.text.utf8), forKey: MetaTable.identity, in: meta)
    }
    try environment.synchronize(force: true)
    identityState.withLock { $0 = identity }
  }

  private func requireSoundRows() throws(LMDBError) {
    try environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: meta)
      while try cursor.moveToNext() {
        if let key = cursor.key, let row = cursor.value { _ = try MetaTable.unsealed(row, under: key.copiedBytes()) }
      }
    }
  }

  /// Closes the file. Waits for active readers. Throws `busy` if the calling thread is one of them.
  func close() throws(LMDBError) {
    try environment.close()
  }
}

extension DiskFile {
  /// Returns whether the open file is still the one in the directory. Another process may have replaced it.
  func isInPlace() throws(LMDBError) -> Bool {
    try environment.isInPlace()
  }
}
