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
  private(set) var newest: UInt64 = 0
  /// The invalidations to be committed, with local versions. A newer version replaces an older one.
  private(set) var staged: [Invalidation: UInt64] = [:]
  /// The invalidations that are being committed, with local versions.
  private(set) var committing: [Invalidation: UInt64] = [:]
  /// The file versions that the present transaction gives to the invalidations in `committing`.
  private var assigned: [Invalidation: UInt64] = [:]
  /// The invalidations in the file, with file versions.
  private(set) var committed = InvalidationSet()
  /// The invalidations in the file, with local versions.
  private var noticed: [Invalidation: UInt64] = [:]
  /// The invalidations in `staged` and `committing`, with local versions.
  private var uncommitted = InvalidationSet()
  /// The invalidations that this process staged since the previous commit group was taken, with local versions.
  private var recent = InvalidationSet()
  /// All invalidations in force, with local versions.
  private(set) var inForce = InvalidationSet()
  /// The invalidations that ended recently, with local versions and with file versions.
  ///
  /// A staged write, or a record that was read earlier, may still be compared with them.
  private var ended = InvalidationSet()
  private var endedInFile = InvalidationSet()
  /// Fetched values with a lower local version are void, because an invalidation that concerns them may be
  /// forgotten.
  private var forgotten: UInt64 = 0
  /// Snapshots before this transaction may show purged records.
  private(set) var purgedTransaction: UInt = 0
  /// The partition's row of versions as it was last read or written. Nil before the first read.
  private(set) var row: EraRow?
  /// The transaction of `row`.
  private var rowTransaction: UInt = 0

  /// The size above which ended invalidations are forgotten, in bytes.
  private static let rememberedSize = 1 << 20

  // MARK: Comparing

  /// Returns whether a record of the file must not be shown.
  ///
  /// - Parameters:
  ///   - era: The file version of the record.
  ///   - key: The key of the record.
  ///   - tags: The tags of the record.
  func concealsRecord(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    if committed.conceals(era: era, key: key, tags: tags) { return true }
    guard !uncommitted.isEmpty else { return false }
    // An uncommitted invalidation follows every committed record, regardless of their versions.
    return uncommitted.conceals(era: era <= row?.era ?? 0 ? 0 : era, key: key, tags: tags)
  }

  /// Returns whether a record that was read earlier must not be shown.
  ///
  /// Compares it with the invalidations that have ended since, too.
  func concealsRecordReadBefore(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    concealsRecord(era: era, key: key, tags: tags) || endedInFile.conceals(era: era, key: key, tags: tags)
  }

  /// Returns whether a staged write must be neither shown nor committed.
  ///
  /// A value that was set follows another process's invalidation that is committed before it. A fetched value does
  /// not, because its fetch may have begun earlier.
  func concealsWrite(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    if metadata.isSet { return recent.conceals(era: metadata.invalidationVersion, key: key, tags: metadata.tags) }
    return concealsWrite(era: metadata.invalidationVersion, key: key, tags: metadata.tags)
  }

  /// Returns whether an invalidation after this local version conceals the write, even one that has ended.
  func concealsWrite(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    era < forgotten || inForce.conceals(era: era, key: key, tags: tags)
      || ended.conceals(era: era, key: key, tags: tags)
  }

  // MARK: Staging

  /// Returns the next local version.
  mutating func advance() -> UInt64 {
    newest += 1
    return newest
  }

  /// Returns whether the invalidation and the others in force fit into `limit` bytes.
  func hasRoom(for invalidation: Invalidation, limit: Int) -> Bool {
    inForce.eras[invalidation] != nil || inForce.size + invalidation.size <= limit
  }

  /// Stages an invalidation. Returns true if it is added, and false if it replaces an equal one.
  mutating func stage(_ invalidation: Invalidation, era: UInt64) -> Bool {
    uncommitted.add(invalidation, era: era)
    recent.add(invalidation, era: era)
    inForce.add(invalidation, era: era)
    return staged.updateValue(era, forKey: invalidation) == nil
  }

  // MARK: Committing

  /// Hands over the staged invalidations and the newest local version. Returns nil if no invalidation is staged.
  mutating func beginCommitting() -> (invalidations: [Invalidation: UInt64], era: UInt64)? {
    // A write that was staged before an invalidation of an earlier commit group is in that group.
    recent = staged.reduce(into: InvalidationSet()) { $0.add($1.key, era: $1.value) }
    guard !staged.isEmpty else { return nil }
    committing = staged
    staged = [:]
    return (committing, newest)
  }

  /// Sets the file versions that the present transaction gives to the invalidations.
  ///
  /// A reader can see the transaction's commit before the call of ``publish(_:row:transaction:)``.
  mutating func assign(_ rows: [Invalidation: UInt64]) { assigned = rows }

  /// Stages the invalidations again, because they were not committed. Returns the number of added ones.
  mutating func restore() -> Int {
    let before = staged.count
    staged.merge(committing) { max($0, $1) }
    committing = [:]
    assigned = [:]
    return staged.count - before
  }

  /// Records that the invalidations are committed with these file versions.
  mutating func publish(_ rows: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    let isNewest = transaction >= rowTransaction
    for (invalidation, era) in rows {
      let own = committing[invalidation] ?? era
      uncommitted.remove(invalidation, era: own)
      if isNewest {
        committed.add(invalidation, era: era)
        noticed[invalidation] = own
        inForce.add(invalidation, era: own)
      } else if committed.eras[invalidation] == nil {
        // Another process has ended the invalidation since.
        end(invalidation, own: own, inFile: era)
      }
    }
    committing = [:]
    assigned = [:]
    raise(to: row.era)
    guard isNewest else { return }
    rowTransaction = transaction
    self.row = row
  }

  // MARK: Learning

  /// Learns the invalidations in the file from a snapshot.
  mutating func learn(_ row: EraRow, _ rows: InvalidationRows, transaction: UInt) {
    guard self.row == nil || transaction > rowTransaction else { return }
    let known = self.row?.era
    // Greater than the local version of each value that is being fetched or written.
    let next = max(newest + 1, row.era)
    for (invalidation, era) in rows.inForce where committed.eras[invalidation] != era {
      if assigned[invalidation] == era, let own = committing[invalidation] {
        noticed[invalidation] = own
      } else {
        noticed[invalidation] = next
        inForce.add(invalidation, era: next)
        raise(to: next)
      }
    }
    for (invalidation, era) in committed.eras where rows.inForce[invalidation] == nil {
      end(invalidation, own: noticed.removeValue(forKey: invalidation) ?? era, inFile: era)
      purgedTransaction = transaction
    }
    if let known {
      for (invalidation, era) in rows.ended where era > known && assigned[invalidation] != era {
        remember(invalidation, own: next, inFile: era)
        raise(to: next)
        purgedTransaction = transaction
      }
      if row.purged > known {
        // An invalidation began and ended unseen, and the file no longer has it.
        forgotten = max(row.era, newest) + 1
        raise(to: forgotten)
      }
    }
    raise(to: row.era)
    self.row = row
    rowTransaction = transaction
    committed = rows.inForce.reduce(into: InvalidationSet()) { $0.add($1.key, era: $1.value) }
  }

  // MARK: Purging

  /// Ends the invalidations, after a walk has purged their records and the transaction has ended them in the file.
  ///
  /// - Parameters:
  ///   - targets: The invalidations, with file versions.
  ///   - row: The row that the transaction wrote.
  ///   - transaction: The number of the transaction.
  mutating func purged(_ targets: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    self.row = row
    rowTransaction = max(rowTransaction, transaction)
    purgedTransaction = max(purgedTransaction, transaction)
    for (invalidation, era) in targets {
      guard let present = committed.eras[invalidation], present <= era else { continue }
      committed.remove(invalidation, era: era)
      end(invalidation, own: noticed.removeValue(forKey: invalidation) ?? present, inFile: era)
    }
  }

  /// Stages the invalidations of the old file again, because another file is open. Returns the number of added
  /// ones.
  mutating func forgetFile() -> Int {
    let before = staged.count
    for (invalidation, era) in committed.eras {
      let own = noticed[invalidation] ?? era
      staged[invalidation] = max(own, staged[invalidation] ?? 0)
      uncommitted.add(invalidation, era: own)
    }
    committed = InvalidationSet()
    noticed = [:]
    row = nil
    rowTransaction = 0
    purgedTransaction = 0
    return staged.count - before
  }

  private mutating func end(_ invalidation: Invalidation, own: UInt64, inFile era: UInt64) {
    inForce.remove(invalidation, era: own)
    remember(invalidation, own: own, inFile: era)
  }

  private mutating func remember(_ invalidation: Invalidation, own: UInt64, inFile era: UInt64) {
    if ended.size > InvalidationState.rememberedSize {
      forgotten = max(forgotten, ended.newest)
      ended = InvalidationSet()
      endedInFile = InvalidationSet()
    }
    ended.add(invalidation, era: own)
    endedInFile.add(invalidation, era: era)
  }

  private mutating func raise(to era: UInt64) { newest = max(newest, era) }
}

/// The invalidations of a partition in the file, with file versions.
struct InvalidationRows: Sendable {
  var inForce: [Invalidation: UInt64] = [:]
  /// The invalidations that ended recently.
  ///
  /// A process that learns of one late compares the values of its running fetches and staged writes with it.
  var ended: [Invalidation: UInt64] = [:]
}
