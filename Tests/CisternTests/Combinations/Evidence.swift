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
  /// The document in another store over the same second tier. Without a second tier, it equals ``shown``. With a
  /// read-only one, it equals ``behindMemory``.
  let reopened: Document?
  /// Whether the file of a read-only store is as the store found it. True for other stores.
  let isFileUnchanged: Bool
  /// The document that a lookup returns after the removal of all values with the tag.
  let afterTagRemoval: Document?
  /// The document that a look-up finds, fresh or stale.
  let found: Document?
  /// The document that a new observer of the key gets first.
  let firstUpdate: Document?
  /// The documents of the other cache for each kind of reader.
  let others: [(place: String, document: Document?)]
  /// The document according to each consumer of contents, with its contradictions.
  let contents: [(name: String, document: Document?, findings: [ContentsHistory<String, Document>.Contradiction])]
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
    // A flight that lost its entry continues. An open circuit breaker does not call the fetch.
    while arena.journal.record.pendingRefreshes > 0, trial.combination.operation != .load(.breaking) {
      await Task.yield()
    }
    // A merging flight watches its key for a short time after its callers have returned.
    while cache.table.watchedCount > 0 { await Task.yield() }
    shown = arena.lookUp()
    found = cache.find(Arena.key)?.value
    // Values in grace are read differently. Reading the others as well would take long.
    firstUpdate = shown == nil && found != nil ? await arena.firstUpdate() : found
    await arena.waitForObservers()
    await arena.waitForContents()
    contents = arena.contents.elements.map { ($0.name, $0[Arena.key], $0.findings) }
    replayed = arena.audit[Arena.key]
    auditFindings = arena.audit.findings
    var others = [(place: "in memory", document: arena.other?[Arena.key])]
    if arena.kind.hasSecondTier {
      cache.trim(toCost: 0)
      if arena.kind.isWritable { arena.other?.trim(toCost: 0) }
      behindMemory = arena.lookUp()
      others.append(("behind memory", arena.other?[Arena.key]))
      try await arena.store?.flush()
      arena.notePresenceOnDisk()
      let copy = try await arena.reopenedValues(else: behindMemory)
      reopened = copy.document
      if let other = copy.other { others.append(("after a restart", other)) }
    } else {
      behindMemory = shown
      reopened = shown
    }
    isFileUnchanged = arena.file?.isUnchanged ?? true
    self.others = trial.combination.writesBoth ? others : []
    record = arena.journal.record
    statistics = cache.statistics
    cache.removeAll(tagged: Arena.tag)
    let inMemory = cache[Arena.key]
    if arena.kind.hasSecondTier { cache.trim(toCost: 0) }
    afterTagRemoval = inMemory ?? cache[Arena.key]
    cacheFindings =
      cache.checkInvariants()
      + (cache.table.watchedCount == 0 ? [] : ["\(cache.table.watchedCount) keys are still watched"])
  }
}

extension Evidence {
  /// Whether the key's value is still available after memory evicts it.
  var keepsEvicted: Bool { combination.kind.isWritable || record.isOnlyInFile }
}

extension Record {
  /// Whether the file of a read-only store has the value of the key, and no operation has changed it.
  var isOnlyInFile: Bool {
    markInFile != nil && stored.count == 1 && edits.isEmpty && joint.isEmpty && equalWrites == 0
      && fetches.allSatisfy { $0.hasFailed || $0.effect == .returning } && !losses.contains { $0.kind == .foreignWrite }
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
    announceEnd()
    while !audit.hasHeardEnd { await Task.yield() }
  }

  /// Returns the first value for a new observer of the key.
  func firstUpdate() async -> Document? {
    var iterator = cache.valueUpdates(forKey: Self.key).makeAsyncIterator()
    return await iterator.next() ?? nil
  }

  /// Returns the key's document in another store over this arena's second tier, and that of the other cache.
  func reopenedValues(else value: Document?) async throws -> (document: Document?, other: Document??) {
    guard let tier, kind.isWritable else { return (value, .none) }
    let configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    let copy = tier.afterCrash()
    var settings = CacheConfiguration<Document>(weigher: { _ in 1 })
    settings.schema = schema
    let store = try Store(secondTier: copy, memoryLimit: .mebibytes(1), configuration: configuration)
    let cache: Cache<String, Document> = try store.cache(
      Self.partition, codec: DocumentCodec(), keyedBy: String.self, expiry: Self.expiry,
      configuration: settings)
    return (cache[Self.key], other == nil ? .none : .some(try Self.otherCache(of: store)[Self.key]))
  }
}
