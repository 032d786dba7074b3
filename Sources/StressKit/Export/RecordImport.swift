import Cistern

/// Stores the records of an export, in batches. All lines have been read before, so that a file with a mistake changes
/// nothing.
struct RecordImport {
  /// Records of one commit.
  private static let batchCount = 256
  /// Bytes of one commit, as far as single records allow.
  private static let batchBytes = 1 << 20

  let partition: any SecondTierPartition
  let source: ImportSource

  /// Imports; answers the number of records.
  func run() async throws -> Int {
    var imported = 0
    do {
      var records = try source.records()
      var batch: [ExportedRecord] = []
      var bytes = 0
      while let record = try records.next() {
        batch.append(record)
        bytes += record.size
        guard batch.count >= Self.batchCount || bytes >= Self.batchBytes else { continue }
        try await store(batch)
        imported += batch.count
        (batch, bytes) = ([], 0)
      }
      try await store(batch)
      return imported + batch.count
    } catch {
      throw CommandFailure(
        "\(CommandFailure(error)); \(Formatting.records(imported)) imported before", status: .badInput)
    }
  }

  /// Stores records as one commit, or as several if that would be too large.
  private func store(_ records: [ExportedRecord]) async throws {
    guard !records.isEmpty else { return }
    guard partition.canHold(batchBytes: records.reduce(0) { $0 + $1.size }, count: records.count) else {
      if records.count == 1 { return try await store(records[0]) }
      try await store(Array(records[..<(records.count / 2)]))
      return try await store(Array(records[(records.count / 2)...]))
    }
    await partition.waitForRoom()
    let batch = partition.beginBatch()
    var isRefused = false
    for record in records {
      if case .refused = partition.stage(write(of: record), in: batch) { isRefused = true }
    }
    try await partition.waitForCommit(partition.endBatch(batch))
    if isRefused { throw RecordImport.refusal }
  }

  /// Stores a record that is larger than a batch may be: a record alone may be larger.
  private func store(_ record: ExportedRecord) async throws {
    await partition.waitForRoom()
    guard case .staged(let ticket) = partition.stage(write(of: record)) else { throw RecordImport.refusal }
    try await partition.waitForCommit(ticket)
  }

  private func write(of record: ExportedRecord) -> StagedWrite {
    var metadata = record.metadata
    // An earlier invalidation in this store does not concern the imported records.
    metadata.era = partition.currentEra
    return .record(key: record.key, metadata, bytes: record.bytes)
  }

  private static let refusal = CommandFailure("the store refuses a record", status: .badInput)
}
