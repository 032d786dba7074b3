import LMDB

extension MetaTable {
  /// Returns the key of the row that names the codec of a cache's records of one schema version.
  ///
  /// A cache that an older version of the store wrote has no row of this kind. The next commit of that cache adds
  /// it.
  static func format(ofVersion schemaVersion: UInt32, _ name: String) -> [UInt8] {
    formatPrefix + value(UInt64(schemaVersion)) + name.utf8
  }

  /// The first byte of every format row's key.
  static let formatPrefix = [UInt8(ascii: "c")]

  /// Returns the schema version in the key of a format row, or nil if the key belongs to another cache.
  static func version(ofFormat key: [UInt8], named name: String) -> UInt32? {
    guard key.count >= 9, key.dropFirst(9).elementsEqual(name.utf8) else { return nil }
    return UInt32(truncatingIfNeeded: key.rawSpan.integer(at: 1, as: UInt64.self))
  }
}

extension DiskEngine {
  /// Registers the format of a cache. The writer thread writes it to the file with the next commit of that cache.
  ///
  /// - Throws: `CisternError` with the code `conflictingOpen` if another codec wrote the records of that schema
  ///   version.
  func adopt(_ format: ValueFormat, of partition: Partition) throws(CisternError) {
    let known = partition.formats.codec(ofVersion: format.schemaVersion) ?? writtenCodec(like: format, of: partition)
    guard let known else { return partition.formats.adopt(format, isWritten: false) }
    guard known == format.codec else {
      throw CisternError(
        .conflictingOpen,
        "the cache's records were written by the codec \"\(known)\", not by \"\(format.codec)\". Open the cache with that codec, "
          + "give its configuration a schema with a new version, or choose another name",
        location: "cache \"\(partition.name)\" in \(directory)")
    }
    partition.formats.adopt(format, isWritten: true)
  }

  /// Returns the codec that the file names for the schema version, or nil if it names none or cannot be read.
  private func writtenCodec(like format: ValueFormat, of partition: Partition) -> String? {
    guard let file else { return nil }
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return nil }
    do {
      return try transaction.codec(ofVersion: format.schemaVersion, of: partition.name, in: file.meta)
    } catch {
      noteReadFailure(error, of: environment)
      return nil
    }
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the codec of the cache's records of this schema version, or nil if the file names none.
  fileprivate borrowing func codec(
    ofVersion schemaVersion: UInt32, of name: String, in database: Database
  ) throws(LMDBError) -> String? {
    let row = try row(forKey: MetaTable.format(ofVersion: schemaVersion, name), in: database)
    return row.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension WriteStep {
  /// Writes the formats of a partition that the file does not name yet.
  ///
  /// If another process has written a row in the meantime, that row stays.
  mutating func putFormats(of partition: Partition, in transaction: inout WriteTransaction) throws(LMDBError) {
    for format in partition.formats.unwritten {
      outcome.formats.append((partition, format))
      if try transaction.codec(ofVersion: format.schemaVersion, of: partition.name, in: file.meta) != nil { continue }
      try transaction.put(
        Array(format.codec.utf8), forKey: MetaTable.format(ofVersion: format.schemaVersion, partition.name),
        in: file.meta)
      outcome.hasChanges = true
      outcome.touchedPages += 1
    }
  }
}
