import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskFile {
  /// The suitability of the file for limits.
  enum Suitability {
    case suitable
    /// The file fits, but its extents have the size of a smaller limit, which costs time.
    case slow
    /// The file is too large, or its extents are.
    case unsuitable
  }

  /// Returns whether the file must be replaced by a smaller one, or by one for another size of the map.
  ///
  /// If more of the map is in use than eviction leaves, a write may find no free page for a copy.
  func suitability(for limits: DiskLimits) throws(LMDBError) -> Suitability {
    if environment.options.mapSize != limits.mapSize { return .unsuitable }
    switch layout {
    case .ordered(let tables):
      let pages = try environment.withRead { (transaction) throws(LMDBError) in
        try transaction.statistics(of: tables.records).pageCount + transaction.statistics(of: tables.order).pageCount
      }
      return pages > limits.pageCount - limits.margin / 2 ? .unsuitable : .suitable
    case .dense(let tables):
      // Few large extents leave no reserve, and very many small ones cost time in each commit.
      let new = ExtentLayout(mapSize: limits.mapSize, pageSize: DiskLimits.pageSize)
      let difference = new.shift - tables.limits.layout.shift
      return difference > 1 ? .slow : difference < -1 ? .unsuitable : .suitable
    }
  }

  /// Closes the file, and replaces it with one that holds the newest records that fit below the limits.
  ///
  /// No other process may have the file open. If the process ends at any time, one of the two files is there,
  /// complete.
  ///
  /// This method does not change the file itself, which can be so full that LMDB has no page for a change. After an
  /// error that the file does not cause (``causes(_:)``), the file is as it was.
  ///
  /// - Parameters:
  ///   - limits: The limits of the new file.
  ///   - required: The layout of the new file.
  ///   - options: The options of its environment.
  ///   - beforeReplacing: Called when the copy is complete and this file is closed.
  /// - Returns: The number of damaged records that were found, and are left out.
  /// - Throws: The error of either file, or of the system.
  func replaceByNewest(
    within limits: DiskLimits, as required: DiskLayout, options: EnvironmentOptions,
    beforeReplacing: () -> Void = {}
  ) throws -> Int {
    switch required {
    case .ordered:
      let metaPages = try readAsSource { (transaction) throws(LMDBError) in
        try transaction.statistics(of: meta).pageCount
      }
      // LMDB's two meta pages, and its table of free pages.
      let pages = max(0, limits.lowWatermark - metaPages - 6)
      let kept = try asSource { () throws(LMDBError) -> KeptRecords in
        try KeptRecords(of: self, pages: pages, largestRecord: limits.largestRecord)
      }
      try replace(before: beforeReplacing) { (copy) throws(LMDBError) in
        let new = try Environment.open(directory: copy, options: options)
        do throws(LMDBError) {
          try write(kept, into: new)
          try new.synchronize(force: true)
        } catch {
          // The first error is the cause.
          try? new.close()
          throw error
        }
        try new.close()
        return true
      }
      return kept.damagedCount
    case .dense:
      var damagedCount = 0
      try replace(before: beforeReplacing) { (copy) throws(LMDBError) in
        let omissions = try rewrite(into: copy, options: options, largestRecord: limits.largestRecord) {
          (new) throws(LMDBError) in try new.environment.synchronize(force: true)
        }
        damagedCount = omissions.damaged
        return true
      }
      return damagedCount
    }
  }

  /// Closes the file, and replaces it with a compacted copy. A file that a copy would not make smaller stays.
  ///
  /// If the process ends at any time, one of the two files is there, complete.
  ///
  /// - Returns: The number of damaged records that were found, and are left out. A copy of records under their keys is
  ///   a copy of pages, which reads no record.
  func replaceByCopy() throws -> Int {
    if case .dense = layout {
      try DiskDirectory.requireNoFile(named: DiskDirectory.rewritten, in: environment.directory)
    }
    var omissions = Omissions()
    let isReplaced = try replace { (copy) throws(LMDBError) in
      switch layout {
      case .ordered: try environment.copy(to: copy, compacting: true)
      case .dense(let tables): omissions = try rewrite(tables.limits.layout, andCompactInto: copy)
      }
      func size(_ directory: String) -> Int { DiskDirectory.fileSize("\(directory)/\(DiskDirectory.data)") ?? 0 }
      return omissions.withoutRoom == 0 && size(copy) < size(environment.directory)
    }
    return isReplaced ? omissions.damaged : 0
  }

  /// Writes a compacted copy with extents of the same size. Large records then lie where they did before: in extents or
  /// separately.
  private func rewrite(
    _ extents: ExtentLayout, andCompactInto copy: String
  ) throws(LMDBError) -> Omissions {
    // LMDB omits only its own free pages, not those of extents.
    var options = environment.options
    options.durability = .noSync
    // Records of a full file can leave other ends of extents unused. The copy omits the rest of the map.
    options.mapSize += options.mapSize / 8 / DiskLimits.pageSize * DiskLimits.pageSize
    let directory = "\(environment.directory)/\(DiskDirectory.rewritten)"
    return try rewrite(into: directory, options: options, largestRecord: .max, extents: extents) {
      (new) throws(LMDBError) in
      try new.releaseFreeExtents()
      try new.environment.copy(to: copy, compacting: true)
    }
  }

  /// Closes the file, and replaces it with a copy if the closure returns true. Returns whether it did.
  @discardableResult
  private func replace(
    before beforeReplacing: () -> Void = {}, _ makeCopy: (_ directory: String) throws(LMDBError) -> Bool
  ) throws -> Bool {
    let directory = environment.directory
    let copy = "\(directory)/\(DiskDirectory.copy)"
    DiskDirectory.removeCopy(in: directory)
    try DiskDirectory.requireNoFile(named: DiskDirectory.copy, in: directory)
    do {
      guard try makeCopy(copy) else {
        try environment.synchronize(force: true)
        try close()
        DiskDirectory.removeCopy(in: directory)
        return false
      }
      try close()
      beforeReplacing()
      guard unsafe rename("\(copy)/\(DiskDirectory.data)", "\(directory)/\(DiskDirectory.data)") == 0 else {
        throw SystemError(status: errno, operation: "replace \(directory)/\(DiskDirectory.data)")
      }
      // The reader table in the lock file belongs to the old file.
      unsafe unlink("\(directory)/\(DiskDirectory.lock)")
      DiskDirectory.removeCopy(in: directory)
      try DiskDirectory.synchronize(directory)
      return true
    } catch {
      DiskDirectory.removeCopy(in: directory)
      throw error
    }
  }

  // MARK: The copy

  // A copy with records under their keys has them in order, in full pages.

  /// The approximate number of bytes that one transaction copies.
  private static let copiedAtOnce = 1 << 20

  private func write(_ kept: KeptRecords, into new: Environment) throws(LMDBError) {
    // The records come first: the names of tables sort after every record, and would prevent appending.
    let main = try new.openDatabase(named: nil)
    var position = 0
    while position < kept.entries.count {
      let records = try records(of: kept, from: &position)
      try new.withWrite { (transaction) throws(LMDBError) in
        for (key, record) in records {
          var target = try transaction.reserve(
            byteCount: record.count, forKey: key.rawSpan, in: main, appending: true)
          target.copy(record.rawSpan, to: 0)
        }
      }
    }
    try writeOrder(of: kept, into: new)
    let meta = try new.openDatabase(named: DiskFile.metaName)
    try new.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(MetaTable.value(DiskLayout.ordered.formatVersion), forKey: MetaTable.format, in: meta)
    }
    try copyRows(to: meta, of: new, counts: kept.counts)
    if case .ordered = layout { try copyRenewals(of: kept, to: meta, of: new) }
  }

  private func records(
    of kept: KeptRecords, from position: inout Int
  ) throws(LMDBError) -> [(key: [UInt8], record: [UInt8])] {
    var next = position
    defer { position = next }
    return try readAsSource { (transaction) throws(LMDBError) in
      var copies: [(key: [UInt8], record: [UInt8])] = []
      var bytes = 0
      while next < kept.entries.count, bytes < DiskFile.copiedAtOnce {
        let entry = kept.entries[next]
        let key = kept.key(of: entry)
        if let record = try record(of: entry, under: key, in: transaction) {
          copies.append((key, record))
          bytes += record.count
        }
        next += 1
      }
      return copies
    }
  }

  /// Returns the bytes of a kept record, as a file has them under the key.
  private func record(
    of entry: KeptRecords.Entry, under key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [UInt8]? {
    switch layout {
    case .ordered(let tables): return try transaction.value(forKey: key.rawSpan, in: tables.records)?.copiedBytes()
    case .dense:
      guard let address = entry.address, let diskKey = DiskKey(key.rawSpan),
        let draft = try draft(at: address, in: transaction)
      else { return nil }
      var record = [UInt8](repeating: 0, count: draft.size)
      var span = record.mutableSpan
      // Every byte of a number is a valid byte.
      var target = unsafe span.mutableBytes
      draft.encode(sequence: entry.sequence, under: diskKey, into: &target)
      return record
    }
  }

  private func writeOrder(of kept: KeptRecords, into new: Environment) throws(LMDBError) {
    let order = try new.openIntegerDatabase(named: OrderedTables.orderName)
    let entries = kept.entries.sorted { $0.sequence < $1.sequence }
    var position = 0
    while position < entries.count {
      let end = min(position + 8192, entries.count)
      try new.withWrite { (transaction) throws(LMDBError) in
        for entry in entries[position..<end] {
          let key = kept.key(of: entry)
          _ = try transaction.put(key.rawSpan, forKey: entry.sequence.orderKey, in: order, mode: .append)
        }
      }
      position = end
    }
  }
}
