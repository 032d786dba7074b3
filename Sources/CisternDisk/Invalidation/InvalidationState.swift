import CisternCore

/// The invalidations of a partition that are in force, and those that ended recently. This type is pure.
///
/// Each invalidation has two versions:
/// - The *local version* is ordered by this process. An invalidation gets it when it is staged, or when this
///   process learns of it from another one. Staged writes have local versions.
/// - The *file version* is ordered by the commits of all processes. A record in the file has the file version of
///   the commit that wrote it.
struct InvalidationState: Sendable {
  /// The newest local version.
  private(set) var newest = InvalidationVersion.zero
  /// The invalidations to be committed, with local versions. A newer version replaces an older one.
  private(set) var staged: [Invalidation: InvalidationVersion] = [:]
  /// The invalidations of a former file, to be committed before any record of the present one, with local versions.
  ///
  /// None of them is in `staged`.
  private(set) var repeated: [Invalidation: InvalidationVersion] = [:]
  /// The invalidations that are being committed, with local versions.
  private(set) var committing: [Invalidation: InvalidationVersion] = [:]
  /// The file versions that the current transaction gives to the invalidations in `committing`.
  private var assigned: [Invalidation: FileInvalidationVersion] = [:]
  /// The invalidations in the file, with file versions.
  private(set) var committed = InvalidationSet<FileInvalidationVersion>()
  /// The invalidations in the file, with local versions.
  private(set) var noticed = InvalidationSet<InvalidationVersion>()
  /// The invalidations in `staged`, `repeated` and `committing`, with local versions.
  private(set) var uncommitted = InvalidationSet<InvalidationVersion>()
  /// Whether some of `committing` are newer than in `taken`. Stored, because each fetched value reads it.
  private(set) var commitsUntaken = false
  /// The invalidations of this process that the newest commit group has taken, with local versions.
  private(set) var taken = InvalidationSet<InvalidationVersion>()
  /// The invalidations that this process has staged since the newest commit group was taken, with local versions.
  private(set) var recent = InvalidationSet<InvalidationVersion>()
  /// All invalidations in force, with local versions.
  private(set) var inForce = InvalidationSet<InvalidationVersion>()
  /// The invalidations that ended recently, with local versions and with file versions. A staged write, or a record
  /// that was read earlier, may still be compared with them.
  private(set) var ended = InvalidationSet<InvalidationVersion>()
  private(set) var endedInFile = InvalidationSet<FileInvalidationVersion>()
  /// Fetched values with a lower local version are void, because an invalidation that concerns them may be forgotten.
  private(set) var forgotten = InvalidationVersion.zero
  /// The invalidations that this process has staged, with local versions. Those in ``ended`` are included.
  private(set) var ofThisProcess = InvalidationSet<InvalidationVersion>()
  /// The invalidations that other processes have committed since the first read of the file, with file versions. Those
  /// that ended are included as in ``ended``.
  private(set) var ofOtherProcesses = InvalidationSet<FileInvalidationVersion>()
  /// Snapshots before this transaction may show purged records.
  private(set) var purgedTransaction = TransactionNumber.zero
  /// The partition's row of versions as it was last read or written. Nil before the first read.
  private(set) var row: InvalidationVersionRow?
  /// The transaction of `row`.
  private(set) var rowTransaction = TransactionNumber.zero

  /// The size above which ended invalidations are forgotten, in bytes.
  private static let rememberedSize = 1 << 20

  // MARK: Staging

  /// Returns the next local version.
  mutating func advance() -> InvalidationVersion {
    newest = newest.next()
    return newest
  }

  /// Returns whether the invalidation and the others in force fit into `limit` bytes.
  func hasRoom(for invalidation: Invalidation, limit: Int) -> Bool {
    inForce.invalidationVersions[invalidation] != nil || inForce.size + invalidation.size <= limit
  }

  /// Stages an invalidation. Returns true if it is added, and false if it replaces an equal one.
  mutating func stage(_ invalidation: Invalidation, invalidationVersion: InvalidationVersion) -> Bool {
    uncommitted.add(invalidation, invalidationVersion: invalidationVersion)
    recent.add(invalidation, invalidationVersion: invalidationVersion)
    ofThisProcess.add(invalidation, invalidationVersion: invalidationVersion)
    inForce.add(invalidation, invalidationVersion: invalidationVersion)
    let isRepeated = repeated.removeValue(forKey: invalidation) != nil
    return staged.updateValue(invalidationVersion, forKey: invalidation) == nil && !isRepeated
  }

  // MARK: Committing

  /// Hands over the staged invalidations and the newest local version. Returns nil if no invalidation is staged.
  mutating func beginCommitting() -> (
    invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion
  )? {
    // A write that was staged before an invalidation of an earlier commit group is in that group.
    taken = recent
    recent = InvalidationSet()
    guard !staged.isEmpty || !repeated.isEmpty else { return nil }
    committing = staged
    staged = [:]
    _ = beginRepeating()
    return (committing, newest)
  }

  /// Hands over the invalidations of the former file beside those that are being committed. Returns them.
  mutating func beginRepeating() -> [Invalidation: InvalidationVersion] {
    defer { repeated = [:] }
    committing.merge(repeated) { max($0, $1) }
    commitsUntaken = committing.contains { $1 > taken.invalidationVersions[$0] ?? .zero }
    return repeated
  }

  /// Sets the file versions that the current transaction gives to the invalidations.
  ///
  /// A reader can see the transaction's commit before the call of ``publish(_:row:transaction:)``.
  mutating func assign(_ rows: [Invalidation: FileInvalidationVersion]) { assigned = rows }

  /// Takes back the file versions of the aborted transaction. Another process can assign the same ones.
  mutating func withdrawAssigned() {
    defer { assigned = [:] }
    guard let first = assigned.values.min(), let row, row.invalidationVersion >= first else { return }
    // A reader has taken another process's commit for this transaction, since LMDB aborted it.
    forgotten = newest.next()
    raise(to: forgotten)
  }

  /// Stages the invalidations again, because they were not committed. Returns the number of added ones.
  mutating func restore() -> Int {
    let before = staged.count
    staged.merge(committing) { max($0, $1) }
    committing = [:]
    assigned = [:]
    for (taken, version) in taken.invalidationVersions { recent.add(taken, invalidationVersion: version) }
    taken = InvalidationSet()
    return staged.count - before
  }

  /// Records that the invalidations are committed with these file versions.
  mutating func publish(
    _ rows: [Invalidation: FileInvalidationVersion], row: InvalidationVersionRow, transaction: TransactionNumber
  ) {
    let isNewest = transaction >= rowTransaction
    for (invalidation, invalidationVersion) in rows {
      let own = committing[invalidation] ?? InvalidationVersion(sameNumberAs: invalidationVersion)
      uncommitted.remove(invalidation, invalidationVersion: own)
      if isNewest {
        committed.add(invalidation, invalidationVersion: invalidationVersion)
        // Another process may have committed the same invalidation, which this one noticed after it staged its own.
        let newest = max(own, noticed.invalidationVersions[invalidation] ?? .zero)
        noticed.add(invalidation, invalidationVersion: newest)
        inForce.add(invalidation, invalidationVersion: newest)
      } else if committed.invalidationVersions[invalidation] == nil {
        // Another process has ended the invalidation since.
        end(invalidation, own: own, inFile: invalidationVersion)
      }
    }
    committing = [:]
    assigned = [:]
    raise(to: InvalidationVersion(sameNumberAs: row.invalidationVersion))
    guard isNewest else { return }
    rowTransaction = transaction
    self.row = row
  }

  // MARK: Learning

  /// Learns the invalidations in the file from a snapshot.
  mutating func learn(_ row: InvalidationVersionRow, _ rows: InvalidationRows, transaction: TransactionNumber) {
    guard self.row == nil || transaction > rowTransaction else { return }
    let known = self.row?.invalidationVersion
    // Greater than the local version of each value that is being fetched or written.
    let next = max(newest.next(), InvalidationVersion(sameNumberAs: row.invalidationVersion))
    for (invalidation, invalidationVersion) in rows.inForce
    where committed.invalidationVersions[invalidation] != invalidationVersion {
      if assigned[invalidation] == invalidationVersion, let own = committing[invalidation] {
        noticed.add(invalidation, invalidationVersion: own)
      } else {
        noticed.add(invalidation, invalidationVersion: next)
        if known != nil { ofOtherProcesses.add(invalidation, invalidationVersion: invalidationVersion) }
        inForce.add(invalidation, invalidationVersion: next)
        raise(to: next)
      }
    }
    for (invalidation, invalidationVersion) in committed.invalidationVersions where rows.inForce[invalidation] == nil {
      let own = removeNoticed(invalidation) ?? InvalidationVersion(sameNumberAs: invalidationVersion)
      end(invalidation, own: own, inFile: invalidationVersion)
      purgedTransaction = transaction
    }
    if let known {
      for (invalidation, invalidationVersion) in rows.ended
      where invalidationVersion > known && assigned[invalidation] != invalidationVersion {
        remember(invalidation, own: next, inFile: invalidationVersion)
        ofOtherProcesses.add(invalidation, invalidationVersion: invalidationVersion)
        raise(to: next)
        purgedTransaction = transaction
      }
      if row.purged > known {
        // An invalidation began and ended unseen, and the file no longer has it.
        forgotten = max(InvalidationVersion(sameNumberAs: row.invalidationVersion), newest).next()
        raise(to: forgotten)
      }
    }
    raise(to: InvalidationVersion(sameNumberAs: row.invalidationVersion))
    self.row = row
    rowTransaction = transaction
    committed = rows.inForce.reduce(into: InvalidationSet()) { $0.add($1.key, invalidationVersion: $1.value) }
  }

  // MARK: Purging

  /// Ends the invalidations, after a walk has purged their records and the transaction has ended them in the file.
  ///
  /// - Parameters:
  ///   - targets: The invalidations, with file versions.
  ///   - row: The row that the transaction wrote.
  ///   - transaction: The number of the transaction.
  mutating func endPurged(
    _ targets: [Invalidation: FileInvalidationVersion], row: InvalidationVersionRow, transaction: TransactionNumber
  ) {
    // A reader can have learned the row of a later transaction before this call.
    if transaction >= rowTransaction {
      self.row = row
      rowTransaction = transaction
    }
    purgedTransaction = max(purgedTransaction, transaction)
    for (invalidation, invalidationVersion) in targets {
      guard let current = committed.invalidationVersions[invalidation], current <= invalidationVersion else { continue }
      committed.remove(invalidation, invalidationVersion: invalidationVersion)
      let own = removeNoticed(invalidation) ?? InvalidationVersion(sameNumberAs: current)
      end(invalidation, own: own, inFile: invalidationVersion)
    }
  }

  /// Marks the invalidations of the old file as those to repeat, because another file is open. Returns the number of
  /// added ones.
  ///
  /// Repeats ended ones as long as all invalidations in force fit into `limit` bytes.
  mutating func forgetFile(repeatingEndedUpTo limit: Int) -> Int {
    let before = repeated.count
    for (invalidation, invalidationVersion) in committed.invalidationVersions {
      let own = noticed.invalidationVersions[invalidation] ?? InvalidationVersion(sameNumberAs: invalidationVersion)
      uncommitted.add(invalidation, invalidationVersion: own)
      if let newer = staged[invalidation] {
        staged[invalidation] = max(own, newer)
      } else {
        repeated[invalidation] = max(own, repeated[invalidation] ?? .zero)
      }
    }
    repeatEnded(limit: limit)
    committed = InvalidationSet()
    noticed = InvalidationSet()
    ofOtherProcesses = InvalidationSet()
    // The versions of records in the other file have no order with those of this one.
    endedInFile = InvalidationSet()
    row = nil
    rowTransaction = .zero
    purgedTransaction = .zero
    return repeated.count - before
  }

  /// Puts ended invalidations in force again, the newest ones first.
  private mutating func repeatEnded(limit: Int) {
    for (invalidation, own) in ended.invalidationVersions.sorted(by: { $0.value > $1.value })
    where inForce.invalidationVersions[invalidation] == nil {
      guard hasRoom(for: invalidation, limit: limit) else { return }
      uncommitted.add(invalidation, invalidationVersion: own)
      inForce.add(invalidation, invalidationVersion: own)
      repeated[invalidation] = own
    }
  }

  private mutating func removeNoticed(_ invalidation: Invalidation) -> InvalidationVersion? {
    defer { noticed.remove(invalidation, invalidationVersion: .max) }
    return noticed.invalidationVersions[invalidation]
  }

  private mutating func end(
    _ invalidation: Invalidation, own: InvalidationVersion, inFile invalidationVersion: FileInvalidationVersion
  ) {
    inForce.remove(invalidation, invalidationVersion: own)
    remember(invalidation, own: own, inFile: invalidationVersion)
  }

  private mutating func remember(
    _ invalidation: Invalidation, own: InvalidationVersion, inFile invalidationVersion: FileInvalidationVersion
  ) {
    if ended.size > InvalidationState.rememberedSize {
      forgotten = max(forgotten, ended.newest)
      ended = InvalidationSet()
      endedInFile = InvalidationSet()
      ofThisProcess = uncommitted
      ofOtherProcesses = InvalidationSet()
    }
    ended.add(invalidation, invalidationVersion: own)
    endedInFile.add(invalidation, invalidationVersion: invalidationVersion)
  }

  private mutating func raise(to invalidationVersion: InvalidationVersion) { newest = max(newest, invalidationVersion) }
}
