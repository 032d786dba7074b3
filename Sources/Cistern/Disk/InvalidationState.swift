/// The invalidations of a partition that are in force, and those that ended lately. Pure.
///
/// Two orders number them. The *own order* is this process's: it numbers each invalidation when it is staged, and one of
/// another process when it is noticed. Staged writes carry numbers of the own order. The *file's order* is the order of
/// the commits of all processes. Records in the file carry numbers of the file's order, from the commit that wrote them.
struct InvalidationState: Sendable {
  /// The newest number of the own order.
  private(set) var newest: UInt64 = 0
  /// To be committed, by the own order. A newer one replaces an older one of the same.
  private(set) var staged: [Invalidation: UInt64] = [:]
  /// Being committed, by the own order.
  private(set) var committing: [Invalidation: UInt64] = [:]
  /// The numbers of the file's order that the present transaction gives to those that are being committed.
  private var assigned: [Invalidation: UInt64] = [:]
  /// In the file, by the file's order.
  private(set) var committed = InvalidationSet()
  /// The same, by the own order.
  private var noticed: [Invalidation: UInt64] = [:]
  /// The staged ones and those that are being committed, by the own order.
  private var uncommitted = InvalidationSet()
  /// This process's own since the round before the present one, by the own order.
  private var recent = InvalidationSet()
  /// All that are in force, by the own order.
  private(set) var inForce = InvalidationSet()
  /// Those that ended lately, by each order: a write, or a record that was read, can arrive late.
  private var ended = InvalidationSet()
  private var endedInFile = InvalidationSet()
  /// Fetched values with lesser numbers of the own order are void: an invalidation that concerns them can be forgotten.
  private var forgotten: UInt64 = 0
  /// Snapshots before this transaction may show what was purged.
  private(set) var purgedTransaction: UInt = 0
  /// The row of the file, as last seen or written; nil before the first look.
  private(set) var row: EraRow?
  /// The transaction that `row` is of.
  private var rowTransaction: UInt = 0

  /// The bytes of invalidations that are remembered after they ended.
  private static let rememberedSize = 1 << 20

  // MARK: Comparing

  /// Whether a record of the file is not to be shown.
  func concealsRecord(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    if committed.conceals(era: era, key: key, tags: tags) { return true }
    guard !uncommitted.isEmpty else { return false }
    // What is not committed yet comes after each record that is, whatever their numbers are.
    return uncommitted.conceals(era: era <= row?.era ?? 0 ? 0 : era, key: key, tags: tags)
  }

  /// As `concealsRecord`, for a record that was read a while ago.
  func concealsRecordReadBefore(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    concealsRecord(era: era, key: key, tags: tags) || endedInFile.conceals(era: era, key: key, tags: tags)
  }

  /// Whether a staged write is not to be shown, and not to be committed.
  ///
  /// A value that was set comes after another process's invalidation that is committed before it. One that was fetched
  /// does not, because its fetch may have begun earlier.
  func concealsWrite(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    if metadata.isSet { return recent.conceals(era: metadata.era, key: key, tags: metadata.tags) }
    return concealsWrite(era: metadata.era, key: key, tags: metadata.tags)
  }

  func concealsWrite(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    era < forgotten || inForce.conceals(era: era, key: key, tags: tags)
      || ended.conceals(era: era, key: key, tags: tags)
  }

  // MARK: Staging

  /// The next number of the own order.
  mutating func advance() -> UInt64 {
    newest += 1
    return newest
  }

  /// Whether the invalidation fits beside the others, of which `limit` bytes are kept.
  func hasRoom(for invalidation: Invalidation, limit: Int) -> Bool {
    inForce.eras[invalidation] != nil || inForce.size + invalidation.size <= limit
  }

  /// Takes an invalidation; whether it is the first of its kind since the last hand-over.
  mutating func stage(_ invalidation: Invalidation, era: UInt64) -> Bool {
    uncommitted.add(invalidation, era: era)
    recent.add(invalidation, era: era)
    inForce.add(invalidation, era: era)
    return staged.updateValue(era, forKey: invalidation) == nil
  }

  // MARK: Committing

  /// Hands over what was staged; nil if there is nothing to write.
  mutating func beginCommitting() -> (invalidations: [Invalidation: UInt64], era: UInt64)? {
    // A write that was staged before one of an earlier round is in that round.
    recent = staged.reduce(into: InvalidationSet()) { $0.add($1.key, era: $1.value) }
    guard !staged.isEmpty else { return nil }
    committing = staged
    staged = [:]
    return (committing, newest)
  }

  /// The present transaction gives these numbers. A reader can see its commit before ``publish(_:row:transaction:)``.
  mutating func assign(_ rows: [Invalidation: UInt64]) { assigned = rows }

  /// What was handed over was not committed; answers how many are staged again.
  mutating func restore() -> Int {
    let before = staged.count
    staged.merge(committing) { max($0, $1) }
    committing = [:]
    assigned = [:]
    return staged.count - before
  }

  /// What was handed over is in the file, under these numbers.
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
        // Another process has ended it since.
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

  /// A snapshot has shown what is in the file.
  mutating func learn(_ row: EraRow, _ rows: InvalidationRows, transaction: UInt) {
    guard self.row == nil || transaction > rowTransaction else { return }
    let known = self.row?.era
    // Greater than the number of each write that is on its way here.
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
        // It began and ended, and the file no longer says what it concerned.
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

  /// A walk has ended these, by the file's order, and this transaction has marked them as ended in the file.
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

  /// The file was replaced by an empty one: everything is to be written again. Answers how many are staged for it.
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

/// What the file holds of a partition's invalidations, by the file's order.
struct InvalidationRows: Sendable {
  var inForce: [Invalidation: UInt64] = [:]
  /// Those that ended lately. A process that notices them late compares what it has on its way with them.
  var ended: [Invalidation: UInt64] = [:]
}
