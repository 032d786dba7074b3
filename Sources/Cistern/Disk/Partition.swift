import Locking
import Synchronization

/// One cache's part of the disk tier, shared by all who opened the directory in this process.
///
/// Everything in a partition belongs to a generation. To remove it all is to begin a new one: what is staged is let go,
/// what is committed is no longer looked at, and the old generation's records are purged behind.
final class Partition: Sendable {
  let name: String
  let staging = StagingArea()
  let counters = PartitionCounters()
  let departing = DepartingKeys()
  let invalidations = InvalidationTable()
  let formats = PartitionFormats()
  /// The epoch, which every removal of all raises, in the upper 16 bits; below it the generation whose records are read,
  /// zero for none. One word, so that a removal of all is one step for readers of staged and of committed writes.
  private let visible = Atomic<UInt64>(0)
  /// The last commit that is known not to have changed the generation, beyond ``DiskFile/knownTransaction``.
  let knownTransaction = Atomic<UInt>(0)
  /// Whether the writer thread should come by. Lowered by it before it looks; raised by others after they changed something.
  let isDirty = Atomic<Bool>(false)
  /// Also orders every change of `visible`.
  private let control = Guarded(Control())

  private struct Control: Sendable {
    /// The ticket of the newest removal of all that the writer thread has not taken.
    var pendingRemoval: UInt64?
    /// Whether one was taken and is not yet committed.
    var isCommittingRemoval = false
    var handlers: [Int: @Sendable ([Departure]) -> Void] = [:]
  }

  init(name: String) {
    self.name = name
  }

  // MARK: Reading

  static func epoch(of word: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: word >> 48) }
  static func generation(of word: UInt64) -> UInt64 { word & (1 << 48 - 1) }

  /// How often the partition was emptied, modulo 2¹⁶. Entries of another epoch than the present are void; they are swept
  /// out in the same call that made them so, long before the number comes again.
  @inline(__always)
  var epoch: UInt16 { Partition.epoch(of: visible.load(ordering: .acquiring)) }

  /// The generation whose records are read; zero for none.
  @inline(__always)
  var generation: UInt64 { Partition.generation(of: visible.load(ordering: .acquiring)) }

  /// The epoch, and the generation that is read in it.
  var present: (epoch: UInt16, generation: UInt64) {
    let word = visible.load(ordering: .acquiring)
    return (Partition.epoch(of: word), Partition.generation(of: word))
  }

  /// The staged write of the key; nil where none is.
  @inline(__always)
  func stagedEntry(forKey key: RawSpan) -> StagedEntry? {
    if staging.isEmpty { return nil }
    guard let entry = staging.entry(forKey: key), entry.epoch == epoch else { return nil }
    return entry
  }

  /// Whether the staged write is a record that is to be shown.
  func shows(_ entry: StagedEntry) -> Bool {
    guard case .record(let key, let metadata, _) = entry.write else { return false }
    return !invalidations.conceals(metadata, key: key.rawSpan)
  }

  // MARK: Staging

  /// Takes the write; `makeNumber` is called at the point that orders it among the key's writes.
  func stage(_ write: StagedWrite, batch: UInt64 = 0, makeNumber: () -> UInt64) -> StagingChange {
    staging.stage(write, batch: batch) {
      // Inside the lock that the writer thread takes after it lowered the mark, and before the number, up to which it
      // takes all: one of the two sees the other.
      if !isDirty.load(ordering: .sequentiallyConsistent) { isDirty.store(true, ordering: .sequentiallyConsistent) }
      let number = makeNumber()
      departing.remove(write.key)
      // In here, so that whoever stages an invalidation afterwards finds the write among what is handed over with it.
      guard case .record(let key, let metadata, _) = write, invalidations.conceals(metadata, key: key.rawSpan) else {
        return (number, epoch, nil)
      }
      return (number, epoch, .removal(key: key))
    }
  }

  // MARK: Invalidation

  /// Takes an invalidation; `makeNumber` is called at the point that orders it among the partition's writes.
  func stageInvalidation(
    _ invalidation: Invalidation, limit: Int, makeNumber: () -> UInt64
  ) -> (era: UInt64, number: UInt64, change: InvalidationTable.Change) {
    invalidations.stage(invalidation, limit: limit) {
      isDirty.store(true, ordering: .sequentiallyConsistent)
      return makeNumber()
    }
  }

  // MARK: Removal of all

  /// Lets go of everything; `makeNumber` is called at the point that orders it among the partition's writes.
  /// `isFirst` tells whether no earlier removal of all still waits for the writer thread.
  func removeAll(makeNumber: () -> UInt64) -> (number: UInt64, isFirst: Bool, freed: (bytes: Int, count: Int)) {
    let (number, isFirst) = control.withLock { control in
      // Before the number, up to which the writer thread takes all of whoever is marked.
      isDirty.store(true, ordering: .sequentiallyConsistent)
      let number = makeNumber()
      let isFirst = control.pendingRemoval == nil
      control.pendingRemoval = number
      let word = visible.load(ordering: .relaxed)
      // Nothing of the old generation is read from here on, staged or committed.
      visible.store(UInt64(Partition.epoch(of: word) &+ 1) << 48, ordering: .sequentiallyConsistent)
      return (number, isFirst)
    }
    departing.removeAll()
    let freed = staging.begin(epoch: epoch)
    return (number, isFirst, freed)
  }

  /// Hands what was staged to the writer thread, the removal of all that came before it first.
  func beginCommitting() -> PartitionBatch {
    control.withLock { control in
      // The invalidations before the writes: all that was staged before one of them is handed over with it at the latest.
      let invalidated = invalidations.beginCommitting()
      let (writes, links) = staging.beginCommitting()
      let batch = PartitionBatch(
        partition: self, epoch: epoch, removesAll: control.pendingRemoval != nil, invalidated: invalidated,
        writes: writes, links: links)
      control.isCommittingRemoval = control.pendingRemoval != nil
      control.pendingRemoval = nil
      return batch
    }
  }

  /// The batch is committed, and the partition's generation is this one (zero for none).
  func publish(generation: UInt64, epoch: UInt16, transaction: UInt) {
    control.withLock { control in
      control.isCommittingRemoval = false
      if knownTransaction.load(ordering: .relaxed) < transaction {
        knownTransaction.store(transaction, ordering: .releasing)
      }
      // Emptied meanwhile: the generation is to be removed before anyone reads it.
      guard self.epoch == epoch else { return }
      visible.store(UInt64(epoch) << 48 | generation, ordering: .releasing)
    }
  }

  /// The batch was not committed: a removal of all in it is still to be done. False where a later one is waiting anyway.
  func restoreRemoval(number: UInt64) -> Bool {
    let isRestored = control.withLock { control in
      control.isCommittingRemoval = false
      if control.pendingRemoval != nil { return false }
      control.pendingRemoval = number
      return true
    }
    isDirty.store(true, ordering: .sequentiallyConsistent)
    return isRestored
  }

  /// A snapshot has shown the partition's generation as of `transaction`, by whomever it was committed.
  func learn(generation: UInt64, transaction: UInt) {
    control.withLock { control in
      guard transaction > knownTransaction.load(ordering: .relaxed) else { return }
      // This process's own removal of all comes after whatever was committed.
      if control.pendingRemoval == nil, !control.isCommittingRemoval {
        visible.store(UInt64(epoch) << 48 | generation, ordering: .releasing)
      }
      knownTransaction.store(transaction, ordering: .releasing)
    }
  }

  /// The file was replaced by an empty one. What is staged stays; answers how much more is, for the new file.
  func forgetFile() -> Int {
    control.withLock { control in
      visible.store(UInt64(epoch) << 48, ordering: .releasing)
      knownTransaction.store(0, ordering: .releasing)
    }
    isDirty.store(true, ordering: .sequentiallyConsistent)
    formats.forgetFile()
    return invalidations.forgetFile()
  }

  // MARK: Departures

  /// Notes that a key leaves, unless it was written anew. Before the commit that takes it out can be seen: nobody may
  /// find it gone before its end is told.
  func noteDeparting(_ key: [UInt8], _ record: DepartedRecord) {
    staging.unlessStagedAnew(key) { departing.insert(key, record) }
  }

  /// Whether the key left, its end has not been told, and it was not removed with others since.
  func isDeparting(_ key: RawSpan) -> Bool {
    departing.record(ofKey: key).map { stands($0, forKey: key) } ?? false
  }

  /// Ends its departure; whether it was neither written since nor removed with others: its end is still to be told.
  func endDeparture(of key: RawSpan) -> Bool {
    departing.remove(key.copiedBytes()).map { stands($0, forKey: key) } ?? false
  }

  private func stands(_ record: DepartedRecord, forKey key: RawSpan) -> Bool {
    record.epoch == epoch && !invalidations.conceals(record, key: key)
  }

  func addHandler(_ handler: @escaping @Sendable ([Departure]) -> Void, for owner: Int) {
    control.withLock { $0.handlers[owner] = handler }
  }

  func removeHandler(for owner: Int) {
    // Freed outside the lock: it is the user's.
    _ = control.withLock { $0.handlers.removeValue(forKey: owner) }
  }

  /// Tells those who opened the partition; outside all locks and transactions.
  func report(_ departures: [Departure]) {
    guard !departures.isEmpty else { return }
    let handlers = control.withLock { Array($0.handlers.values) }
    for handler in handlers { handler(departures) }
    // Where nobody listens any more, nobody has to be told.
    for departure in departures { departing.remove(departure.key) }
  }
}

/// What the writer thread took from a partition.
struct PartitionBatch: Sendable {
  let partition: Partition
  /// Writes of another epoch are void.
  let epoch: UInt16
  /// Whether everything committed before goes first.
  let removesAll: Bool
  /// The invalidations, and the newest number of the partition; nil where none of these is to be written.
  let invalidated: (invalidations: [Invalidation: UInt64], era: UInt64)?
  let writes: [StagedWrites]
  let links: BatchLinks
}
