import LMDB

/// What the file holds of a partition's invalidations: one row of numbers, and one for each that is in force.
///
///     "e" + name                          the newest number, the newest that was purged, and how often any of this changed
///     "i" + digest of name + of the rest  the number, then what it concerns: a byte for the kind, and the tag or prefix
struct EraRow: Sendable, Equatable {
  var era: UInt64 = 0
  var purged: UInt64 = 0
  var changes: UInt64 = 0

  init() {}

  init?(_ value: RawSpan) {
    guard value.byteCount == 24 else { return nil }
    era = value.integer(at: 0, as: UInt64.self)
    purged = value.integer(at: 8, as: UInt64.self)
    changes = value.integer(at: 16, as: UInt64.self)
  }

  var value: [UInt8] { MetaTable.value(era) + MetaTable.value(purged) + MetaTable.value(changes) }
}

extension MetaTable {
  static func eras(_ name: String) -> [UInt8] { [UInt8(ascii: "e")] + name.utf8 }

  /// What the keys of all invalidations of a partition begin with.
  static func invalidations(_ name: String) -> [UInt8] { [UInt8(ascii: "i")] + digest(Array(name.utf8)) }

  static func invalidation(_ invalidation: Invalidation, of name: String) -> [UInt8] {
    invalidations(name) + digest(body(of: invalidation))
  }

  static func value(_ invalidation: Invalidation, era: UInt64) -> [UInt8] { value(era) + body(of: invalidation) }

  /// What the cursor's row says; nil where it is none. Throws where it is not as it was written.
  static func invalidation(
    at cursor: borrowing Cursor<Database, CursorReads>
  ) throws(LMDBError) -> (Invalidation, era: UInt64)? {
    guard let key = cursor.key, let row = cursor.value else { return nil }
    let value = try unsealed(row, under: key.copiedBytes())
    return invalidation(value.rawSpan)
  }

  /// What these bytes, which may be any, say of an invalidation; nil where they are none.
  static func invalidation(_ value: RawSpan) -> (Invalidation, era: UInt64)? {
    guard value.byteCount >= 9 else { return nil }
    let era = value.integer(at: 0, as: UInt64.self)
    let rest = value.extracting(9..<value.byteCount).copiedBytes()
    switch value.byte(at: 8) {
    case 0: return (.tag(String(decoding: rest, as: UTF8.self)), era)
    case 1: return (.prefix(rest), era)
    default: return nil
    }
  }

  private static func body(of invalidation: Invalidation) -> [UInt8] {
    switch invalidation {
    case .tag(let tag): [0] + tag.utf8
    case .prefix(let prefix): [1] + prefix
    }
  }

  private static func digest(_ bytes: [UInt8]) -> [UInt8] {
    value(Checksum.of(bytes.rawSpan, seed: 0x243f_6a88_85a3_08d3))
      + value(Checksum.of(bytes.rawSpan, seed: 0x1319_8a2e_0370_7344))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  borrowing func eraRow(of name: String, in database: Database) throws(LMDBError) -> EraRow {
    guard let value = try row(forKey: MetaTable.eras(name), in: database) else { return EraRow() }
    return EraRow(value.rawSpan) ?? EraRow()
  }

  /// The invalidations of the partition that are in force in the file. Linear in their number.
  borrowing func invalidations(of name: String, in database: Database) throws(LMDBError) -> [Invalidation: UInt64] {
    var found: [Invalidation: UInt64] = [:]
    let prefix = MetaTable.invalidations(name)
    var cursor = try cursor(in: database)
    var isAtRow = try cursor.move(toFirstFrom: prefix.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if let (invalidation, era) = try MetaTable.invalidation(at: cursor) {
        found[invalidation] = max(era, found[invalidation] ?? 0)
      }
      isAtRow = try cursor.moveToNext()
    }
    return found
  }
}

extension WriteStep {
  /// Writes the invalidations. Where another process wrote some in the meantime, they get greater numbers than those.
  mutating func put(
    _ invalidations: [Invalidation: UInt64], era: UInt64, of partition: Partition,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var row = try transaction.eraRow(of: partition.name, in: file.meta)
    var written: [Invalidation: UInt64] = [:]
    for (invalidation, era) in invalidations.sorted(by: { $0.value < $1.value }) {
      row.era = max(era, row.era + 1)
      written[invalidation] = row.era
      try transaction.put(
        MetaTable.value(invalidation, era: row.era),
        forKey: MetaTable.invalidation(invalidation, of: partition.name), in: file.meta)
    }
    row.era = max(row.era, era)
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.eras(partition.name), in: file.meta)
    outcome.invalidations.append((partition, written, row))
    outcome.hasChanges = true
    outcome.touchedPages += 1 + invalidations.count / 4
  }

  /// Takes the invalidations out of the file, where no newer ones of the same have come. Answers the row of numbers then.
  mutating func end(
    _ targets: [Invalidation: UInt64], of partition: Partition, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> EraRow {
    var row = try transaction.eraRow(of: partition.name, in: file.meta)
    for key in try keys(of: targets, partition, in: transaction) {
      _ = try transaction.remove(key, in: file.meta)
    }
    row.purged = max(row.purged, targets.values.max() ?? 0)
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.eras(partition.name), in: file.meta)
    outcome.hasChanges = true
    return row
  }

  /// By their contents and not by their names: equal tags may have been written with other bytes.
  private func keys(
    of targets: [Invalidation: UInt64], _ partition: Partition, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    let prefix = MetaTable.invalidations(partition.name)
    var cursor: Cursor<Database, CursorReads> = try transaction.cursor(in: file.meta)
    var isAtRow = try cursor.move(toFirstFrom: prefix.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if let (invalidation, era) = try MetaTable.invalidation(at: cursor), let target = targets[invalidation],
        era <= target
      {
        keys.append(key)
      }
      isAtRow = try cursor.moveToNext()
    }
    return keys
  }
}
