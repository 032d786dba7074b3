import CisternTesting
import CisternTestSupport

@testable import CisternCore

/// The state that a trial left after all its operations ended. Properties are checked against it.
struct Evidence: Sendable {
  let combination: Combination
  let record: Record
  let statistics: CacheStatistics
  /// The document that a lookup returns.
  let shown: Document?
  /// The document according to the changes that observers received.
  let replayed: Document?
  /// The document that a lookup returns after memory evicted the key. Without a second tier, it equals ``shown``.
  let behindMemory: Document?
  /// The document in another store over the same second tier. Without a second tier, it equals ``shown``.
  let reopened: Document?
  /// The document that a lookup returns after the removal of all values with the tag.
  let afterTagRemoval: Document?
  /// The events that contradicted earlier ones for an observer.
  let auditFindings: [String]
  /// The cache's violated invariants.
  let cacheFindings: [String]

  /// Waits until no operation is in progress, then collects the evidence.
  init(of trial: Trial) async throws {
    let arena = trial.arena
    let cache = arena.cache
    combination = trial.combination
    await arena.waitForFlights()
    // A merging flight watches its key for a short time after its callers have returned.
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
  /// Waits until no fetch is in progress.
  func waitForFlights() async {
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
  }

  /// Waits until the observer has received every change so far.
  func waitForObservers() async {
    tier?.deliverLosses()
    cache.removeAll(tagged: "the last")
    while !audit.hasHeard(ofTag: "the last") { await Task.yield() }
  }

  /// Returns the key's document in another store over this arena's second tier.
  func reopenedValue(as operation: OperationInProgress, else value: Document?) async throws -> Document? {
    guard let tier else { return value }
    let configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    let copy = tier.reopenedAfterCrash()
    let store = try Store(secondTier: copy, memoryLimit: .mebibytes(1), configuration: configuration)
    let cache: Cache<String, Document> = try store.cache(
      Self.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: Self.expiry)
    return cache[Self.key]
  }
}
