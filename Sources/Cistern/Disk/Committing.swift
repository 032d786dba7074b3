import LMDB

/// How far a round has come, and what is to be told when it is over.
struct Committing {
  let round: CommitRound
  /// The items before it are committed.
  private(set) var position = 0
  /// Whether the removals of all, and the invalidations, are committed.
  private(set) var hasPreliminaries: Bool
  /// Whether a transaction was committed at all, in this file.
  private(set) var hasCommitted = false
  /// Records that had a second turn in this round.
  private(set) var spared = 0
  /// What is still to be evicted for the next batch, where a step was used up by that.
  private(set) var debt: Int?
  /// Numbers of the writes that were given up.
  private(set) var unwritten: Set<UInt64> = []
  /// Whether records are among them; removals are staged again.
  private(set) var hasLosses = false
  private(set) var failures: [CommitProgress.Failure] = []
  /// Why writes were given up that can never be committed; one for each that stood alone, and for each batch.
  private(set) var refusals: [CisternError] = []
  /// What every write of the round failed with, where none was committed.
  private(set) var failureOfAll: CisternError?
  /// What ended the round early.
  private(set) var error: LMDBError?
  private(set) var departures: [(partition: Partition, departures: [Departure])] = []
  /// The numbers of the first items, which are committed: gathered when someone asks.
  private var committed: Set<UInt64> = []
  private var committedCount = 0
  /// How often the map was found full without a step between.
  var reliefs = 0
  /// Whether the file was closed and opened again, because LMDB would not go on.
  var hasReopened = false
  /// Whether the file was set aside. If the empty one that replaced it fails too, the cause is not the file.
  var hasReplaced = false

  init(round: CommitRound) {
    self.round = round
    hasPreliminaries = !round.hasPreliminaries
  }

  var isDone: Bool { position == round.count && hasPreliminaries }

  mutating func advance(to position: Int, spared: Int, debt: Int?) {
    self.position = position
    self.spared += spared
    self.debt = debt
    hasPreliminaries = true
    reliefs = 0
  }

  /// The file was replaced by an empty one: everything is to be put again.
  mutating func restart() {
    position = 0
    debt = nil
    reliefs = 0
    committed = []
    committedCount = 0
    hasPreliminaries = !round.hasPreliminaries
  }

  /// Gives up the next item, or batch: it does not fit, whatever is evicted.
  mutating func skip(_ error: CisternError) {
    let unit = round.unit(from: position)
    for index in unit { giveUp(round[index], error) }
    refusals.append(error)
    position = unit.upperBound
    debt = nil
  }

  /// Gives up the next batch, if it has become more than a transaction can hold; whether it did.
  mutating func skipsUnfit(limit: Int, location: String) -> Bool {
    guard position < round.count, round.isBatched(position),
      round.size(of: round.unit(from: position)).footprint / DiskLimits.pageSize > limit
    else { return false }
    skip(
      CisternError(
        .tooLarge,
        "batches that share keys have become too large for one commit: they may fill half of the disk limit, \(ByteCount.bytes(limit * DiskLimits.pageSize)); nothing of them is on disk",
        location: location))
    return true
  }

  /// Gives up all that is not committed.
  mutating func giveUp(_ error: LMDBError, as failure: CisternError) {
    self.error = error
    for index in position..<round.count { giveUp(round[index], failure) }
    if !hasPreliminaries || position == 0 { failureOfAll = failure }
  }

  private mutating func giveUp(_ item: CommitRound.Item, _ error: CisternError) {
    unwritten.insert(item.entry.number)
    failures.append(CommitProgress.Failure(numbers: item.entry.number...item.entry.number, error: error))
    item.partition.counters.failed.count()
    if case .record(let key, _, _) = item.entry.write {
      hasLosses = true
      departures.append((item.partition, [Departure(key: key, cause: .notWritten)]))
    }
  }

  /// A step was committed: counts what it did, and notes who left.
  mutating func note(_ step: WriteStep, leaving: [Leaving], among partitions: [Partition]) {
    hasCommitted = true
    let outcome = step.outcome
    for partition in partitions {
      let identity = ObjectIdentifier(partition)
      if let count = outcome.storesByPartition[identity] { partition.counters.stores.count(count) }
      if let count = outcome.removalsByPartition[identity] { partition.counters.removals.count(count) }
    }
    note(outcome.evicted, leaving: leaving, among: partitions)
  }

  /// Evictions were committed: counts them, and notes whose end is to be told.
  mutating func note(_ evicted: [EvictedRecord], leaving: [Leaving], among partitions: [Partition]) {
    for partition in partitions {
      let generation = partition.generation
      partition.counters.evictions.count(evicted.count { $0.generation == generation })
      let left = leaving.lazy.filter { $0.partition === partition }.map { Departure(key: $0.key, cause: .evicted) }
      if !left.isEmpty { departures.append((partition, Array(left))) }
    }
  }

  /// Those of the evicted keys that nothing newer stands for.
  ///
  /// - Parameter eras: the newest invalidation of each partition before any of them was evicted.
  mutating func leaving(
    _ evicted: [EvictedRecord], among partitions: [Partition], since eras: [ObjectIdentifier: UInt64],
    putBefore start: Int
  ) -> [Leaving] {
    guard !evicted.isEmpty else { return [] }
    while committedCount < start {
      committed.insert(round[committedCount].entry.number)
      committedCount += 1
    }
    var byGeneration: [UInt64: (partition: Partition, epoch: UInt16)] = [:]
    for partition in partitions {
      let (epoch, generation) = partition.present
      if generation != 0 { byGeneration[generation] = (partition, epoch) }
    }
    return evicted.compactMap { record in
      guard let (partition, epoch) = byGeneration[record.generation] else { return nil }
      // A newer record of the key is staged, or put by this very step: the key stays.
      if let entry = partition.stagedEntry(forKey: record.key.rawSpan), !committed.contains(entry.number) { return nil }
      let era = eras[ObjectIdentifier(partition)] ?? 0
      return Leaving(
        partition: partition, key: record.key, record: DepartedRecord(epoch: epoch, era: era, tags: record.tags))
    }
  }
}

/// A key that a transaction takes out of the file.
struct Leaving {
  let partition: Partition
  let key: [UInt8]
  let record: DepartedRecord

  /// Before the transaction is committed.
  func note() { partition.noteDeparting(key, record) }

  /// The transaction was not committed.
  func withdraw() { partition.departing.remove(key) }
}
