import CisternCore
import LMDB
import Synchronization

extension DiskTier {
  /// Verifies each committed record's checksum, the eviction order, and the counts. In a dense file, only the number of
  /// the records is compared, and not their bytes.
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
        try verification.readRenewals(in: transaction)
        switch file.layout {
        case .ordered(let tables):
          try verification.readRecords(in: tables, transaction)
          try verification.readOrder(in: tables, transaction)
        case .dense(let tables): try verification.readItems(in: tables, transaction)
        }
        verification.findStrayRenewals()
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
struct DiskVerification {
  let file: DiskFile
  let read: LongRead
  var result = StoreVerification()
  var recount: [Generation: GenerationCounts] = [:]
  /// The renewals whose records were not found yet, by the keys of their rows.
  var renewals: [[UInt8]: RecordRenewal] = [:]
  /// The names of the caches by their generations.
  private(set) var names: [Generation: String] = [:]
  private var steps = 0

  init(file: DiskFile, read: LongRead) {
    self.file = file
    self.read = read
  }

  /// Throws from time to time if the read was interrupted.
  mutating func step() throws(LMDBError) {
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

  /// Begins the count of a generation, so that a cache that has lost all its records has a count, too.
  mutating func countFromZero(_ generation: Generation) { recount[generation] = GenerationCounts() }

  /// Compares the counts in the file with those of the records that were read.
  ///
  /// In a dense file, the bytes can differ: a damaged record does not tell the size that must be subtracted for it.
  mutating func compareCounts(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    for (generation, actual) in recount.sorted(by: { $0.key < $1.key }) {
      if let noted = try transaction.counts(of: generation, in: file.meta) {
        let isRight = file.layout.kind == .dense ? noted.records == actual.records : noted == actual
        guard !isRight else { continue }
        result.add(
          .init(
            .wrongCount, cache: names[generation],
            description:
              "generation \(generation.number) has \(actual.records) records of \(actual.bytes) bytes, but its row "
              + "states \(noted.records) records of \(noted.bytes) bytes"))
      } else if actual.records > 0,
        try transaction.number(forKey: MetaTable.dead(generation), in: file.meta) == nil
      {
        result.add(
          .init(
            .strayRecord, description: "\(actual.records) records belong to the unknown generation \(generation.number)"
          ))
      }
    }
  }
}
