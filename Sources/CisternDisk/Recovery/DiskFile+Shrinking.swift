import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskFile {
  /// Returns whether the file must be replaced by a smaller one, or by one for another size of the map or of another layout.
  ///
  /// If more of the map is in use than eviction leaves, a write may find no free page for a copy.
  func isUnsuitable(for limits: DiskLimits, as required: DiskLayout) throws(LMDBError) -> Bool {
    if environment.options.mapSize != limits.mapSize || layout.kind != required { return true }
    switch layout {
    case .records(let tables):
      let pages = try environment.withRead { (transaction) throws(LMDBError) in
        try transaction.statistics(of: tables.records).pageCount + transaction.statistics(of: tables.order).pageCount
      }
      return pages > limits.pageCount - limits.margin / 2
    case .extents(let tables):
      // Few large extents leave no reserve, and very many small ones cost time in each commit.
      return abs(tables.limits.layout.shift - ExtentLayout(mapSize: limits.mapSize).shift) > 1
    }
  }

  /// Closes the file, and replaces it with one that holds the newest records that fit below the limits.
  ///
  /// No other process may have the file open. If the process ends at any time, one of the two files is there,
  /// complete.
  ///
  /// This method does not change the file itself, which can be so full that LMDB has no page for a change.
  func replaceByNewest(within limits: DiskLimits, as required: DiskLayout, options: EnvironmentOptions) throws {
    switch (layout, required) {
    case (.records, .ordered):
      let metaPages = try environment.withRead { (transaction) throws(LMDBError) in
        try transaction.statistics(of: meta).pageCount
      }
      // LMDB's two meta pages, and its table of free pages.
      let kept = try KeptRecords(
        of: self, pages: max(0, limits.lowWatermark - metaPages - 6), largestRecord: limits.largestRecord)
      try replace { (copy) throws(LMDBError) in
        let new = try Environment.open(directory: copy, options: options)
        do throws(LMDBError) {
          try write(kept, into: new)
          try new.synchronize(force: true)
        } catch {
          try new.close()
          throw error
        }
        try new.close()
      }
    case (.extents, _), (_, .dense):
      try replace { (copy) throws(LMDBError) in
        try rewrite(into: copy, as: required, options: options, largestRecord: limits.largestRecord) {
          (new) throws(LMDBError) in try new.environment.synchronize(force: true)
        }
      }
    }
  }

  /// Closes the file, and replaces it with a compacted copy.
  ///
  /// If the process ends at any time, one of the two files is there, complete.
  func replaceByCopy() throws {
    try replace { (copy) throws(LMDBError) in
      switch layout {
      case .records: try environment.copy(to: copy, compacting: true)
      case .extents:
        // LMDB omits only its own free pages, not those of extents.
        var options = environment.options
        options.durability = .noSync
        try rewrite(
          into: "\(environment.directory)/\(DiskDirectory.rewritten)", as: .dense, options: options,
          largestRecord: .max
        ) { (new) throws(LMDBError) in
          try new.releaseFreeExtents()
          try new.environment.copy(to: copy, compacting: true)
        }
      }
    }
  }

  private func replace(_ makeCopy: (_ directory: String) throws(LMDBError) -> Void) throws {
    let directory = environment.directory
    let copy = "\(directory)/\(DiskDirectory.copy)"
    DiskDirectory.removeCopy(in: directory)
    do {
      try makeCopy(copy)
      try close()
      guard unsafe rename("\(copy)/\(DiskDirectory.data)", "\(directory)/\(DiskDirectory.data)") == 0 else {
        throw SystemError(status: errno, operation: "replace \(directory)/\(DiskDirectory.data)")
      }
      // The reader table in the lock file belongs to the old file.
      unsafe unlink("\(directory)/\(DiskDirectory.lock)")
      DiskDirectory.removeCopy(in: directory)
      try DiskDirectory.synchronize(directory)
    } catch {
      DiskDirectory.removeCopy(in: directory)
      throw error
    }
  }

  // MARK: The copy

  // The copy of a file with records under their keys has them in order, in full pages.

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
    try writeRows(of: kept, into: new)
  }

  private func records(
    of kept: KeptRecords, from position: inout Int
  ) throws(LMDBError) -> [(key: [UInt8], record: [UInt8])] {
    var next = position
    defer { position = next }
    return try environment.withRead { (transaction) throws(LMDBError) in
      var copies: [(key: [UInt8], record: [UInt8])] = []
      var bytes = 0
      while next < kept.entries.count, bytes < DiskFile.copiedAtOnce {
        let key = kept.key(of: kept.entries[next])
        if let record = try transaction.value(forKey: key.rawSpan, in: self.recordTables.records) {
          copies.append((key, record.copiedBytes()))
          bytes += record.byteCount
        }
        next += 1
      }
      return copies
    }
  }

  private func writeOrder(of kept: KeptRecords, into new: Environment) throws(LMDBError) {
    let order = try new.openIntegerDatabase(named: RecordTables.orderName)
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

  /// Copies the store's own rows. Writes new counts, and omits the dead generations, which have no records left.
  private func writeRows(of kept: KeptRecords, into new: Environment) throws(LMDBError) {
    let rows = try environment.withRead { (transaction) throws(LMDBError) in
      var rows: [(key: [UInt8], row: [UInt8])] = []
      var cursor = try transaction.cursor(in: meta)
      while try cursor.moveToNext() {
        guard let key = cursor.key, let row = cursor.value, MetaTable.deadGeneration(key) == nil else { continue }
        rows.append((key.copiedBytes(), row.copiedBytes()))
      }
      return rows
    }
    let table = try new.openDatabase(named: DiskFile.metaName)
    try new.withWrite { (transaction) throws(LMDBError) in
      for (key, row) in rows {
        if let generation = MetaTable.liveGeneration(key.rawSpan) {
          let counts = kept.counts[generation] ?? GenerationCounts()
          try transaction.put(counts.value, forKey: key, in: table)
        } else {
          _ = try transaction.put(row.rawSpan, forKey: key.rawSpan, in: table)
        }
      }
    }
  }
}
