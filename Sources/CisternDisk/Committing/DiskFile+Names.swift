import CisternCore
import LMDB

// Cache names are stored in Unicode normalization form C. Files of earlier versions have names in the caller's
// spelling. Such a file can have two caches with equal names.

extension DiskFile {
  /// The stored name of a cache, and the generation of its records.
  private struct StoredName {
    let name: String
    let generation: Generation
  }

  /// Stores every name in normalization form C. No other process may have the file open.
  ///
  /// Of caches with equal names, the newest one keeps the name. The others are removed, because it is not known
  /// which of their values are newer.
  ///
  /// - Parameter beforeCommit: Called at the end of the transaction, if a name must change.
  /// - Throws: `LMDBError` if the file cannot be read or written, and the error of `beforeCommit`. No name is changed
  ///   then.
  func normalizeNames(_ beforeCommit: () throws(LMDBError) -> Void) throws(LMDBError) {
    let others = try storedNames().filter { storedNames in
      storedNames.count > 1 || storedNames.contains { !$0.name.utf8.elementsEqual($0.name.normalizedForKey().utf8) }
    }
    guard !others.isEmpty else { return }
    var extents: ExtentState?
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      // The step identifies partitions by their addresses.
      var removed: [Partition] = []
      defer { withExtendedLifetime(removed) {} }
      for storedNames in others {
        for storedName in storedNames.dropLast() {
          let partition = Partition(name: storedName.name)
          removed.append(partition)
          try step.removeAll(of: partition, in: &transaction.transaction)
          try step.moveRows(from: storedName.name, to: nil, in: &transaction.transaction)
        }
        guard let kept = storedNames.last else { continue }
        let name = kept.name.normalizedForKey()
        guard !kept.name.utf8.elementsEqual(name.utf8) else { continue }
        try step.moveRows(from: name, to: nil, in: &transaction.transaction)
        try step.moveRows(from: kept.name, to: name, in: &transaction.transaction)
        _ = try transaction.transaction.remove(MetaTable.partition(kept.name), in: meta)
        try transaction.transaction.put(
          MetaTable.value(kept.generation), forKey: MetaTable.partition(name), in: meta)
      }
      try step.finish(in: &transaction)
      try beforeCommit()
    }
  }

  /// Returns the stored spelling of a name, for a store that cannot change the file. Returns nil if no stored name
  /// is equal.
  func storedName(of name: String) throws(LMDBError) -> String? {
    try storedNames().first { $0.last?.name == name }?.last?.name
  }

  /// Returns the spellings of each name. The one with the newest generation is the last.
  private func storedNames() throws(LMDBError) -> [[StoredName]] {
    let all = try environment.withRead { (transaction) throws(LMDBError) -> [StoredName] in
      let prefix = MetaTable.partition("")
      var found: [StoredName] = []
      var cursor = try transaction.cursor(in: meta)
      var isAtPartition = try cursor.move(toFirstFrom: prefix.rawSpan)
      while isAtPartition, let (key, value) = try MetaTable.row(at: cursor), key.starts(with: prefix) {
        if let number = MetaTable.number(value.rawSpan),
          let name = String(validating: key.dropFirst(prefix.count), as: UTF8.self)
        {
          found.append(StoredName(name: name, generation: Generation(number: number)))
        }
        isAtPartition = try cursor.moveToNext()
      }
      return found
    }
    // Equal strings are equal keys, even if their spellings differ.
    return Dictionary(grouping: all, by: \.name).values.map { $0.sorted { $0.generation < $1.generation } }
  }
}

extension MetaTable {
  /// Returns a copy of the row at the cursor, or nil at the end. Throws if the row fails its checksum.
  fileprivate static func row(
    at cursor: borrowing Cursor<Database, CursorReads>
  ) throws(LMDBError) -> (key: [UInt8], value: [UInt8])? {
    guard let key = cursor.key?.copiedBytes(), let row = cursor.value else { return nil }
    return (key, try unsealed(row, under: key))
  }
}

extension WriteStep {
  /// Moves the invalidation and format rows of a cache to another name. Removes them if `newName` is nil.
  fileprivate mutating func moveRows(
    from name: String, to newName: String?, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for row in try rows(of: name, renamedTo: newName ?? "", in: transaction) {
      _ = try transaction.remove(row.key, in: file.meta)
      if newName != nil { try transaction.put(row.value, forKey: row.newKey, in: file.meta) }
    }
    outcome.hasChanges = true
  }

  private func rows(
    of name: String, renamedTo newName: String, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [(key: [UInt8], newKey: [UInt8], value: [UInt8])] {
    var rows: [(key: [UInt8], newKey: [UInt8], value: [UInt8])] = []
    let invalidationVersions = MetaTable.invalidationVersions(name)
    if let value = try transaction.row(forKey: invalidationVersions, in: file.meta) {
      rows.append((invalidationVersions, MetaTable.invalidationVersions(newName), value))
    }
    for (invalidation, invalidationVersion) in try transaction.invalidationRows(
      of: name, endedAfter: .max, in: file.meta
    ).inForce {
      rows.append(
        (
          MetaTable.invalidation(invalidation, of: name), MetaTable.invalidation(invalidation, of: newName),
          MetaTable.value(invalidation, invalidationVersion: invalidationVersion)
        ))
    }
    let formats = MetaTable.formatPrefix
    var cursor: Cursor<Database, CursorReads> = try transaction.cursor(in: file.meta)
    var isAtFormat = try cursor.move(toFirstFrom: formats.rawSpan)
    while isAtFormat, let (key, value) = try MetaTable.row(at: cursor), key.starts(with: formats) {
      if let version = MetaTable.version(ofFormat: key, named: name) {
        rows.append((key, MetaTable.format(ofVersion: version, newName), value))
      }
      isAtFormat = try cursor.moveToNext()
    }
    return rows
  }
}
