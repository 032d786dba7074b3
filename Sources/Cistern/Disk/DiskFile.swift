import LMDB
import Locking
import Synchronization

/// An open file, and its three tables. Replaced as a whole when what is on disk cannot be trusted.
final class DiskFile: Sendable {
  let environment: Environment
  /// The store's own facts; see ``MetaTable``.
  let meta: Database
  /// Key in the file → record. LMDB's table without a name: each transaction would have to look a name up, which costs a
  /// read a tenth of its time. The other tables' names lie in it too; they are shorter than any record's key.
  let records: Database
  /// Sequence number → key in the file, the oldest first.
  let order: IntegerDatabase
  /// The last commit up to which the generations of all partitions are known here; another process's come after it.
  let knownTransaction: Atomic<UInt>
  /// What the next opening knows the file by.
  let note = FileNote()
  /// The identity of the file; nil while a file of an older version has none.
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

  /// Opens the file in `directory`, and creates it unless `options` say read-only; costs nothing that grows with it.
  ///
  /// Throws `invalid` for a file of LMDB's that is not ours, `versionMismatch` for one of another format than this code's.
  /// With `checkingRows`, for a file that somebody else changed, also where a row of the store's own table is damaged:
  /// one whose key is would not be found, and nobody would know.
  ///
  /// A file that is begun has the identity `newIdentity`.
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

  /// Five bytes, as "order" has: a record's key has six and more.
  static let metaName = "cstrn"
  static let orderName = "order"

  /// Throws where the file has tables and none of them is ours: it belongs to another program.
  private static func requireOurs(_ environment: Environment) throws(LMDBError) {
    // Opened like any other: before, LMDB has no order for its keys.
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

  /// Notes the format and the identity in a new file; throws where the file's format is another than this code's.
  private func requireFormat(_ newIdentity: StoreIdentity) throws(LMDBError) {
    let version = try environment.withRead { (transaction) throws(LMDBError) -> UInt64? in
      // Of any version: those before the third had no checksum here.
      let key = MetaTable.format
      guard let row = try transaction.value(forKey: key.rawSpan, in: meta) else { return nil }
      return row.byteCount < 8 ? .max : row.integer(at: 0, as: UInt64.self)
    }
    if let version {
      guard version == MetaTable.formatVersion else {
        throw LMDBError(
          .versionMismatch, operation: "open \(environment.directory)",
          message: "the file's format is of version \(version), not this program's \(MetaTable.formatVersion)")
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

  /// Gives a file of an older version an identity. It is on the device before any mark can have it: otherwise a power cut
  /// could make the file look like another store's.
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

  /// Closes the file; waits for readers that are inside, and throws `busy` where the calling thread itself is.
  func close() throws(LMDBError) {
    try environment.close()
  }
}

extension DiskFile {
  /// Whether the file that is open is still the one in the directory, and was not replaced by another process.
  func isInPlace() throws(LMDBError) -> Bool {
    try environment.isInPlace()
  }
}
