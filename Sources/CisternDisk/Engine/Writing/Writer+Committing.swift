import CisternCore
import LMDB
import Synchronization

extension Writer {
  /// Takes all staged changes, and commits them in as few transactions as their size allows.
  func commitStaged() {
    checkReadersIfDue()
    let group = takeGroup()
    if !group.isEmpty {
      var commit = CommitState(group: group)
      do throws(LMDBError) {
        try perform(&commit)
        engine.monitor.withLock { $0.maintenancePausedUntil = nil }
      } catch {
        fail(&commit, engine.diagnosis(of: error))
      }
      // If the file is written through, `makeDurableAndResume(through:)` writes the note afterwards. Reports of record
      // losses run user code, which must not come between the commit and the note.
      if !isSynchronizing || !commit.losses.isEmpty { noteChanges() }
      finish(commit)
    } else {
      followFilesIfIdle()
      makeDurableAndResume(through: group.through)
    }
    engine.announceRoom()
    noteMaintenance()
  }

  /// Follows replaced files even if a flush has nothing to commit. A store that closes leaves the files as they
  /// are.
  private func followFilesIfIdle() {
    guard !isStopping, engine.mode == .active else { return }
    do throws(LMDBError) {
      try followFiles()
    } catch {
      degrade(engine.diagnosis(of: error))
    }
  }

  /// Notes the file's fingerprint after the commits, so that the next opening need not check the file's pages.
  func noteChanges() {
    guard let file = engine.file else { return }
    file.note.noteChanges(of: file.environment, engine.claim)
  }

  /// Whether a caller waits until the commits are written through to the device.
  private var isSynchronizing: Bool {
    engine.options.durability == .powerCut && engine.progress.withLock { $0.isAwaited }
  }

  private func takeGroup() -> CommitGroup {
    // Each ticket is assigned under the lock that makes its write visible to the hand-over. Every write up to
    // `through` is therefore taken here, or was taken earlier.
    let (through, changes, unopened, batchTickets) = engine.withoutOpenBatches {
      let through = engine.newestTicket
      let partitions = engine.partitions
      let unopened = engine.unopened.withLock { $0.beginCommitting() }.map {
        UnopenedChange(
          change: $0, openNames: Set(partitions.map(\.name)), largestSize: engine.limits.invalidationBytes)
      }
      let changes = partitions.compactMap { partition in
        partition.isDirty.exchange(false, ordering: .sequentiallyConsistent) ? partition.beginCommitting() : nil
      }
      let batchTickets = engine.batchTickets.withLock { tickets in
        defer { tickets = [:] }
        return tickets
      }
      return (through, changes, unopened, batchTickets)
    }
    return CommitGroup(
      changes: changes, unopened: unopened, through: through, batchTickets: batchTickets,
      partBytes: engine.limits.groupPartBytes)
  }

  /// Commits the group in one or more transactions.
  ///
  /// - Throws: The error that it cannot recover from. `commit` then tells how much of the group is committed.
  private func perform(_ commit: inout CommitState) throws(LMDBError) {
    if try followFiles() == .lacksCommits { restart(&commit) }
    tryLargerSize()
    var budget = deviceRoom.limits.pagesPerTransaction
    while !commit.isDone {
      if commit.skipIfConflicting(in: engine.directory) { continue }
      if commit.skipIfUnfit(limits: deviceRoom.limits, isDeviceFull: deviceRoom.isLimited, location: engine.directory) {
        continue
      }
      guard let file = engine.file else {
        throw LMDBError(.ioError, operation: "commit", message: "the data file is not open")
      }
      do {
        try performStep(&commit, in: file, budget: budget)
      } catch {
        let error = engine.diagnosis(of: error)
        switch error.code {
        case .mapFull, .noSpace, .transactionFull:
          try makeSpace(&commit, in: file, budget: &budget, error)
        case .panic where !commit.hasReopened:
          if try reopenFile() == .lacksCommits { restart(&commit) }
          commit.hasReopened = true
        case .corrupted, .pageNotFound, .panic, .badTransaction, .invalid, .truncated, .badValueSize, .keyExists:
          guard !commit.hasReplaced else { throw error }
          // The staged writes are intact, so they go into the new file.
          if try replaceFile(because: error) == .lacksCommits { restart(&commit) }
          commit.hasReplaced = true
        default: throw error
        }
      }
      try endStall(of: &commit, in: file, budget: &budget)
    }
  }

  /// Begins the group again, because another file is open, which has none of its commits.
  private func restart(_ commit: inout CommitState) {
    commit.restart(repeatingInvalidationsOf: engine.partitions)
  }

  /// Returns the number of pages that single writes of a transaction may copy.
  private func budgetOfSingleWrites(_ budget: Int, in file: DiskFile) -> Int {
    switch file.layout {
    case .ordered: budget
    // The step itself bounds the leaves of the index. After a full map, the transactions are smaller.
    case .dense: budget < deviceRoom.limits.pagesPerTransaction ? budget : .max
    }
  }

  /// Performs one transaction: evicts as needed, and puts as many items as the page budget allows.
  private func performStep(_ commit: inout CommitState, in file: DiskFile, budget: Int) throws(LMDBError) {
    let start = commit.position
    let group = commit.group
    var reclaimer = SpaceReclaimer(writer: self, commit: commit, budget: budget)
    var evictedKeys: [EvictedKey] = []
    var isCommitted = false
    defer {
      if !isCommitted { for key in evictedKeys { key.unmarkLost() } }
    }
    let invalidationVersions = engine.invalidationVersions
    let progress = extents?.reclaimProgress
    let (outcome, number, position) = try withStep(in: file) {
      (step, transaction) throws(LMDBError) -> (StepOutcome, TransactionNumber, Int) in
      if !commit.arePreliminariesCommitted { try putPreliminaries(of: group, &step, in: &transaction.transaction) }
      for changes in group.changes where !changes.writes.isEmpty {
        try step.putFormats(of: changes.partition, in: &transaction.transaction)
      }
      var position = start
      step.records.setPosition(start)
      let budgetOfSingleWrites = budgetOfSingleWrites(budget, in: file)
      while position < group.count, !step.isFull(budget: budgetOfSingleWrites),
        group.formatConflict(at: position) == nil,
        position == start
          || !group.isUnfit(at: position, limits: deviceRoom.limits, isDeviceFull: deviceRoom.isLimited),
        let next = try put(group, from: position, &step, &reclaimer, in: &transaction)
      {
        position = next
        step.records.setPosition(next)
      }
      try step.finish(in: &transaction)
      evictedKeys = commit.evictedKeys(step.outcome.evicted, among: engine.partitions, since: invalidationVersions)
      for key in evictedKeys { key.markLost() }
      // Transactions that make room on a full device take the spare pages.
      transaction.transaction.sparePages = file.layout.sparePages
      try engine.injectFault()
      return (step.outcome, transaction.transaction.transactionNumber, position)
    }
    isCommitted = true
    if position == start, case .dense = file.layout, commit.arePreliminariesCommitted,
      group.formatConflict(at: position) == nil
    {
      commit.attempts.noteEmptyStep(hasMadeRoom: extents?.reclaimProgress != progress)
    } else {
      commit.advance(to: position, secondChances: reclaimer.secondChances, debt: reclaimer.batchDebt)
    }
    publish(outcome, number: number, of: file, &commit, evictedKeys: evictedKeys)
  }

  /// Puts the next item or batch, and returns the position after it. Returns nil if it must wait for the next
  /// transaction.
  private func put(
    _ group: CommitGroup, from position: Int, _ step: inout WriteStep, _ reclaimer: inout SpaceReclaimer,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Int? {
    guard !group.isBatched(position) else {
      return try putBatch(of: group, from: position, &step, &reclaimer, in: &transaction)
    }
    let item = group[position]
    if let draft = item.draft {
      // Newer times of the record that was read need no room. The value of a small record is written again in any case.
      if item.entry.condition != nil, draft.bytes.count >= RecordRenewal.leastValueSize {
        guard try step.allows(item.entry, of: item.partition, in: &transaction) else { return position + 1 }
        if try step.renew(draft, for: item.partition, in: &transaction) { return position + 1 }
      }
      guard try reclaimer.makeRoom(for: draft, &step, in: &transaction) else { return nil }
      // Asked after room is made: the record that it replaces may have been evicted for that.
      guard try step.allows(item.entry, of: item.partition, in: &transaction) else { return position + 1 }
      guard try step.put(draft, for: item.partition, in: &transaction) else { return nil }
    } else if try step.allows(item.entry, of: item.partition, in: &transaction) {
      try step.remove(item.entry.write.key, of: item.partition, in: &transaction)
    }
    return position + 1
  }

  /// Puts all items of a batch in this transaction, or none of them.
  private func putBatch(
    of group: CommitGroup, from position: Int, _ step: inout WriteStep, _ reclaimer: inout SpaceReclaimer,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Int? {
    let unit = group.unit(from: position)
    let size = group.size(of: unit)
    let pages = size.pages
    guard step.touchedPages == 0 || step.touchedPages + pages <= reclaimer.budget else { return nil }
    guard try makeRoom(for: unit, of: group, &step, &reclaimer, in: &transaction) else { return nil }
    // If the evictions and the batch together exceed the budget, the evictions are committed first.
    guard step.touchedPages == 0 || step.touchedPages + pages <= reclaimer.budget else { return nil }
    for index in unit {
      let item = group[index]
      guard try step.allows(item.entry, of: item.partition, in: &transaction) else { continue }
      if let draft = item.draft {
        guard try step.put(draft, for: item.partition, protected: true, in: &transaction) else {
          throw LMDBError(.mapFull, operation: "put a batch", message: "the room for the batch is used up")
        }
      } else {
        try step.remove(item.entry.write.key, of: item.partition, in: &transaction)
      }
    }
    reclaimer.forgetBatch()
    step.endBatch()
    return unit.upperBound
  }

  /// Makes room for all items of a batch. Returns false if the batch must wait for the next transaction.
  private func makeRoom(
    for unit: Range<Int>, of group: CommitGroup, _ step: inout WriteStep, _ reclaimer: inout SpaceReclaimer,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    switch step.file.layout {
    case .ordered:
      return try reclaimer.makeRoom(forBatch: group.size(of: unit), count: unit.count, &step, in: &transaction)
    case .dense:
      let drafts = unit.compactMap { index in group[index].draft.map { ($0, group[index].partition) } }
      return try step.makeRoom(forBatch: drafts, in: &transaction)
    }
  }

  /// Puts the clears and the invalidations of the group, which must precede its writes.
  private func putPreliminaries(
    of group: CommitGroup, _ step: inout WriteStep, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for changes in group.changes {
      if changes.clears { try step.removeAll(of: changes.partition, in: &transaction) }
      if let (invalidations, invalidationVersion) = changes.invalidated {
        try step.put(invalidations, invalidationVersion: invalidationVersion, of: changes.partition, in: &transaction)
      }
    }
    if let unopened = group.unopened { try step.put(unopened, in: &transaction) }
  }

  /// Opens the partitions for which a committed step has written the change of the group. An open partition purges its
  /// records.
  private func openPartitions(_ outcome: StepOutcome, _ commit: inout CommitState) {
    for (partition, isCleared) in outcome.unopened {
      // The file has the change already.
      let opened = engine.partition(named: partition.name, isCommitted: true)
      engine.learnGeneration(of: opened)
      if isCleared { commit.takeCommittedClear(of: opened) }
    }
  }

  /// Publishes a committed step: its invalidations, formats, generations, and counts.
  func publish(
    _ outcome: StepOutcome, number: TransactionNumber, of file: DiskFile, _ commit: inout CommitState,
    evictedKeys: [EvictedKey]
  ) {
    let transaction = outcome.hasChanges ? number : number.previous()
    for (partition, written, row) in outcome.invalidations {
      partition.invalidations.publish(written, row: row, transaction: transaction)
    }
    openPartitions(outcome, &commit)
    for (partition, format) in outcome.formats { partition.formats.noteWritten(format) }
    for changes in commit.group.changes {
      let identity = ObjectIdentifier(changes.partition)
      guard let generation = outcome.generations[identity] else { continue }
      changes.partition.publish(generation: generation, clearCount: changes.clearCount, transaction: transaction)
      if generation == .zero { changes.partition.counters.set(GenerationCounts()) }
      // The counts are nil if the step did not read them. The published counts are then still correct.
      if let counts = outcome.counts[generation] ?? nil { changes.partition.counters.set(counts) }
    }
    file.knownTransaction.store(transaction, ordering: .releasing)
    engine.counters.commits.count()
    commit.note(outcome, evictedKeys: evictedKeys, among: engine.partitions)
    if !outcome.storesByPartition.isEmpty, outages.noteRecord() == .send {
      report(StoreReport(.recovered, "the disk works again", location: engine.directory))
    }
    if outcome.hasDeadGenerations { loadDeadGenerations() }
    engine.noteSizes(of: file)
  }
}
