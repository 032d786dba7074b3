import LMDB

extension DiskEngine {
  /// Looks the key up among the staged writes and then in the file.
  @discardableResult
  @inline(__always)
  func withRecord<Result>(
    forKey key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    if isInherited { return nil }
    if let entry = partition.stagedEntry(forKey: key) {
      guard case .record(_, let metadata, let bytes) = entry.write, partition.shows(entry) else {
        partition.counters.misses.increment()
        return nil
      }
      partition.counters.hits.increment()
      return try body(metadata, bytes.rawSpan)
    }
    // The snapshot is taken after the look at what is staged: what had left it by then, is in the snapshot.
    var isOutdated = false
    let result = try withCommittedRecord(forKey: key, in: partition, isOutdated: &isOutdated, body)
    return isOutdated ? try withNewerRecord(forKey: key, in: partition, body) : result
  }

  /// As `withRecord`, with snapshots newer than one that was outdated.
  @inline(never)
  private func withNewerRecord<Result>(
    forKey key: RawSpan, in partition: Partition, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    for _ in 1..<DiskEngine.snapshotsTried {
      var isOutdated = false
      let result = try withCommittedRecord(forKey: key, in: partition, isOutdated: &isOutdated, body)
      if !isOutdated { return result }
    }
    partition.counters.misses.increment()
    return nil
  }

  /// Looks the key up in a snapshot; tells where that is too old to be believed, and calls and counts nothing then.
  @inline(__always)
  private func withCommittedRecord<Result>(
    forKey key: RawSpan, in partition: Partition, isOutdated: inout Bool,
    _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    guard mode != .closed, let file = unsafe uncountedFile else {
      partition.counters.misses.increment()
      return nil
    }
    // The caller keeps the engine: not counting the references saves a part of the time.
    return try unsafe file._withUnsafeGuaranteedRef { file in
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else {
        partition.counters.misses.increment()
        return nil
      }
      return try record(
        forKey: key, in: partition, as: transaction, of: file, isOutdated: &isOutdated, body)
    }
  }

  /// As `withCommittedRecord`, in a transaction.
  @inline(__always)
  private func record<Result>(
    forKey key: RawSpan, in partition: Partition, as transaction: borrowing ReadTransaction, of file: DiskFile,
    isOutdated: inout Bool, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    let generation = generation(of: partition, in: transaction, of: file)
    if generation != 0 {
      let diskKey = DiskKey(generation: generation, key: key)
      if let record = value(under: diskKey, in: transaction, of: file) {
        record.prefetch()
        guard let header = RecordHeader(record, under: diskKey) else {
          suspect(key, of: partition)
          partition.counters.misses.increment()
          return nil
        }
        if !diskKey.isDigest || record.extracting(header.key).hasSameBytes(as: key) {
          // Looked at after the record was found: what was invalidated before, is not shown.
          let snapshot = transaction.number
          let era = partition.invalidations.era
          var metadata = header.metadata(of: record)
          let visibility: InvalidationTable.Visibility =
            partition.invalidations.isClear(for: snapshot)
            ? .visible : partition.invalidations.visibility(of: metadata, key: key, snapshot: snapshot)
          switch visibility {
          case .visible:
            recency.mark(header.sequence)
            partition.counters.hits.increment()
            // The file's number means nothing to those who stage. Until now, nothing concerns the record.
            metadata.era = era
            return try body(metadata, record.extracting(header.value))
          case .concealed: break
          case .outdated:
            isOutdated = true
            return nil
          }
        }
      }
    }
    partition.counters.misses.increment()
    return nil
  }

  /// A snapshot is outdated where something was purged since; as a rule the next one is not.
  private static let snapshotsTried = 8

  /// Whether the key has a record; nil where nobody can tell, because the file cannot be read for now. Looks at the
  /// record's first bytes only, not at its checksum.
  func presence(of key: RawSpan, in partition: Partition) -> Bool? {
    var version: UInt32 = 0
    return presence(of: key, in: partition, schemaVersion: &version)
  }

  /// As `presence(of:in:)`; also answers the record's schema version, if there is one.
  func presence(of key: RawSpan, in partition: Partition, schemaVersion: inout UInt32) -> Bool? {
    if isInherited { return false }
    if let entry = partition.stagedEntry(forKey: key) {
      if case .record(_, let metadata, _) = entry.write { schemaVersion = metadata.schemaVersion }
      return partition.shows(entry)
    }
    for _ in 0..<DiskEngine.snapshotsTried {
      guard mode != .closed else { return false }
      // A read-only store need not have one.
      guard let file else { return options.isReadOnly ? false : nil }
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else { return nil }
      let generation = generation(of: partition, in: transaction, of: file)
      guard generation != 0 else { return false }
      let diskKey = DiskKey(generation: generation, key: key)
      guard let record = value(under: diskKey, in: transaction, of: file) else { return false }
      let snapshot = transaction.number
      let isClear = partition.invalidations.isClear(for: snapshot)
      let header = RecordHeader(trusting: record)
      schemaVersion = header?.schemaVersion(of: record) ?? 0
      if isClear, !diskKey.isDigest { return true }
      guard let header,
        !diskKey.isDigest || record.extracting(header.key).hasSameBytes(as: key)
      else { return false }
      if isClear { return true }
      let metadata = header.metadata(of: record)
      switch partition.invalidations.visibility(of: metadata, key: key, snapshot: snapshot) {
      case .visible: return true
      case .concealed: return false
      case .outdated: continue
      }
    }
    return nil
  }

  /// Begins a read; nil where the file cannot be read, which is noted.
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

  /// The bytes under the key; nil where there are none, or where the file is damaged, which is noted.
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

  /// The partition's generation, as of the transaction's snapshot or later: another process's removal of all is noticed.
  @inline(__always)
  func generation(of partition: Partition, in transaction: borrowing ReadTransaction, of file: DiskFile) -> UInt64 {
    let number = transaction.number
    if number > file.knownTransaction.load(ordering: .acquiring),
      number > partition.knownTransaction.load(ordering: .acquiring)
    {
      learnGeneration(of: partition, in: transaction, of: file)
    }
    return partition.generation
  }

  @inline(never)
  private func learnGeneration(
    of partition: Partition, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) {
    do {
      let name = MetaTable.partition(partition.name)
      let generation = try transaction.number(forKey: name, in: file.meta) ?? 0
      if let counts = try transaction.counts(of: generation, in: file.meta) { partition.counters.set(counts) }
      try partition.learnInvalidations(in: transaction, as: transaction.number, of: file)
      partition.learn(generation: generation, transaction: transaction.number)
    } catch {
      noteReadFailure(error, of: file.environment)
    }
  }

  /// Reads the generation of a partition that was just opened.
  func learnGeneration(of partition: Partition) {
    guard let file else { return }
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return }
    learnGeneration(of: partition, in: transaction, of: file)
  }

  /// A reader met this error and answered a miss. What only the writer thread can mend is left to it.
  @inline(never)
  func noteReadFailure(_ error: LMDBError, of environment: Environment) {
    switch error.code {
    case .corrupted, .pageNotFound, .panic, .invalid, .versionMismatch:
      suspects.withLock { suspects in
        if suspects.count < DiskEngine.suspectCapacity { suspects.append(.file(error, environment)) }
      }
      wakeForChores()
    default: break
    }
  }

  /// The key's record failed its checksum.
  @inline(never)
  func suspect(_ key: RawSpan, of partition: Partition) {
    partition.counters.damaged.count()
    let key = key.copiedBytes()
    suspects.withLock { suspects in
      if suspects.count < DiskEngine.suspectCapacity { suspects.append(.record(partition, key)) }
    }
    wakeForChores()
  }

  private static let suspectCapacity = 1024

  func wakeForChores() {
    monitor.change { $0.hasChores = true }
  }
}

/// What a reader found wrong, for the writer thread to look at.
enum Suspect: Sendable {
  /// A record that failed its checksum.
  case record(Partition, [UInt8])
  /// The file itself, if it is still this one.
  case file(LMDBError, Environment)
}
