import Cistern

/// Stores the records of an export, in batches. All lines are read before the first record is stored, so that a file with
/// a mistake changes nothing.
struct RecordImport {
  /// Records of one commit.
  private static let batchCount = 256
  /// Bytes of one commit, as far as single records allow.
  private static let batchBytes = 1 << 20

  let partition: any SecondTierPartition
  /// What the lines are called in messages.
  let source: String
  /// Opens the lines from the first.
  let open: () throws -> LineReader

  /// Imports; answers the number of records.
  func run() async throws -> Int {
    let now = SystemClock().wallTime()
    try forEachRecord(now) { _, _ in }
    var imported = 0
    var batch: [ExportedRecord] = []
    var lines = try open()
    do {
      while true {
        let record = try nextRecord(&lines, now)
        if let record { batch.append(record) }
        let bytes = batch.reduce(0) { $0 + Self.size(of: $1) }
        if record == nil || batch.count >= Self.batchCount || bytes >= Self.batchBytes {
          try await store(batch)
          imported += batch.count
          batch = []
        }
        if record == nil { return imported }
      }
    } catch {
      throw CommandFailure(
        "\(error); before that, \(Formatting.count(imported)) records were imported", status: .badInput)
    }
  }

  /// Reads all lines.
  private func forEachRecord(_ now: WallTime, _ body: (ExportedRecord, Int) throws -> Void) throws {
    var lines = try open()
    while let record = try nextRecord(&lines, now) {
      guard partition.canHold(batchBytes: Self.size(of: record), count: 1) else {
        throw failure(
          "the record has \(ByteCount.bytes(record.bytes.count)), more than the store can hold with its limit",
          at: lines.line)
      }
      try body(record, lines.line)
    }
  }

  /// The next record; nil at the end. Empty lines are passed over.
  private func nextRecord(_ lines: inout LineReader, _ now: WallTime) throws -> ExportedRecord? {
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      do {
        return try ExportedRecord(line: Array(line), now: now)
      } catch {
        throw failure(error.description, at: lines.line)
      }
    }
    return nil
  }

  /// Stores records as one commit, or as several where that would be too large.
  private func store(_ records: [ExportedRecord]) async throws {
    guard !records.isEmpty else { return }
    if records.count > 1,
      !partition.canHold(batchBytes: records.reduce(0) { $0 + Self.size(of: $1) }, count: records.count)
    {
      try await store(Array(records[..<(records.count / 2)]))
      return try await store(Array(records[(records.count / 2)...]))
    }
    await partition.waitForRoom()
    let batch = partition.beginBatch()
    var isRefused = false
    for record in records {
      var metadata = record.metadata
      // Whatever was removed from this store before is no concern of what comes now.
      metadata.era = partition.currentEra
      if case .refused = partition.stage(.record(key: record.key, metadata, bytes: record.bytes), in: batch) {
        isRefused = true
      }
    }
    try await partition.waitForCommit(partition.endBatch(batch))
    if isRefused { throw CommandFailure("the store refuses a record", status: .badInput) }
  }

  private static func size(of record: ExportedRecord) -> Int {
    record.key.count + record.bytes.count + record.metadata.tags.reduce(0) { $0 + $1.utf8.count }
  }

  private func failure(_ message: String, at line: Int) -> TraceError {
    TraceError(path: source, line: line, message: message)
  }
}
