import LMDB

extension MetaTable {
  /// The key of the row that names the codec of a cache's records of one version of its schema. Caches that were written
  /// before there was such a row have none, and get one with their next commit.
  static func format(ofVersion schemaVersion: UInt32, _ name: String) -> [UInt8] {
    formatPrefix + value(UInt64(schemaVersion)) + name.utf8
  }

  static let formatPrefix = [UInt8(ascii: "c")]

  /// The version that such a key names; nil for the key of another cache.
  static func version(ofFormat key: [UInt8], named name: String) -> UInt32? {
    guard key.count >= 9, key.dropFirst(9).elementsEqual(name.utf8) else { return nil }
    return UInt32(truncatingIfNeeded: key.rawSpan.integer(at: 1, as: UInt64.self))
  }
}

extension DiskEngine {
  /// Takes note of a cache's format. The writer thread writes it down with the cache's next commit.
  func adopt(_ format: ValueFormat, of partition: Partition) throws(CisternError) {
    let known = partition.formats.codec(ofVersion: format.schemaVersion) ?? writtenCodec(like: format, of: partition)
    guard let known else { return partition.formats.adopt(format, isWritten: false) }
    guard known == format.codec else {
      throw CisternError(
        .conflictingOpen,
        "the cache's records were written by the codec \"\(known)\", not by \"\(format.codec)\". Open it with that codec, "
          + "give its configuration a schema with a new version, or choose another name",
        location: "cache \"\(partition.name)\" in \(directory)")
    }
    partition.formats.adopt(format, isWritten: true)
  }

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
  /// The codec of the cache's records of this version; nil if none is noted.
  fileprivate borrowing func codec(
    ofVersion schemaVersion: UInt32, of name: String, in database: Database
  ) throws(LMDBError) -> String? {
    let row = try row(forKey: MetaTable.format(ofVersion: schemaVersion, name), in: database)
    return row.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension WriteStep {
  /// Writes down the formats of a partition that are not yet in the file. One that another process wrote stays.
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
