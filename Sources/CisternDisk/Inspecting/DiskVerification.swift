import CisternCore
import LMDB
import Synchronization

extension DiskTier {
  /// Verifies each committed record's checksum, the eviction order, and the counts.
  ///
  /// The whole file is read in one snapshot, which prevents the reuse of its pages. The verification ends early if the
  /// store needs these pages.
  ///
  /// - Returns: The defects, and the number of records.
  /// - Throws: `CancellationError` if the task was cancelled, and ``CisternError`` if the store is closed or needs the
  ///   pages.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  package func verification() async throws -> StoreVerification {
    try await readLong("verify") { engine, read in
      let result = engine.verify(until: read)
      try read.requireUninterrupted()
      if engine.mode == .closed { throw engine.closedError("verify") }
      return result
    }
  }

  /// Verifies like ``verification()``, on the thread of the caller. This method is for tests.
  package func verify() -> [StoreVerification.Defect] { engine.verify(until: LongRead()).defects }

  /// Verifies the committed records like ``verify()``, and that nothing is staged and no caller waits for a commit.
  ///
  /// Call this method after a flush.
  ///
  /// - Returns: A description of each defect, or an empty array.
  package func checkInvariants() -> [String] {
    var found = verify().map(\.description)
    func require(_ holds: Bool, _ text: @autoclosure () -> String) { if !holds { found.append(text()) } }
    let count = engine.stagedCount.load(ordering: .sequentiallyConsistent)
    require(count == 0, "\(count) writes are still staged after a flush")
    let bytes = engine.stagedBytes.load(ordering: .sequentiallyConsistent)
    require(bytes == 0, "\(bytes) bytes are still staged after a flush")
    for partition in engine.partitions {
      require(
        partition.staging.isEmpty, "cache \(partition.name) still has \(partition.staging.stagedCount) staged writes")
    }
    require(!engine.progress.withLock { $0.isAwaited }, "a caller still waits for a commit after a flush")
    let statistics = statistics
    require(
      statistics.occupiedBytes <= statistics.limitBytes,
      "the file occupies \(statistics.occupiedBytes) bytes, more than the limit of \(statistics.limitBytes)")
    return found
  }
}

extension DiskEngine {
  func verify(until read: LongRead) -> StoreVerification {
    var result = StoreVerification()
    guard !isInherited, mode != .closed else { return result }
    guard let file else {
      // A read-only store has no file in an empty directory. All other stores begin one.
      if mode != .readOnly || (DiskDirectory.fileSize("\(directory)/\(DiskDirectory.data)") ?? 0) > 0 {
        result.add(.init(.unreadable, description: "the data file cannot be used; the reports of the store state why"))
      }
      return result
    }
    var verification = DiskVerification(file: file, read: read)
    do {
      try file.environment.withRead { (transaction) throws(LMDBError) in
        try verification.learnNames(in: transaction)
        try verification.readRecords(in: transaction)
        try verification.readOrder(in: transaction)
        try verification.compareCounts(in: transaction)
      }
    } catch {
      verification.result.add(
        .init(.unreadable, description: "the file cannot be read completely: \(error)"))
    }
    return verification.result
  }
}

/// One pass over a file.
private struct DiskVerification {
  let file: DiskFile
  let read: LongRead
  var result = StoreVerification()
  private var recount: [Generation: GenerationCounts] = [:]
  /// The names of the caches by their generations.
  private var names: [Generation: String] = [:]
  private var steps = 0

  init(file: DiskFile, read: LongRead) {
    self.file = file
    self.read = read
  }

  private mutating func find(_ kind: StoreVerification.Defect.Kind, in entry: VerifiedRecord, _ description: String) {
    let cache = names[entry.key.generation]
    let place = cache.map { " of cache \(String(reflecting: $0))" } ?? ""
    result.add(.init(kind, cache: cache, key: entry.fullKey, description: entry.name + place + description))
  }

  /// Throws from time to time if the read was interrupted.
  private mutating func step() throws(LMDBError) {
    steps &+= 1
    if steps % 64 == 0 { try read.requireUninterrupted() }
  }

  mutating func learnNames(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    for name in try file.partitionNames() {
      if let generation = try transaction.number(forKey: MetaTable.partition(name), in: file.meta) {
        names[Generation(number: generation)] = name
      }
    }
  }

  mutating func readRecords(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: file.recordTables.records)
    while try cursor.moveToNext() {
      try step()
      if VerifiedRecord.isTableName(at: cursor) { continue }
      guard let entry = VerifiedRecord(at: cursor) else {
        result.add(.init(.strayRecord, description: "a record has a key with an invalid format"))
        continue
      }
      result.recordCount += 1
      result.recordBytes = .bytes(result.recordBytes.bytes + entry.size + entry.key.count)
      recount[entry.key.generation, default: GenerationCounts()].records += 1
      recount[entry.key.generation, default: GenerationCounts()].bytes += entry.size + entry.key.count
      guard let sequence = entry.sequence else {
        find(.damagedRecord, in: entry, " has a wrong checksum")
        continue
      }
      if try !leads(sequence, to: entry.key, in: transaction) {
        find(.unorderedRecord, in: entry, " is not in the eviction order under its number, \(sequence.number)")
      }
    }
  }

  private func leads(
    _ sequence: SequenceNumber, to key: borrowing DiskKey, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let entry = try transaction.value(forKey: sequence.orderKey, in: file.recordTables.order) else { return false }
    return key.withBytes { entry.hasSameBytes(as: $0) }
  }

  mutating func readOrder(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: file.recordTables.order)
    while try cursor.moveToNext() {
      try step()
      guard let sequence = cursor.key.map(SequenceNumber.init(orderKey:)), let key = VerifiedRecord.orderKey(at: cursor)
      else {
        result.add(.init(.danglingOrder, description: "an entry of the eviction order contains no key"))
        continue
      }
      if try !hasNumber(sequence, under: key, in: transaction) {
        result.add(
          .init(
            .danglingOrder, cache: names[key.generation], key: key.isDigest ? nil : key.directKey,
            description: "number \(sequence.number) of the eviction order refers to no record with this number"))
      }
    }
  }

  private func hasNumber(
    _ sequence: SequenceNumber, under key: borrowing DiskKey, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let record = try transaction.value(forKey: key, in: file.recordTables.records) else { return false }
    return RecordHeader(trusting: record)?.sequence == sequence
  }

  mutating func compareCounts(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    for (generation, actual) in recount.sorted(by: { $0.key < $1.key }) {
      if let noted = try transaction.counts(of: generation, in: file.meta) {
        guard noted != actual else { continue }
        result.add(
          .init(
            .wrongCount, cache: names[generation],
            description:
              "generation \(generation.number) has \(actual.records) records of \(actual.bytes) bytes, but its row "
              + "states \(noted.records) records of \(noted.bytes) bytes"))
      } else if try transaction.number(forKey: MetaTable.dead(generation), in: file.meta) == nil {
        result.add(
          .init(
            .strayRecord, description: "\(actual.records) records belong to the unknown generation \(generation.number)"
          ))
      }
    }
  }
}

/// A copy of the data of a record that the verification needs.
private struct VerifiedRecord {
  let key: DiskKey
  let size: Int
  /// Nil if the record is damaged.
  let sequence: SequenceNumber?
  /// The key as the cache knows it. Nil if it is long and the record is damaged.
  let fullKey: [UInt8]?
  let name: String

  init?(at cursor: borrowing Cursor<Database, CursorReads>) {
    guard let bytes = cursor.key, let record = cursor.value, let key = DiskKey(bytes) else { return nil }
    self.key = key
    size = record.byteCount
    let header = RecordHeader(record, under: bytes)
    sequence = header?.sequence
    fullKey = key.isDigest ? header.map { record.extracting($0.key).copiedBytes() } : key.directKey
    name =
      key.isDigest
      ? "a record with a long key"
      : "the record of \(String(reflecting: String(decoding: key.directKey, as: UTF8.self)))"
  }

  static func isTableName(at cursor: borrowing Cursor<Database, CursorReads>) -> Bool {
    guard let key = cursor.key else { return false }
    return key.byteCount < DiskKey.prefixSize
  }

  static func orderKey(at cursor: borrowing Cursor<IntegerDatabase, CursorReads>) -> DiskKey? {
    guard let value = cursor.value else { return nil }
    return DiskKey(value)
  }
}
