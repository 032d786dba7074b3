import CisternCore
import LMDB

extension DiskEngine {
  /// Calls `body` with the record of the key. Looks among the staged writes first, and then in the file.
  ///
  /// Returns nil, without a call of `body`, if the key has no visible record. Counts a hit or a miss. `body` may
  /// run inside a read transaction.
  @discardableResult
  @inline(__always)
  func withRecord<Result>(
    forKey key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    if isInherited { return nil }
    if let entry = partition.stagedEntry(forKey: key) {
      return try withRecord(forKey: key, in: partition, staged: entry, body)
    }
    // The snapshot must begin after the look at the staged writes. A write that has left staging is then in the
    // snapshot.
    return try withCommittedRecord(forKey: key, in: partition, body)
  }

  /// As `withRecord`, for a key with a staged write.
  @inline(never)
  private func withRecord<Result>(
    forKey key: RawSpan, in partition: Partition, staged entry: StagedEntry,
    _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    switch view(of: entry, forKey: key, in: partition) {
    case .record(let metadata, let bytes):
      partition.counters.hits.increment()
      return try body(metadata, bytes.rawSpan)
    case .absent:
      partition.counters.misses.increment()
      return nil
    case .committed(let condition):
      // Asked before the look-up. A look-up counts a hit and marks the record as used, although the condition then
      // hides it. Its metadata has a local version instead of the file version, to which the condition can refer.
      if !hasRecord(forKey: key, in: partition, unless: condition) {
        partition.counters.misses.increment()
        return nil
      }
      return try withCommittedRecord(forKey: key, in: partition) { metadata, bytes in
        condition.holds(for: metadata, bytes) ? nil : try body(metadata, bytes)
      } ?? nil
    }
  }

  /// The result of a lookup in one snapshot.
  private enum Lookup<Result> {
    case found(Result)
    case absent
    /// The snapshot is too old to trust. Nothing was called or counted.
    case outdated
  }

  /// Looks up the key in a snapshot, and in newer ones after an outdated one.
  @inline(__always)
  private func withCommittedRecord<Result>(
    forKey key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    switch try lookUp(key, in: partition, body) {
    case .found(let result): result
    case .absent: nil
    case .outdated: try withNewerRecord(forKey: key, in: partition, body)
    }
  }

  /// Repeats the lookup in newer snapshots, after one that was outdated.
  @inline(never)
  private func withNewerRecord<Result>(
    forKey key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    for _ in 1..<DiskEngine.snapshotsTried {
      switch try lookUp(key, in: partition, body) {
      case .found(let result): return result
      case .absent: return nil
      case .outdated: break
      }
    }
    partition.counters.misses.increment()
    return nil
  }

  /// Looks up the key in a snapshot.
  @inline(__always)
  private func lookUp<Result>(
    _ key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Lookup<Result> {
    guard mode != .closed, let file = unsafe uncountedFile else {
      partition.counters.misses.increment()
      return .absent
    }
    // The caller retains the engine, and the engine retains the file. Reference counting would only cost time.
    return try unsafe file._withUnsafeGuaranteedRef { file in
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else {
        partition.counters.misses.increment()
        return .absent
      }
      return try lookUp(key, in: partition, as: transaction, of: file, body)
    }
  }

  /// Looks up the key in a transaction.
  @inline(__always)
  private func lookUp<Result>(
    _ key: RawSpan, in partition: Partition, as transaction: borrowing ReadTransaction, of file: DiskFile,
    _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Lookup<Result> {
    let generation = generation(of: partition, in: transaction, of: file)
    if generation == .zero {
      partition.counters.misses.increment()
      return .absent
    }
    switch file.layout {
    case .ordered:
      let diskKey = DiskKey(generation: generation, key: key)
      guard let record = value(under: diskKey, in: transaction, of: file) else { break }
      record.prefetch()
      guard let header = RecordHeader(record, under: diskKey) else {
        reportDefect(key, of: partition)
        break
      }
      guard !diskKey.isDigest || record.extracting(header.key).hasSameBytes(as: key) else { break }
      let found = ReadableRecord(header, of: record, mark: header.sequence)
      guard header.value.count >= RecordRenewal.leastValueSize else {
        return try show(found, forKey: key, in: partition, as: transaction, body)
      }
      var renewal: RecordRenewal?
      guard find(&renewal, ofRecordAt: .key(diskKey), in: transaction, of: file) else { break }
      return try showLarge(found, forKey: key, in: partition, as: transaction) { metadata, bytes in
        try body(renewal?.applied(to: metadata) ?? metadata, bytes)
      }
    case .dense:
      var isDamaged = false
      guard let found = record(forKey: key, of: generation, in: transaction, of: file, isDamaged: &isDamaged) else {
        if isDamaged { reportDefect(key, of: partition) }
        break
      }
      guard found.isSound else {
        reportDefect(key, of: partition)
        break
      }
      let record = ReadableRecord(found.header, of: found.bytes, mark: found.address.mark)
      guard found.header.value.count >= RecordRenewal.leastValueSize else {
        return try show(record, forKey: key, in: partition, as: transaction, body)
      }
      var renewal: RecordRenewal?
      guard find(&renewal, ofRecordAt: .address(found.address), in: transaction, of: file) else { break }
      return try showLarge(record, forKey: key, in: partition, as: transaction) { metadata, bytes in
        try body(renewal?.applied(to: metadata) ?? metadata, bytes)
      }
    }
    partition.counters.misses.increment()
    return .absent
  }

  /// Calls `body` with a sound record, unless an invalidation conceals it, or it has another codec.
  @inline(__always)
  private func show<Result>(
    _ record: borrowing ReadableRecord<some ReadableHeader>, forKey key: RawSpan, in partition: Partition,
    as transaction: borrowing ReadTransaction, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Lookup<Result> {
    // The invalidations are read after the record was found, so that every earlier one applies to it.
    let snapshot = transaction.transactionNumber
    let invalidationVersion = partition.invalidations.invalidationVersion
    var metadata = record.header.metadata(of: record.bytes)
    let visibility: InvalidationTable.Visibility =
      partition.invalidations.isVisibleWithoutComparison(at: snapshot)
      ? .visible : partition.visibility(of: metadata, key: key, snapshot: snapshot)
    switch visibility {
    case .visible:
      recency.mark(record.mark)
      partition.counters.hits.increment()
      // Callers compare local versions, and the record has a file version. No invalidation up to this local
      // version conceals the record.
      metadata.localVersion = invalidationVersion
      return .found(try body(metadata, record.bytes.extracting(record.header.value)))
    case .concealed:
      partition.counters.misses.increment()
      return .absent
    case .outdated: return .outdated
    }
  }

  /// As `show`. Apart from it, because this code would slow down the look-ups of small records.
  @inline(never)
  private func showLarge<Result>(
    _ record: borrowing ReadableRecord<some ReadableHeader>, forKey key: RawSpan, in partition: Partition,
    as transaction: borrowing ReadTransaction, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Lookup<Result> {
    try show(record, forKey: key, in: partition, as: transaction, body)
  }

  /// The maximum number of snapshots for one lookup. A snapshot is outdated if a purge ended after it began.
  static let snapshotsTried = 8

  /// Begins a read transaction. Returns nil and records the failure if the file cannot be read.
  @inline(__always)
  @_lifetime(borrow environment)
  func beginRead(of environment: Environment) -> ReadTransaction? {
    do {
      return try environment.beginRead()
    } catch {
      noteReadFailure(error, of: environment)
      return nil
    }
  }

  /// Returns the bytes under the key, or nil if the key is absent. A defect of the file also returns nil, and is
  /// recorded.
  @inline(__always)
  @_lifetime(borrow transaction)
  private func value(
    under key: borrowing DiskKey, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) -> RawSpan? {
    do {
      return try transaction.mainValue(forKey: key)
    } catch {
      noteReadFailure(error, of: file.environment)
      return nil
    }
  }

  /// Returns the key's record in extents, or nil if the key is absent. A defect of the file also returns nil, and is
  /// recorded.
  @inline(__always)
  @_lifetime(borrow transaction)
  private func record(
    forKey key: RawSpan, of generation: Generation, in transaction: borrowing ReadTransaction, of file: DiskFile,
    isDamaged: inout Bool
  ) -> DenseTables.PackedRecord? {
    guard case .dense(let tables) = file.layout else { return nil }
    do {
      return try tables.record(forKey: key, of: generation, in: transaction, isDamaged: &isDamaged)
    } catch {
      noteReadFailure(error, of: file.environment)
      return nil
    }
  }

  /// Finds the renewal of a large record, if it has one. Returns false and records the failure if the file cannot be
  /// read.
  @inline(never)
  private func find(
    _ renewal: inout RecordRenewal?, ofRecordAt location: RecordLocation, in transaction: borrowing ReadTransaction,
    of file: DiskFile
  ) -> Bool {
    do {
      renewal = try file.renewal(ofRecordAt: location, in: transaction)
      return true
    } catch {
      noteReadFailure(error, of: file.environment)
      return false
    }
  }
}
