import CisternCore
import LMDB
import Locking
import Synchronization

/// An open data file with its three tables.
///
/// The engine replaces the file as a whole if its contents cannot be trusted.
final class DiskFile: Sendable {
  let environment: Environment
  /// The store's own rows. See ``MetaTable``.
  let meta: Database
  /// The records, by their keys in the file.
  ///
  /// This is LMDB's unnamed table, because each transaction must look up a named one. The names of the other tables
  /// are in it too. They are shorter than any record's key.
  let records: Database
  /// The eviction order: the keys in the file by sequence number, the oldest first.
  let order: IntegerDatabase
  /// The newest commit up to which this process knows the generations of all partitions.
  ///
  /// Later commits are from other processes.
  let knownTransaction: Atomic<UInt>
  /// The note by which the next opening recognizes the file.
  let note = FileNote()
  /// The identity of the file. Nil in a file of an older version until it gets one.
  var identity: StoreIdentity? { identityState.withLock { $0 } }
  /// Whether this opening began the file.
  var isNew: Bool { newness.load(ordering: .relaxed) }

  private let identityState = Guarded<StoreIdentity?>(nil)
  private let newness = Atomic<Bool>(false)

  private init(environment: Environment, meta: Database, records: Database, order: IntegerDatabase) throws(LMDBError) {
    self.environment = environment
    self.meta = meta
    self.records = records
    self.order = order
    knownTransaction = Atomic(try environment.information().lastTransaction)
  }

  /// Opens the file in `directory`. Creates it unless the options are read-only.
  ///
  /// Without `checkingRows`, the cost does not depend on the size of the file.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store.
  ///   - options: The options of the LMDB environment.
  ///   - checkingRows: Whether to verify every row of the store's own table. Required for a file that another
  ///     program changed, because a row with a damaged key would go unnoticed.
  ///   - newIdentity: The identity of the file if this method begins it.
  /// - Throws: `invalid` if the file belongs to another program, `versionMismatch` if its format has another
  ///   version, or `corrupted` if a verified row is damaged.
  static func open(
    directory: String, options: EnvironmentOptions, checkingRows: Bool = false,
    newIdentity: StoreIdentity = StoreIdentity()
  ) throws(LMDBError) -> DiskFile {
    let environment = try Environment.open(directory: directory, options: options)
    do throws(LMDBError) {
      if !options.isReadOnly { try environment.clearStaleReaders() }
      try requireOurs(environment)
      let file = try DiskFile(
        environment: environment, meta: try environment.openDatabase(named: metaName),
        records: try environment.openDatabase(named: nil),
        order: try environment.openIntegerDatabase(named: orderName))
      try file.requireFormat(newIdentity)
      if checkingRows { try file.requireSoundRows() }
      return file
    } catch {
      try environment.close()
      throw error
    }
  }

  /// Five bytes, like "order". A record's key has at least six, so the two never collide.
  static let metaName = "cstrn"
  static let orderName = "order"

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

  /// Writes the format and the identity into a new file. Throws if an existing file has another format.
  private func requireFormat(_ newIdentity: StoreIdentity) throws(LMDBError) {
    let version = try environment.withRead { (transaction) throws(LMDBError) -> UInt64? in
      // The row may have any version. Versions before the third have no checksum here.
      let key = MetaTable.format
      guard let row = try transaction.value(forKey: key.rawSpan, in: meta) else { return nil }
      return row.byteCount < 8 ? .max : row.integer(at: 0, as: UInt64.self)
    }
    if let version {
      guard version == MetaTable.formatVersion else {
        throw LMDBError(
          .versionMismatch, operation: "open \(environment.directory)",
          message: "the file has format version \(version); this program needs version \(MetaTable.formatVersion)")
      }
    } else if !environment.options.isReadOnly {
      try environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(MetaTable.value(MetaTable.formatVersion), forKey: MetaTable.format, in: meta)
        try transaction.put([UInt8](newIdentity.text.utf8), forKey: MetaTable.identity, in: meta)
      }
      newness.store(true, ordering: .relaxed)
    }
    try readIdentity()
    knownTransaction.store(try environment.information().lastTransaction, ordering: .releasing)
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
