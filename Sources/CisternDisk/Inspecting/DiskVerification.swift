import CisternCore
import LMDB
import Synchronization

/// A defect in a store on disk.
package struct DiskFinding: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a defect.
  package enum Kind: Sendable, Hashable {
    /// A record with a wrong checksum. A read of it is a miss, and the store then removes it.
    case damagedRecord
    /// A record without an entry in the eviction order. It would never be evicted.
    case unorderedRecord
    /// An entry of the eviction order that leads to no record with its number. Eviction drops it.
    case danglingOrder
    /// A record of a generation that is neither live nor dead. No reader sees it.
    case strayRecord
    /// A stored count that differs from the actual one.
    case wrongCount
    /// A file that cannot be read completely.
    case unreadable
  }

  /// The kind of the defect.
  package let kind: Kind
  /// A description of the defect for a person.
  package let description: String
}

extension DiskTier {
  /// Verifies each committed record's checksum, the eviction order, and the counts.
  ///
  /// The whole file is read in one snapshot, which prevents the reuse of its pages. This method is for tools and
  /// tests.
  ///
  /// - Returns: The defects, or an empty array.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  package func verify() -> [DiskFinding] { engine.verify() }

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
  func verify() -> [DiskFinding] {
    guard !isInherited, let file else { return [] }
    do {
      return try file.environment.withRead { (transaction) throws(LMDBError) -> [DiskFinding] in
        var verification = DiskVerification(file: file)
        try verification.readRecords(in: transaction)
        try verification.readOrder(in: transaction)
        try verification.compareCounts(in: transaction)
        return verification.findings
      }
    } catch {
      return [DiskFinding(kind: .unreadable, description: "the file cannot be read completely: \(error)")]
    }
  }
}

/// One pass over a file.
private struct DiskVerification {
  let file: DiskFile
  private(set) var findings: [DiskFinding] = []
  private var recount: [Generation: GenerationCounts] = [:]
  private var ordered = 0

  init(file: DiskFile) {
    self.file = file
  }

  private mutating func find(_ kind: DiskFinding.Kind, _ description: String) {
    findings.append(DiskFinding(kind: kind, description: description))
  }

  mutating func readRecords(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: file.records)
    while try cursor.moveToNext() {
      if VerifiedRecord.isTableName(at: cursor) { continue }
      guard let entry = VerifiedRecord(at: cursor) else {
        find(.strayRecord, "a record has a key with an invalid format")
        continue
      }
      recount[entry.key.generation, default: GenerationCounts()].records += 1
      recount[entry.key.generation, default: GenerationCounts()].bytes += entry.size + entry.key.count
      guard let sequence = entry.sequence else {
        find(.damagedRecord, "\(entry.name) has a wrong checksum")
        continue
      }
      if try !leads(sequence, to: entry.key, in: transaction) {
        find(.unorderedRecord, "\(entry.name) is not in the eviction order under its number, \(sequence.number)")
      }
    }
  }

  private func leads(
    _ sequence: SequenceNumber, to key: borrowing DiskKey, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let entry = try transaction.value(forKey: sequence.orderKey, in: file.order) else { return false }
    return key.withBytes { entry.hasSameBytes(as: $0) }
  }

  mutating func readOrder(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: file.order)
    while try cursor.moveToNext() {
      guard let sequence = cursor.key.map(SequenceNumber.init(orderKey:)), let key = VerifiedRecord.orderKey(at: cursor)
      else {
        find(.danglingOrder, "an entry of the eviction order contains no key")
        continue
      }
      if try !hasNumber(sequence, under: key, in: transaction) {
        find(.danglingOrder, "number \(sequence.number) of the eviction order refers to no record with this number")
      }
    }
  }

  private func hasNumber(
    _ sequence: SequenceNumber, under key: borrowing DiskKey, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let record = try transaction.value(forKey: key, in: file.records) else { return false }
    return RecordHeader(trusting: record)?.sequence == sequence
  }

  mutating func compareCounts(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    for (generation, actual) in recount.sorted(by: { $0.key < $1.key }) {
      if let noted = try transaction.counts(of: generation, in: file.meta) {
        if noted != actual {
          find(
            .wrongCount,
            "generation \(generation.number) has \(actual.records) records of \(actual.bytes) bytes, but its row states "
              + "\(noted.records) records of \(noted.bytes) bytes")
        }
      } else if try transaction.number(forKey: MetaTable.dead(generation), in: file.meta) == nil {
        find(.strayRecord, "\(actual.records) records belong to the unknown generation \(generation.number)")
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
  let name: String

  init?(at cursor: borrowing Cursor<Database, CursorReads>) {
    guard let bytes = cursor.key, let record = cursor.value, let key = DiskKey(bytes) else { return nil }
    self.key = key
    size = record.byteCount
    sequence = RecordHeader(record, under: bytes)?.sequence
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
