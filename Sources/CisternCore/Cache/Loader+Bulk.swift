import Synchronization

// Loads of several keys by one fetch.

extension Loader {
  /// A load of several keys.
  @usableFromInline
  struct BulkRequest: Sendable {
    @usableFromInline let options: LoadOptions
    /// The cache. The flights keep it open until their values are published.
    @usableFromInline let owner: any AnyObject & Sendable
    @usableFromInline let fetch: @Sendable ([Key]) async throws -> [Key: Value]

    @inlinable
    init(
      _ writeOptions: WriteOptions, owner: any AnyObject & Sendable,
      fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
    ) {
      options = LoadOptions(writeOptions: writeOptions, policy: nil)
      self.owner = owner
      self.fetch = fetch
    }
  }

  /// A key whose flight this load waits for.
  @usableFromInline
  struct BulkWaiter {
    @usableFromInline let key: Key
    @usableFromInline let flight: Flight<Value>
    @usableFromInline let waiter: Int
    /// Whether this load leads the flight.
    @usableFromInline let leads: Bool

    @inlinable
    init(key: Key, flight: Flight<Value>, waiter: Int, leads: Bool) {
      self.key = key
      self.flight = flight
      self.waiter = waiter
      self.leads = leads
    }
  }

  /// A key that this load fetches.
  @usableFromInline
  struct LedFlight: Sendable {
    @usableFromInline let key: HashedKey<Key>
    @usableFromInline let flight: Flight<Value>

    @inlinable
    init(key: HashedKey<Key>, flight: Flight<Value>) {
      self.key = key
      self.flight = flight
    }
  }

  /// Loads these keys, by one fetch at most.
  ///
  /// - Returns: the keys that this load must ask for again. Another bulk load was to bring them and did not, or an invalidation
  ///   came before this load joined. Only an own fetch tells whether they are missing.
  @inlinable
  nonisolated(nonsending) func load(
    _ keys: Set<Key>, for request: BulkRequest, into result: inout LoadedValues<Key, Value>
  ) async throws -> Set<Key> {
    try Task.checkCancellation()
    // The values must be newer than the invalidations before the load.
    let invalidationVersion = table.newestInvalidation.load(ordering: .acquiring)
    let priority = Task.currentPriority
    // Held while the keys are started: the first flight may be abandoned before the last is counted.
    let work = FlightWork(isHeld: true)
    var awaited: [BulkWaiter] = []
    var led: [LedFlight] = []
    for plainKey in keys {
      let key = table.hashed(plainKey)
      let usable = table.usableValue(of: key, at: lifetimes.now(), accepting: .standard) {
        records.writeUse($0, of: key)
      }
      if let usable {
        result.found[plainKey] = usable
        continue
      }
      switch begin(key, priority: priority, work: work) {
      case .value(let value):
        result.found[plainKey] = value
      case .refreshing(let value, let flight):
        result.found[plainKey] = value
        led.append(LedFlight(key: key, flight: flight))
      case .waiting(let flight, let waiter, let leads):
        awaited.append(BulkWaiter(key: plainKey, flight: flight, waiter: waiter, leads: leads))
        if leads { led.append(LedFlight(key: key, flight: flight)) }
      }
    }
    start(led, for: request, priority: priority, work: work)
    work.leaveOne()
    // The permit is lent once, and not for each key.
    let enclosing = awaited.isEmpty ? nil : WorkIdentity.enclosing
    enclosing?.lendPermit()
    var leftOut: Set<Key> = []
    for entry in awaited {
      let outcome =
        if let enclosing {
          await entry.flight.wait(as: entry.waiter, inside: enclosing)
        } else {
          await entry.flight.wait(as: entry.waiter)
        }
      switch outcome {
      case .value(let value):
        if entry.flight.isInvalidated(since: invalidationVersion) {
          leftOut.insert(entry.key)
        } else {
          result.found[entry.key] = value
        }
      case .lookAgain, .timedOut:
        if entry.leads { result.left.insert(entry.key) } else { leftOut.insert(entry.key) }
      case .failed(let error):
        result.failed[entry.key] =
          error is LoadCycle ? LoadCycle.error(location: reports.location(of: entry.key)) : error
      }
    }
    await enclosing?.takeBackPermit()
    // Each wait of a cancelled task ends at once, after it left its flight.
    try Task.checkCancellation()
    return leftOut
  }

  /// The first half of a load of one key.
  @usableFromInline
  enum BulkLoadStart {
    case value(Value)
    case refreshing(Value, Flight<Value>)
    case waiting(Flight<Value>, waiter: Int, leads: Bool)
  }

  /// Hits, joins, or leads a flight of `work`, for one of the keys.
  @inlinable
  func begin(_ key: HashedKey<Key>, priority: TaskPriority, work: FlightWork) -> BulkLoadStart {
    var demand = Demand.standard
    while true {
      let invalidationVersion = table.newestInvalidation.load(ordering: .acquiring)
      let decision = table.load(key, at: lifetimes.now(), accepting: demand, priority: priority) {
        table.makeFlight(for: key, work: work, priority: priority, flightOptions: flightOptions)
      }
      switch decision {
      case .hit(let value, _):
        records.noteUse(of: key)
        return .value(value)
      case .refresh(let value, let flight, _):
        records.noteUse(of: key)
        return .refreshing(value, flight)
      case .expired:
        records.endExpired(key)
      case .lookInSecondTier(let flight):
        if case .loaded(let loaded) = records.lookUp(
          beside: flight, since: invalidationVersion, of: key, accepting: demand)
        {
          return .value(loaded.value)
        }
        demand.hasLookedInSecondTier = true
      case .notCached:
        preconditionFailure("a bulk load may fetch")
      case .join(let flight, let waiter, _, _):
        return .waiting(flight, waiter: waiter, leads: false)
      case .lead(let flight, let waiter, _, _):
        switch records.lookUp(for: flight, of: key, accepting: demand) {
        case .completed(let loaded):
          // It needs no fetch, so it must not keep the fetch for the others alive.
          work.leaveOne()
          return .value(loaded.value)
        case .refreshing(let loaded):
          return .refreshing(loaded.value, flight)
        case .lookAgain:
          work.leaveOne()
          continue
        case .nothing:
          break
        }
        table.countMiss()
        return .waiting(flight, waiter: waiter, leads: true)
      }
    }
  }

  /// Starts the task that fetches the keys.
  @inlinable
  func start(_ led: [LedFlight], for request: BulkRequest, priority: TaskPriority, work: FlightWork) {
    if led.isEmpty { return }
    for one in led { noteFetch(by: one.flight) }
    work.run(
      Task(executorPreference: flightOptions.taskExecutor, priority: priority) { [self] in
        if !work.isCancelled { await run(led, for: request, by: work) }
      })
  }

  /// The task of a bulk load's flights: one fetch. After it, each key is published, is missing, or fails by itself.
  @inlinable
  func run(_ led: [LedFlight], for request: BulkRequest, by work: FlightWork) async {
    let bases = led.map { mergeBase(of: $0.flight, for: $0.key) }
    defer { for base in bases { base?.end() } }
    do {
      let keys = led.map(\.key.key)
      // The pauses between attempts are those of the first key.
      let values = try await work.identity.fetching {
        try await settings.attempt(hash: led[0].key.hash, clock: lifetimes.clock) { () async throws -> [Key: Value] in
          try await request.fetch(keys)
        }
      }
      for (one, base) in zip(led, bases) {
        guard let value = values[one.key.key] else {
          fail(one.flight, of: one.key, .lookAgain)
          continue
        }
        do {
          let published = try await publish(
            FetchedValue(value, of: one.flight, for: one.key, options: request.options), since: base)
          one.flight.complete(.value(published))
        } catch {
          fail(one.flight, of: one.key, .failed(error))
        }
      }
    } catch {
      for one in led { fail(one.flight, of: one.key, .failed(error)) }
    }
  }
}
