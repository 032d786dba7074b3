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
        "\(error); before that, \(Formatting.count(imported)) records were imported", status: .badInput)
    }
  }

  /// Stores records as one commit, or as several where that would be too large.
  private func store(_ records: [ExportedRecord]) async throws {
    guard !records.isEmpty else { return }
    if records.count > 1,
      !partition.canHold(batchBytes: records.reduce(0) { $0 + $1.size }, count: records.count)
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
}
