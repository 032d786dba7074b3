import Synchronization

/// Loads of values that memory does not have: joins and leads flights, fetches, and publishes.
///
/// The steps of a load, in order. A file name in parentheses tells where the step is:
///
/// 1. ``load(_:)`` begins, waits if it must, and returns the result (`FlightResult.swift`; with timeouts or a fallback,
///    `Loader+Waiting.swift`).
/// 2. ``begin(_:_:owner:_:)`` calls ``findJoinOrLead(_:_:priority:work:lendsPermit:)``, which asks the entry table in a
///    critical section: a hit, a flight to join, or a new flight to lead. A leader then looks in the second tier.
/// 3. ``start(_:for:priority:)`` starts the flight's task, and ``run(_:for:)`` fetches in it.
/// 4. ``publish(_:since:)`` stores the value, if the entry is still the flight's (`WritePipeline+Applying.swift`).
/// 5. The flight completes, and its waiters resume. ``fail(_:of:_:)`` ends a flight without a value.
@usableFromInline
final class Loader<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Request = LoadRequest<Key, Value>

  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let lifetimes: Lifetimes<Key, Value>
  @usableFromInline let reports: CacheReports
  @usableFromInline let records: SecondTierReader<Key, Value>
  @usableFromInline let writes: WritePipeline<Key, Value>
  @usableFromInline let conditionalWriter: ConditionalWriter<Key, Value>
  @usableFromInline let edits: EditedKeys<Key, Value>
  let events: EventRegistry<Key>
  @usableFromInline let settings: LoadSettings
  @usableFromInline let flightOptions: EntryTable<Key, Value>.FlightOptions
  /// Whether a write reads the cached value first, to merge the new value with it or to compare the two.
  @usableFromInline let dependsOnCached: Bool

  init(
    _ parts: CacheParts<Key, Value>, conditionalWriter: ConditionalWriter<Key, Value>, settings: LoadSettings,
    flightOptions: EntryTable<Key, Value>.FlightOptions
  ) {
    table = parts.table
    secondTier = parts.secondTier
    lifetimes = parts.lifetimes
    reports = parts.reports
    records = conditionalWriter.records
    writes = conditionalWriter.writes
    self.conditionalWriter = conditionalWriter
    edits = parts.edits
    events = parts.events
    self.settings = settings
    self.flightOptions = flightOptions
    dependsOnCached = conditionalWriter.dependsOnCached
  }
}

// MARK: 1. Load

extension Loader {
  /// Returns a value of memory, joins a flight, or leads a new one.
  ///
  /// Inlined and minimal, like ``attempt(_:)``: the frames of a waiting task must fit into the first piece of the
  /// task's stack. Functions that are not inlined get the parts of the request, because the frame of the task would
  /// hold the request.
  ///
  /// - Parameter request: The load.
  /// - Returns: The value.
  /// - Throws: The error of the fetch, `CancellationError`, and the errors of the policy.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func load(_ request: Request) async throws -> Loaded<Value> {
    if let loaded = try await attempt(request) { return loaded }
    return try await loadAgain(request.key, request.options, owner: request.owner, request.fetch)
  }

  /// Returns a value of memory, joins a flight, or leads a new one. Returns nil if the caller must look again.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func attempt(_ request: Request) async throws -> Loaded<Value>? {
    // A task that is cancelled before it begins starts nothing.
    try Task.checkCancellation()
    // The value must be newer than the invalidations before the load.
    let invalidationVersion = table.newestInvalidation.load(ordering: .acquiring)
    switch try begin(request.key, request.options, owner: request.owner, request.fetch) {
    case .loaded(let loaded):
      return loaded
    case .waiting(let flight, let waiter, let source):
      let outcome = await flight.wait(as: waiter)
      let result = FlightResult(outcome, of: flight, from: source, since: invalidationVersion)
      return try use(result, of: request.key, for: request.options)
    case .waitingWithLimits(let load):
      return try await waitWithLimits(load)
    }
  }

  /// Repeats a load until it has a result.
  @usableFromInline
  @inline(never)
  nonisolated(nonsending) func loadAgain(
    _ key: HashedKey<Key>, _ options: LoadOptions?, owner: any AnyObject & Sendable, _ fetch: Request.Fetch
  ) async throws -> Loaded<Value> {
    let request = Request(key, options: options, owner: owner, fetch: fetch)
    while true {
      if let loaded = try await attempt(request) { return loaded }
    }
  }

  // MARK: 2. Begin

  /// Returns a value of memory, joins a flight, or leads a new one, up to the point where the load must wait.
  ///
  /// Not inlined, so that the frames of waiting tasks are small. A join copies no reference of a request.
  ///
  /// - Returns: The value, or the wait for a flight.
  /// - Throws: `CisternError` if the policy does not fetch and neither tier has a value.
  @inlinable
  @inline(never)
  func begin(
    _ key: HashedKey<Key>, _ options: LoadOptions?, owner: any AnyObject & Sendable, _ fetch: Request.Fetch
  ) throws -> LoadStart {
    func request() -> Request { Request(key, options: options, owner: owner, fetch: fetch) }
    let priority = Task.currentPriority
    switch findJoinOrLead(key, options, priority: priority) {
    case .use(let loaded):
      return .loaded(loaded)
    case .useAndRefresh(let loaded, let flight):
      startRefresh(flight, for: request(), priority: priority)
      return .loaded(loaded)
    case .join(let flight, let waiter, let waitLimits):
      return wait(for: flight, as: waiter, .joined, waitLimits, request())
    case .lead(let flight, let waiter, let waitLimits):
      start(flight, for: request(), priority: priority)
      return wait(for: flight, as: waiter, .fetched, waitLimits, request())
    case .fail:
      throw records.notCached(key)
    }
  }

  /// Finds the value of a key, joins its flight, or leads a new one.
  ///
  /// Repeats until it has one of these. Each repetition is one critical section, and can look in the second tier
  /// afterwards.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: The options of the load; nil for those of the cache.
  ///   - priority: The priority of the caller.
  ///   - work: The work of a new flight, if it fetches for other keys, too. If the second tier has the value, the key's
  ///     flight leaves this work.
  ///   - lendsPermit: Whether the wait must lend the permit of a fetch that encloses it.
  /// - Returns: The action.
  @inlinable
  @inline(__always)
  func findJoinOrLead(
    _ key: HashedKey<Key>, _ options: LoadOptions?, priority: TaskPriority, work: FlightWork? = nil,
    lendsPermit: @autoclosure () -> Bool = WorkIdentity.enclosing != nil
  ) -> LoadAction {
    let policy = options?.policy ?? settings.policy
    var demand = policy.demand
    demand.isShownByEdits = records.isShownByEdits(key.key)
    // Read once: an older value of the second tier must not be returned after an invalidation since its look-up.
    let invalidationVersion = table.newestInvalidation.load(ordering: .acquiring)
    // The older value that the second tier had beside a flight. The key can have changed before a later flight.
    var lookedUp: (fallback: Fallback<Value>?, flight: Flight<Value>)?
    while true {
      let decision = table.load(key, at: lifetimes.now(), accepting: demand, priority: priority) {
        table.makeFlight(for: key, work: work, priority: priority, flightOptions: flightOptions)
      }
      switch decision {
      case .hit(let held, let isStale):
        records.noteUse(of: key)
        return .use(loaded(held, isStale: isStale, for: options))
      case .refresh(let held, let flight, let isStale):
        records.noteUse(of: key)
        return .useAndRefresh(loaded(held, isStale: isStale, for: options), flight)
      case .notCached:
        return records.find(key, accepting: policy.demand).map { .use($0) } ?? .fail
      case .expired:
        records.endExpired(key)
      case .lookInSecondTier(let flight):
        switch records.lookUp(beside: flight, since: invalidationVersion, of: key, accepting: demand) {
        case .loaded(let loaded): return .use(loaded)
        case .nothing(let fallback): lookedUp = (fallback, flight)
        }
        demand.hasLookedInSecondTier = true
      case .join(let flight, let waiter, _, let fallback):
        var secondTierFallback: Fallback<Value>?
        if let lookedUp {
          switch records.lookUp(beside: flight, after: lookedUp, since: invalidationVersion, of: key, demand) {
          case .loaded(let loaded):
            flight.withdraw(waiter)
            return .use(loaded)
          case .nothing(let fallback): secondTierFallback = fallback
          }
        }
        let waitLimits = waitLimits(
          options, invalidationVersion: invalidationVersion, fallback: fallback, secondTierFallback: secondTierFallback,
          lendsPermit: lendsPermit())
        return .join(flight, waiter: waiter, waitLimits)
      case .lead(let flight, let waiter, let fallback, let looksInSecondTier):
        var secondTierFallback: Fallback<Value>?
        if looksInSecondTier {
          switch records.lookUp(for: flight, of: key, accepting: demand) {
          case .completed(let loaded):
            // The key needs no fetch, so it must not keep the fetch for the others alive.
            work?.removeFlight()
            return .use(loaded)
          case .lookAgain:
            work?.removeFlight()
            continue
          case .refreshing(let loaded): return .useAndRefresh(loaded, flight)
          case .nothing(let fallback): secondTierFallback = fallback
          }
        }
        table.countMiss()
        let waitLimits = waitLimits(
          options, invalidationVersion: invalidationVersion, fallback: fallback, secondTierFallback: secondTierFallback,
          lendsPermit: lendsPermit())
        return .lead(flight, waiter: waiter, waitLimits)
      }
    }
  }

  // MARK: 3. Fetch

  /// Starts the task of a flight. It inherits the caller's task-local values.
  @inlinable
  @inline(__always)
  func start(_ flight: Flight<Value>, for request: Request, priority: TaskPriority) {
    noteFetch(by: flight)
    // The closure is written twice for speed. A task without an executor preference checks less at each switch. A
    // closure that is passed on needs another closure and an asynchronous frame.
    if flightOptions.hasTaskExecutor { return startOnExecutor(flight, for: request, priority: priority) }
    flight.work.attach(Task(priority: priority) { [self] in await run(flight, for: request) })
  }

  /// Runs the second half of a flight: fetches, publishes, and completes. Does nothing if all waiters left before it
  /// began.
  @inlinable
  @inline(__always)
  func run(_ flight: Flight<Value>, for request: Request) async {
    let (identity, isCancelled) = (flight.work.identity, flight.work.isCancelled)
    guard !isCancelled else { return }
    let key = request.key
    guard case .plain(let fetch) = request.fetch else { return await runWithContext(flight, for: request) }
    let base = mergeBase(of: flight, for: key)
    defer { base?.end() }
    do {
      let value = try await identity.fetching {
        try await settings.fetchWithRetries(hash: key.hash, clock: lifetimes.clock) { () async throws -> Value in
          try await fetch(key.key)
        }
      }
      let published = try await publish(
        FetchedValue(value, of: flight, for: key, options: request.options), since: base)
      flight.complete(.value(published))
    } catch {
      fail(flight, of: key, .failed(error))
    }
  }

  // MARK: 4. Publish

  /// Stores a fetched value, if the entry is still the flight's.
  ///
  /// - Parameters:
  ///   - fetched: The value.
  ///   - base: The state of the key before the fetch; nil if publishing depends on the entry alone.
  /// - Returns: The value for the waiters. If the cache merges, it is merged with the cached one.
  /// - Throws: `CisternError` if the value cannot be merged.
  @inlinable
  @inline(__always)
  func publish(_ fetched: FetchedValue<Key, Value>, since base: MergeBase<Key, Value>?) async throws -> Value {
    await secondTier?.partition.waitForRoom()
    if let base { return try conditionalWriter.mergeAndPublish(fetched, since: base) }
    store(fetched)
    return fetched.value
  }

  /// Stores a fetched value that does not depend on the cached one.
  ///
  /// Not inlined, so that the frame of the flight's task contains neither the record nor the write.
  @inlinable
  @inline(never)
  func store(_ fetched: FetchedValue<Key, Value>) {
    let (key, flight) = (fetched.key, fetched.flight)
    if writes.storesPlainly, fetched.options?.writeOptions.isPlain ?? true,
      table.publish(fetched.value, cost: writes.cost(of: fetched.value, encodedSize: 1), of: flight, for: key)
    {
      return flight.noteStored(.plain(until: .distantFuture))
    }
    let encoded = writes.encode(
      fetched.value, for: key, expiry: fetched.options?.writeOptions.expiry,
      tags: fetched.options?.writeOptions.namedTags ?? [])
    records.noticeExpiry(of: key)
    let isStored = writes.store(encoded, of: key, options: StoringOptions(if: .own(flight))) != nil
    if !isStored, !conditionalWriter.publishBelowEdits(fetched) { table.endWithoutStoring(flight, of: key) }
    if let preparedValue = encoded.preparedValue {
      if isStored { flight.noteStored(preparedValue.timing) }
    } else {
      // An expired value was not written, so its tags were not compared with invalidations.
      table.noteUnstoredResult(of: flight)
    }
  }
}
