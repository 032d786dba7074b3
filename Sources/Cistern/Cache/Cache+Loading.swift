import Synchronization

extension Cache {
  /// The value of a key; fetched, where neither tier has it, once for all who ask meanwhile.
  ///
  /// - A hit returns without suspending, on the caller's actor. So does a value in grace, by default; it is fetched anew
  ///   in the background, once.
  /// - Where a flight for the key is on its way, the caller joins it: `fetch` is not called.
  /// - Else `fetch` runs in a task of its own, at the highest priority among the callers that wait and with this
  ///   caller's task-local values. What it brings is stored in both tiers before anyone gets it, unless the key was
  ///   set or removed meanwhile: then it goes to those who waited, and nowhere else.
  /// - An error of `fetch` goes to all who wait, and is not kept: asking again, also from a `catch` block, fetches again.
  /// - A cancelled caller gets `CancellationError` at once, and the others are untouched. With the last of them the
  ///   flight is cancelled, unless ``CacheConfiguration/completesAbandonedFlights`` asks otherwise.
  ///
  /// Throws what `fetch` throws, `CancellationError`, and `CisternError` where the policy says so
  /// (``LoadPolicy/cachedOnly``, ``LoadPolicy/timingOut(after:)``). Throws `CisternError` with the code
  /// ``CisternError/Code/cyclicLoad`` inside a fetch that would wait for itself.
  ///
  /// - Parameters:
  ///   - key: what is asked for.
  ///   - expiry: the lifetime of a fetched value; nil for what the value itself or the cache says.
  ///   - tags: what a fetched value can be removed by, with others: ``removeAll(tagged:context:)``.
  ///   - policy: what is accepted, and for how long the caller waits; nil for the cache's.
  ///   - fetch: gets the value from where it comes from.
  @inlinable
  public nonisolated(nonsending) func value(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    let hash = table.hash(key)
    if let value = usableInMemory(key, hash: hash, accepting: (policy ?? loading.policy).demand) { return value }
    let terms = LoadTerms.unlessUsual(expiry: expiry, tags: tags, policy: policy)
    return try await load(key, hash: hash, on: terms, fetch: fetch).value
  }

  /// As ``value(forKey:expiry:tags:policy:fetch:)``, and tells where the value came from.
  public nonisolated(nonsending) func loadedValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    let hash = table.hash(key)
    if let value = usableInMemory(key, hash: hash, accepting: (policy ?? loading.policy).demand.freshOnly) {
      return Loaded(value: value, source: .memory)
    }
    let terms = LoadTerms.unlessUsual(expiry: expiry, tags: tags, policy: policy)
    return try await load(key, hash: hash, on: terms, fetch: fetch)
  }

  /// The value of a key from either tier, fresh or in grace, and where it came from. Never fetches and never suspends.
  ///
  /// The same as a load with ``LoadPolicy/cachedOnly``. Throws `CisternError` with the code
  /// ``CisternError/Code/notCached`` if neither tier has the value. ``value(forKey:)`` returns nil instead, also for a value
  /// in grace.
  public func cachedValue(forKey key: Key) throws(CisternError) -> Loaded<Value> {
    let hash = table.hash(key)
    if let value = usableInMemory(key, hash: hash, accepting: Demand(stale: .never, fetches: false)) {
      return Loaded(value: value, source: .memory)
    }
    if let value = usableInMemory(key, hash: hash, accepting: LoadPolicy.cachedOnly.demand) {
      return Loaded(value: value, source: .memory, isStale: true)
    }
    return try cachedOnly(key, hash: hash, policy: .cachedOnly)
  }

  /// Fetches the key anew, whatever is cached, and returns what came; joins a flight that is on its way. The older value
  /// stays readable meanwhile, and stays where the fetch fails.
  ///
  /// The same as a load with ``LoadPolicy/reload``. Throws what `fetch` throws, and `CancellationError`.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func refreshValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    try await value(forKey: key, expiry: expiry, tags: tags, policy: .reload, fetch: fetch)
  }

  /// A value that memory has and that is returned at once, with nothing to begin: a fresh one, or a stale one that is
  /// accepted and whose refresh is on its way, or not due.
  @inlinable
  func usableInMemory(_ key: Key, hash: UInt64, accepting demand: Demand) -> Value? {
    guard demand.acceptsFresh else { return nil }
    switch table.lookUp(key, hash: hash, at: now(), accepting: demand) {
    case .hit(let value):
      return value
    case .hitToNote(let value, let uses):
      writeUse(uses, ofKey: key, hash: hash)
      return value
    case .absent, .stale, .expired:
      return nil
    }
  }
}

// MARK: The way of a load

extension Cache {
  /// Hits, joins or leads.
  @inlinable
  nonisolated(nonsending) func load(
    _ key: Key, hash: UInt64, on terms: LoadTerms?,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    while true {
      // Cancelled before it began: nothing starts.
      try Task.checkCancellation()
      // What it gets must be newer than what was invalidated before it asked.
      let era = table.newestInvalidation.load(ordering: .acquiring)
      switch try begin(key, hash: hash, on: terms, fetch: fetch) {
      case .loaded(let loaded):
        return loaded
      case .waiting(let flight, let waiter, let source, nil):
        do {
          let value = try await flight.wait(as: waiter)
          if flight.isInvalidated(since: era) || flight.disappoints((terms?.policy ?? loading.policy).demand) {
            continue
          }
          return Loaded(value: value, source: source)
        } catch is LookAgain {
          // The flight brought nothing that this caller may have. It knows how to ask for it.
        }
      case .waiting(let flight, let waiter, let source, let patience?):
        let wait = Wait(flight: flight, waiter: waiter, source: source, patience: patience)
        return try await loadPatiently(wait, forKey: key, hash: hash, on: terms, fetch: fetch)
      }
    }
  }

  /// How a load goes on.
  @usableFromInline
  enum Beginning {
    /// Its value is there.
    case loaded(Loaded<Value>)
    /// It waits for a flight, as the waiter with this number; with patience where it does so not for ever, or has
    /// something instead.
    case waiting(Flight<Value>, waiter: Int, Loaded<Value>.Source, Patience<Value>?)
  }

  /// Hits, joins or leads, up to where it has to wait. Apart from the waiting, and not inlined, so that the frames of
  /// those who wait are small.
  @inlinable
  @inline(never)
  func begin(
    _ key: Key, hash: UInt64, on terms: LoadTerms?, fetch: @escaping @Sendable (Key) async throws -> Value
  ) throws -> Beginning {
    let policy = terms?.policy ?? loading.policy
    let storing = terms?.storing ?? Storing()
    let priority = Task.currentPriority
    var demand = policy.demand
    /// The older value, if the second tier alone has it.
    var behind: Fallback<Value>?
    while true {
      let era = table.newestInvalidation.load(ordering: .acquiring)
      let decision = table.load(key, hash: hash, at: now(), accepting: demand, priority: priority) {
        table.makeFlight(forKey: key, hash: hash, priority: priority, pilot: pilot)
      }
      switch decision {
      case .hit(let value, let isStale):
        noteUse(ofKey: key, hash: hash)
        return .loaded(Loaded(value: value, source: .memory, isStale: isStale))
      case .refresh(let value, let flight, let isStale):
        start(flight, forKey: key, hash: hash, priority: priority, storing: storing, fetch: fetch)
        noteUse(ofKey: key, hash: hash)
        return .loaded(Loaded(value: value, source: .memory, isStale: isStale))
      case .notCached:
        return .loaded(try cachedOnly(key, hash: hash, policy: policy))
      case .expired:
        endExpired(key, hash: hash)
      case .lookBehind(let flight):
        switch lookBehind(flight, since: era, forKey: key, hash: hash, accepting: demand) {
        case .loaded(let loaded): return .loaded(loaded)
        case .nothing(let instead): behind = instead
        }
        demand.hasLookedBehind = true
      case .join(let flight, let waiter, _, let instead):
        let patience = patience(terms, era: era, instead: instead, behind: behind)
        return .waiting(flight, waiter: waiter, .joined, patience)
      case .lead(let flight, let waiter, let instead, let looksBehind):
        if looksBehind {
          switch landFromSecondTier(flight, forKey: key, hash: hash, accepting: demand) {
          case .landed(let loaded): return .loaded(loaded)
          case .lookAgain: continue
          case .refreshing(let loaded):
            start(flight, forKey: key, hash: hash, priority: priority, storing: storing, fetch: fetch)
            return .loaded(loaded)
          case .nothing(let instead): behind = instead
          }
        }
        table.countMiss()
        start(flight, forKey: key, hash: hash, priority: priority, storing: storing, fetch: fetch)
        let patience = patience(terms, era: era, instead: instead, behind: behind)
        return .waiting(flight, waiter: waiter, .fetched, patience)
      }
    }
  }

  /// Starts the second half of a flight, in a task of its own.
  @inlinable
  func start(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, priority: TaskPriority, storing: Storing,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    noteFetch(by: flight)
    flight.work.startTask {
      // The same twice, as the coalescer's.
      if let taskExecutor = pilot.taskExecutor {
        flight.work.run(
          Task(executorPreference: taskExecutor, priority: priority) { [self] in
            await fly(flight, forKey: key, hash: hash, storing: storing, fetch: fetch)
          })
      } else {
        flight.work.run(
          Task(priority: priority) { [self] in
            await fly(flight, forKey: key, hash: hash, storing: storing, fetch: fetch)
          })
      }
    }
  }

  /// The second half of a flight: fetch, publish, land; nothing where all waiters left before it began.
  @inlinable
  @inline(__always)
  func fly(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, storing: Storing,
    fetch: @Sendable (Key) async throws -> Value
  ) async {
    guard !flight.work.isCancelled else { return }
    let departure = departure(of: flight, hash: hash)
    defer { departure?.end() }
    do {
      let value = try await loading.attempt(hash: hash, clock: clock) { () async throws -> Value in
        try await fetch(key)
      }
      let published = try await publish(
        value, of: flight, since: departure, forKey: key, hash: hash, storing: storing)
      flight.land(.success(published))
    } catch {
      fail(flight, forKey: key, hash: hash, error)
    }
  }

  /// Stores what a flight brought, if the entry is still its own.
  ///
  /// - Returns: what the waiters get: the value, merged with what is cached where the cache does that.
  @inlinable
  func publish(
    _ value: Value, of flight: Flight<Value>, since departure: FlightDeparture<Key, Value>?, forKey key: Key,
    hash: UInt64, storing: Storing
  ) async throws -> Value {
    if let departure {
      return try await publishMerged(value, of: flight, since: departure, forKey: key, hash: hash, storing: storing)
    }
    let writing = prepare(value, forKey: key, storing: storing)
    await secondTier?.partition.waitForRoom()
    noticeExpiry(ofKey: key, hash: hash)
    if commit(writing, forKey: key, hash: hash, WriteTerms(if: .own(flight))) == nil {
      if !edits.isEmpty { publishUnderEdits(value, of: flight, forKey: key, hash: hash, storing: storing) }
      // Invalidated meanwhile: the entry must not wait for it any more.
      table.end(flight, forKey: key, hash: hash)
    }
    return value
  }

  /// Ends a flight without a value. The entry's flight goes first: whoever is resumed, and asks again, starts anew. A value
  /// that it was to refresh stays, and is left alone for a while.
  @inlinable
  func fail(_ flight: Flight<Value>, forKey key: Key, hash: UInt64, _ error: any Error) {
    // A flight that was abandoned, or whose key was written concurrently, has not failed. A key that a bulk fetch left
    // out has not failed.
    if table.end(flight, forKey: key, hash: hash, pause: retryPause()), !(error is LookAgain) {
      table.count(hash) { $0.failures += 1 }
      reportIfUnheard(flight, forKey: key, error)
    }
    flight.land(.failure(error))
  }

  /// The pause that begins with a failure now.
  @usableFromInline
  func retryPause() -> RetryPause {
    RetryPause(end: clock.now().advanced(by: loading.refreshRetryInterval), start: wallNow())
  }
}

/// Ends a wait without a value. Never leaves the cache: who waited looks again, and asks by itself.
@usableFromInline
struct LookAgain: Error {
  @inlinable
  init() {}
}
