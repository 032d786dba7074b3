import CisternCore
import LMDB

extension ExtentStep {
  /// Whether the transaction may change more leaves of the index. A file that can grow has room for the copies of many.
  var hasBudget: Bool {
    touched.total < context.limits.leavesPerTransaction * (canGrowAtEnd == true ? ExtentLimits.budgetOfGrowth : 1)
  }

  /// Examines records of the extent that is reclaimed next, or evicts a separate record that is older.
  ///
  /// Returns false if it can do nothing now: no extent is closed, or copies wait for an extent that becomes usable
  /// after a commit.
  ///
  /// - Parameters:
  ///   - bytes: The number of bytes of records to examine.
  ///   - target: The transaction.
  /// - Returns: Whether the step made progress.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func reclaim(
    _ bytes: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    if state.reclaim == nil {
      switch chooseVictim() {
      case .extent(let choice, let age): state.reclaim = Reclaim(choice, age: age)
      case .separate(let number):
        try evictSeparate(number, in: &target)
        return true
      case nil: return false
      }
    }
    let list = try victimList(in: target)
    var seen = 0
    while let position = state.reclaim?.position, position < list.entries.count {
      guard seen < bytes, hasBudget else { return true }
      guard try examine(list.entries[position], of: list.number, in: &target) else { return seen > 0 }
      seen += ExtentLayout.room(for: Int(list.entries[position].size))
      outcome.hasChanges = true
    }
    try finishReclaim(of: list, in: &target)
    return true
  }

  private enum Victim {
    case extent(ReclaimPolicy.Choice, age: ExtentAge)
    case separate(SeparateNumber)
  }

  private mutating func chooseVictim() -> Victim? {
    let log = state.log
    let canCopy =
      state.experience.forcedEvictions == 0 && log.hasRoom(for: layout.largestRecord, in: .copies, during: horizon)
    // If only a commit is missing, an eviction is unnecessary.
    if !canCopy, log.hasPending(during: horizon) { return nil }
    let policy = ReclaimPolicy(meanRecordSize: state.experience.meanRecordSize)
    let separate = oldestSeparate()
    var choice = policy.choose(in: log, canCopy: canCopy, except: appended)
    if choice == nil, separate == nil {
      // A small file can have no closed extent.
      for stream in [Extent.Stream.copies, .writes] {
        guard let open = log.open[stream], !appended.contains(open) else { continue }
        state.log.closeOpen(stream)
        choice = policy.choose(in: state.log, canCopy: canCopy, except: appended)
        break
      }
    }
    guard let choice, let age = state.log[choice.number]?.age else { return separate.map { .separate($0.number) } }
    if choice.method == .evict, let separate, separate.record.age < age { return .separate(separate.number) }
    return .extent(choice, age: age)
  }

  /// Returns the separate record that leaves next. The new ones leave after all others, those of the oldest group
  /// first.
  ///
  /// The records of the group in progress leave last. Otherwise they would displace each other.
  private func oldestSeparate() -> (number: SeparateNumber, record: SeparateRecord)? {
    let new = state.newSeparates
    for count in 0...new.groups.count {
      let kept = appendedSeparates.union(new.all(withoutOldest: count))
      if let oldest = state.separates.oldest(except: kept) { return oldest }
    }
    return nil
  }

  /// Returns the records of the extent that is reclaimed.
  private mutating func victimList(
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> VictimList {
    guard let number = state.reclaim?.number else { preconditionFailure("no extent is reclaimed") }
    if let victim = state.victim, victim.number == number { return victim }
    let limits = context.limits
    let list = try withRecords(of: number, in: target) { VictimList($0, number: number, limits: limits) }
    guard let list else { throw Self.missing(number) }
    if !list.entries.isEmpty { state.experience.meanRecordSize = list.byteCount / list.entries.count }
    state.victim = list
    return list
  }

  /// Calls `body` with the bytes of a closed extent from its first record to the end of its last one.
  private func withRecords<Result>(
    of number: ExtentNumber, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable,
    _ body: (RawSpan) -> Result
  ) throws(LMDBError) -> Result? {
    guard let end = state.log[number]?.end else { return nil }
    return try target.withBytes(of: number, from: ExtentLayout.headerSize) { bytes in
      body(bytes.extracting(0..<min(end - ExtentLayout.headerSize, bytes.byteCount)))
    }
  }

  private static func missing(_ number: ExtentNumber) -> LMDBError {
    LMDBError(.corrupted, operation: "reclaim an extent", message: "the file does not have extent \(number.number)")
  }

  /// Examines a record. Returns false if its copy must wait for a commit or for a reader.
  private mutating func examine(
    _ entry: VictimList.Entry, of number: ExtentNumber, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    let layout = layout
    let address = RecordAddress(number, offset: Int(entry.offset), in: layout)
    guard let generation = state.partitionNumbers[entry.partition],
      try seek(entry.digest, address, of: generation, in: &target)
    else {
      _ = state.reclaim?.examine(.dead, in: layout, canCopy: false)
      return true
    }
    let record = IndexedRecord(address: address, size: Int(entry.size))
    // The purge of a dead generation needs the bytes of its records, which the extent loses.
    guard try liveCounts(generation, in: target) != nil, !(try isConcealed(address, of: generation, in: target)) else {
      _ = state.reclaim?.examine(.dead, in: layout, canCopy: false)
      try drop(record, entry.digest, of: generation, in: &target)
      return true
    }
    let canCopy = state.log.hasRoom(for: record.size, in: .copies, during: horizon)
    let isUsed = context.recency.isMarked(address.mark)
    if !canCopy {
      if state.log.hasPending(during: horizon) { return false }
      // While a reader keeps the free extents, an eviction makes no room either. The writer waits for the reader.
      if isUsed || state.reclaim?.method == .clean, state.log.hasWaiting(during: horizon) { return false }
    }
    let finding = Reclaim.Finding.live(size: record.size, isUsed: isUsed)
    let saved = min(state.experience.savedBytes, Reclaim.mostSavedBytes(in: state.log))
    switch state.reclaim?.examine(finding, in: layout, canCopy: canCopy, saved: saved) {
    case .copy?: try copy(record, in: &target)
    case .evict?:
      let evicted = try evicted(address, of: generation, in: target)
      try drop(record, entry.digest, of: generation, in: &target)
      if let evicted { outcome.evicted.append(evicted) }
    case .skip?, nil: break
    }
    touched.note(entry.digest, of: generation)
    return true
  }

  /// Copies a record to the open extent of copies. The item at the position then refers to the copy.
  private mutating func copy(
    _ record: IndexedRecord, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let room = ExtentLayout.room(for: record.size)
    guard let reclaim = state.reclaim,
      let bytes = try withRecord(at: record.address, in: target, { $0.extracting(0..<room).copiedBytes() }),
      let address = state.log.place(record.size, in: .copies, from: reclaim.ageOfCopies, during: horizon)
    else { throw Self.missing(state.reclaim?.number ?? ExtentNumber(number: 0)) }
    noteAppended(address)
    try writer.append(room, at: address, in: .copies, to: &target) { copy in
      copy.copy(bytes.rawSpan, to: 0)
      PackedRecordFormat.move(&copy, from: record.address, to: address)
    }
    // A second chance uses up the mark. Cleaning does not.
    let keepsMark = reclaim.method == .clean && context.recency.isMarked(record.address.mark)
    if keepsMark { context.recency.mark(address.mark) } else { context.recency.clear(address.mark) }
    try target.replaceCurrent(with: address)
    try moveRenewal(of: record, to: address, in: &target)
    state.log.remove(record.size, at: record.address)
    outcome.copiedBytes += room
  }

  /// Empties the extent after the examination of its records.
  ///
  /// If a damaged record hides live ones, items still refer to the extent. It is then released: its number is not used
  /// again, so these items lead to no record.
  private mutating func finishReclaim(
    of list: VictimList, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let number = list.number
    var isSound = list.isComplete
    if isSound, state.log[number]?.liveBytes != 0 {
      let layout = layout
      isSound = try withRecords(of: number, in: target) { list.isSound($0, in: layout) } ?? false
    }
    state.log.empty(number, in: horizon.current)
    if let reclaim = state.reclaim {
      state.experience.savedBytes = reclaim.savedBytes(after: state.experience.savedBytes, in: state.log)
      if reclaim.method == .evict { state.experience.noteEviction() }
    }
    state.reclaim = nil
    state.victim = nil
    outcome.hasChanges = true
    if isSound { return }
    try release(number, in: &target)
    outcome.damagedExtents.append(number)
  }
}
