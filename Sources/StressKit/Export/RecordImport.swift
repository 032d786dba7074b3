import Cistern
import CisternDisk
import InputFormats

/// The import of records in batches. All lines have been parsed before, so a syntax error does not change the
/// store.
struct RecordImport {
  /// The maximum number of records in a commit.
  private static let batchCount = 256
  /// The maximum size of a commit in bytes. A single record can be larger.
  private static let batchBytes = 1 << 20

  let partition: DiskPartition
  let source: ImportSource

  /// Imports all records, and returns their number.
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
        "\(CommandFailure(error)); \(Formatting.count(imported, "record was", "records were")) imported before",
        status: .badInput)
    }
  }

  /// Stores records with one commit, or with several commits if one would be too large.
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

  /// Stores one record that is too large for a batch. A single write may be larger than a batch.
  private func store(_ record: ExportedRecord) async throws {
    await partition.waitForRoom()
    guard case .staged(let ticket) = partition.stage(write(of: record)) else { throw RecordImport.refusal }
    try await partition.waitForCommit(ticket)
  }

  private func write(of record: ExportedRecord) -> StagedWrite {
    var metadata = record.metadata
    // Earlier invalidations do not cover the imported records: neither those of this store that this process knows, nor
    // those that another process committed since.
    metadata.localVersion = partition.invalidationVersion
    metadata.isSet = true
    return .record(key: record.key, metadata, bytes: record.bytes)
  }

  private static let refusal = CommandFailure("the store refused a record", status: .badInput)
}
