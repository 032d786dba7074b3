import Cistern

/// What a ``FaultInjectingTier`` holds: committed records, and the writes that are staged before them. Decides; locks,
/// waits and tells nobody.
struct TierContents {
  struct Record {
    var metadata: RecordMetadata
    var bytes: [UInt8]
    /// Whether its checksum no longer fits.
    var isDamaged = false
    /// The ticket that it was committed with: the order of eviction.
    var ticket: UInt64 = 0
  }

  enum Write {
    case record(key: [UInt8], Record)
    case removal(key: [UInt8])
    case removalOfAll
  }

  struct Partition {
    var departure: @Sendable ([Departure]) -> Void
    var committed: [[UInt8]: Record] = [:]
    /// The newest staged write of each key, nil for a removal.
    var staged: [[UInt8]: (ticket: UInt64, record: Record?)] = [:]
    /// The ticket of the newest removal of all that is staged: what is committed does not read until it is too.
    var cleared: UInt64?
    /// Keys that departed, were not told of, and not written since.
    var departing: Set<[UInt8]> = []
    var statistics = SecondTierStatistics()

    /// What a read finds.
    func record(forKey key: [UInt8]) -> Record? {
      if let staged = staged[key] { return staged.record }
      return cleared == nil ? committed[key] : nil
    }
  }

  /// A partition's keys that left it.
  struct Departures {
    var partition: String
    var list: [Departure]
  }

  var mode = SecondTierStatistics.Mode.active
  var partitions: [String: Partition] = [:]
  /// Writes not yet committed, in the order in which they were staged.
  private var log: [(ticket: UInt64, partition: String, write: Write)] = []
  private(set) var newestTicket: UInt64 = 0
  /// Every ticket up to it was committed, or has failed.
  private(set) var settledTicket: UInt64 = 0
  private var failures: [(tickets: ClosedRange<UInt64>, error: CisternError)] = []

  var stagedCount: Int { log.count }
  var takesWrites: Bool { mode == .active }

  init() {}

  /// What is left of other contents after a crash: what was committed, of every partition.
  init(committedOf other: TierContents) {
    for (name, partition) in other.partitions {
      partitions[name] = Partition(departure: { _ in }, committed: partition.committed)
    }
  }

  mutating func stage(_ write: Write, in name: String) -> UInt64 {
    newestTicket += 1
    log.append((newestTicket, name, write))
    switch write {
    case .record(let key, let record):
      partitions[name]!.staged[key] = (newestTicket, record)
      partitions[name]!.departing.remove(key)
    case .removal(let key):
      partitions[name]!.staged[key] = (newestTicket, nil)
      partitions[name]!.departing.remove(key)
    case .removalOfAll:
      partitions[name]!.staged = [:]
      partitions[name]!.departing = []
      partitions[name]!.cleared = newestTicket
    }
    return newestTicket
  }

  /// Commits the oldest `count` staged writes, or loses them to `failure`.
  mutating func commit(_ count: Int, failure: CisternError?, recordLimit: Int?) -> [Departures] {
    let batch = log.prefix(count)
    guard let first = batch.first, let last = batch.last else { return [] }
    log.removeFirst(batch.count)
    settledTicket = last.ticket
    if let failure { failures.append((first.ticket...last.ticket, failure)) }

    var departed: [String: [Departure]] = [:]
    var names: Set<String> = []
    for entry in batch {
      names.insert(entry.partition)
      let lost = partitions[entry.partition]!.settle(entry.write, ticket: entry.ticket, isWritten: failure == nil)
      if let lost { departed[entry.partition, default: []].append(Departure(key: lost, cause: .notWritten)) }
    }
    for name in names {
      if failure == nil { partitions[name]!.statistics.commits += 1 }
      while let recordLimit, partitions[name]!.committed.count > recordLimit {
        guard let key = partitions[name]!.evictOldest() else { break }
        departed[name, default: []].append(Departure(key: key, cause: .evicted))
      }
    }
    return departed.sorted { $0.key < $1.key }.map { Departures(partition: $0.key, list: $0.value) }
  }

  /// Whether the write of this ticket was committed: nil while it is staged.
  func outcome(of ticket: UInt64) -> Result<Void, CisternError>? {
    guard ticket <= settledTicket else { return nil }
    return failures.first { $0.tickets.contains(ticket) }.map { .failure($0.error) } ?? .success(())
  }
}

extension TierContents.Partition {
  /// Takes what was staged into what is committed, or loses it; the key of a record that was lost and had no successor.
  fileprivate mutating func settle(_ write: TierContents.Write, ticket: UInt64, isWritten: Bool) -> [UInt8]? {
    switch write {
    case .record(let key, var record):
      let isNewest = staged[key]?.ticket == ticket
      if isNewest { staged[key] = nil }
      record.ticket = ticket
      committed[key] = isWritten ? record : nil
      if isWritten { statistics.stores += 1 } else { statistics.failed += 1 }
      return isWritten || !isNewest ? nil : key
    case .removal(let key):
      if staged[key]?.ticket == ticket { staged[key] = nil }
      committed[key] = nil
      if isWritten { statistics.removals += 1 } else { statistics.failed += 1 }
    case .removalOfAll:
      statistics.removals += committed.count
      committed = [:]
      if cleared == ticket { cleared = nil }
    }
    return nil
  }

  /// Evicts a committed record, unless a newer write of its key is staged; whether it did.
  mutating func evict(_ key: [UInt8]) -> Bool {
    guard cleared == nil, staged[key] == nil, committed.removeValue(forKey: key) != nil else { return false }
    statistics.evictions += 1
    return true
  }

  fileprivate mutating func evictOldest() -> [UInt8]? {
    let candidates = committed.filter { staged[$0.key] == nil }
    guard let oldest = candidates.min(by: { $0.value.ticket < $1.value.ticket }), evict(oldest.key) else { return nil }
    return oldest.key
  }
}
