import CisternTesting

@testable import Cistern

/// What a trial left, once nothing is in progress: the properties are checked against it.
struct Evidence: Sendable {
  let combination: Combination
  let record: Record
  let statistics: CacheStatistics
  /// What a look-up finds.
  let shown: Document?
  /// What observers take for the value.
  let replayed: Document?
  /// What a look-up finds after memory has evicted the key; the same as ``shown`` where there is no second tier.
  let behindMemory: Document?
  /// What another store over the same second tier finds; as above.
  let reopened: Document?
  /// What a look-up finds after everything with the tag was removed.
  let afterTagRemoval: Document?
  /// What contradicted itself for an observer.
  let auditFindings: [String]
  /// What does not add up in the cache.
  let cacheFindings: [String]

  /// Waits until nothing is in progress, and looks at everything.
  init(of trial: Trial) async throws {
    let arena = trial.arena
    let cache = arena.cache
    combination = trial.combination
    await arena.waitForFlights()
    // A merging flight watches its key for a moment after its callers were answered.
    while cache.table.watchedCount > 0 { await Task.yield() }
    shown = arena.lookUp()
    await arena.waitForObservers()
    replayed = arena.audit[Arena.key]
    auditFindings = arena.audit.findings
    if arena.kind.keepsEvicted {
      cache.trim(toCost: 0)
      behindMemory = arena.lookUp()
      try await arena.store?.flush()
      arena.notePresenceOnDisk()
      reopened = try await arena.reopenedValue(as: trial.combination.operation, else: behindMemory)
    } else {
      behindMemory = shown
      reopened = shown
    }
    record = arena.journal.record
    statistics = cache.statistics
    cache.removeAll(tagged: Arena.tag)
    let inMemory = cache[Arena.key]
    if arena.kind.keepsEvicted { cache.trim(toCost: 0) }
    afterTagRemoval = inMemory ?? cache[Arena.key]
    cacheFindings =
      cache.checkInvariants()
      + (cache.table.watchedCount == 0 ? [] : ["\(cache.table.watchedCount) keys are still watched"])
  }
}

extension Arena {
  /// Returns when nothing is being fetched.
  func waitForFlights() async {
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
  }

  /// Returns when the observer has been notified of every change so far.
  func waitForObservers() async {
    tier?.deliverDepartures()
    cache.removeAll(tagged: "the last")
    while !audit.hasHeard(ofTag: "the last") { await Task.yield() }
  }

  /// What the key has for another store over the second tier of this one.
  func reopenedValue(as operation: OperationInProgress, else value: Document?) async throws -> Document? {
    guard let tier else { return value }
    var configuration = Store.Configuration()
    configuration.clock = clock
    configuration.taskExecutor = executor
    configuration.respondsToMemoryPressure = false
    let copy = tier.reopenedAfterCrash()
    let store = try Store(secondTier: copy, memoryLimit: .mebibytes(1), configuration: configuration)
    let cache: Cache<String, Document> = try store.cache(
      Self.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: Self.expiry)
    return cache[Self.key]
  }
}
