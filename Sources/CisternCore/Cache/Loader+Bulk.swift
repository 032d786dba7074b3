import Synchronization

// Loads of several keys by one fetch.

extension Loader {
  /// A key whose flight this load waits for.
  @usableFromInline
  struct BulkWaiter {
    @usableFromInline let key: HashedKey<Key>
    @usableFromInline let flight: Flight<Value>
    @usableFromInline let waiter: Int
    /// Whether this load leads the flight.
    @usableFromInline let leads: Bool
    /// The limits of the wait; nil for a wait until the flight completes.
    @usableFromInline let waitLimits: WaitLimits<Value>?
    /// The outcome of a wait whose time is up before it begins.
    @usableFromInline var ended: FlightOutcome<Value>?

    /// The wait, if it has limits.
    @usableFromInline var limited: Wait<Value>? {
      waitLimits.map { Wait(flight: flight, waiter: waiter, source: source, waitLimits: $0) }
    }

    /// The source of a value that the flight brings.
    @inlinable
    var source: Loaded<Value>.Source { leads ? .fetched : .joined }

    @inlinable
    init(
      key: HashedKey<Key>, flight: Flight<Value>, waiter: Int, leads: Bool, waitLimits: WaitLimits<Value>?
    ) {
      self.key = key
      self.flight = flight
      self.waiter = waiter
      self.leads = leads
      self.waitLimits = waitLimits
    }
  }

  /// Loads these keys, by one fetch at most.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - request: The load.
  ///   - result: Receives the values, the errors and the missing keys.
  /// - Returns: The keys that this load must ask for again. Another bulk load did not bring them, or an invalidation
  ///   came before this load joined. Only a separate fetch tells whether they are missing.
  /// - Throws: `CancellationError`.
  @inlinable
  nonisolated(nonsending) func load(
    _ keys: Set<Key>, for request: BulkRequest<Key, Value>, into result: inout LoadedValues<Key, Value>
  ) async throws -> Set<Key> {
    try Task.checkCancellation()
    // The values must be newer than the invalidations before the load.
    let invalidationVersion = table.newestInvalidation.load(ordering: .acquiring)
    let priority = Task.currentPriority
    // Held while the keys are started: the first flight may be abandoned before the last is counted.
    let work = FlightWork(isHeldByCreator: true)
    var awaited: [BulkWaiter] = []
    var led: [BulkFlight<Key, Value>] = []
    for plainKey in keys {
      let key = table.hashed(plainKey)
      switch decide(key, for: request, priority: priority, work: work) {
      case .use(let loaded):
        result.add(loaded, for: key.key, describing: request.options.describes)
      case .useAndRefresh(let loaded, let flight):
        result.add(loaded, for: key.key, describing: request.options.describes)
        led.append(BulkFlight(key: key, flight: flight))
      case .join(let flight, let waiter, let waitLimits):
        awaited.append(BulkWaiter(key: key, flight: flight, waiter: waiter, leads: false, waitLimits: waitLimits))
      case .lead(let flight, let waiter, let waitLimits):
        awaited.append(BulkWaiter(key: key, flight: flight, waiter: waiter, leads: true, waitLimits: waitLimits))
        led.append(BulkFlight(key: key, flight: flight))
      case .fail:
        result.withoutValue.insert(key.key)
      }
    }
    if awaited.contains(where: \.leads) {
      start(led, for: request, priority: priority, work: work)
    } else {
      Circuit.startOutsideProbes { start(led, for: request, priority: priority, work: work) }
    }
    work.leaveOne()
    let timer = startTimer(ofBulk: &awaited)
    defer { timer?.cancel() }
    // The permit is lent once, and not for each key.
    let enclosing = awaited.isEmpty ? nil : WorkIdentity.enclosing
    enclosing?.lendPermit()
    var leftOut: Set<Key> = []
    for waiter in awaited {
      let key = waiter.key.key
      do {
        let loaded = try await wait(waiter, for: request, since: invalidationVersion, inside: enclosing)
        if let loaded {
          result.add(loaded, for: key, describing: request.options.describes)
        } else if waiter.leads {
          result.withoutValue.insert(key)
        } else {
          leftOut.insert(key)
        }
      } catch is AbsentValue {
        result.withoutValue.insert(key)
      } catch {
        result.failed[key] = error is LoadCycle ? LoadCycle.error(location: reports.location(of: key)) : error
      }
    }
    await enclosing?.takeBackPermit()
    // Each wait of a cancelled task ends at once, after it left its flight.
    try Task.checkCancellation()
    return leftOut
  }

  /// Ends the waits whose time is up before they begin, and starts the timer of the others.
  ///
  /// The timer ends them all at the timeout. A wait begins after those of other keys, and its flight may have ended in
  /// time.
  ///
  /// - Parameter awaited: The waits. Those that end get their outcome.
  /// - Returns: The timer; nil if no wait needs one.
  @usableFromInline
  func startTimer(ofBulk awaited: inout [BulkWaiter]) -> Task<Void, Never>? {
    var waits: [KeyedWait] = []
    for index in awaited.indices {
      guard let wait = awaited[index].limited else { continue }
      awaited[index].ended = endIfOver(wait, for: awaited[index].key)
      if awaited[index].ended == nil { waits.append(KeyedWait(wait, awaited[index].key)) }
    }
    return waits.isEmpty ? nil : startTimer(of: waits)
  }

  /// Waits for the flight of one key. Returns nil if the flight brought no result that this load may have.
  @inlinable
  nonisolated(nonsending) func wait(
    _ waiter: BulkWaiter, for request: BulkRequest<Key, Value>, since invalidationVersion: InvalidationVersion,
    inside enclosing: WorkIdentity?
  ) async throws -> Loaded<Value>? {
    let flight = waiter.flight
    let outcome =
      if let ended = waiter.ended {
        ended
      } else if let enclosing {
        await flight.wait(as: waiter.waiter, inside: enclosing)
      } else {
        await flight.wait(as: waiter.waiter)
      }
    if let wait = waiter.limited { return try conclude(outcome, of: wait, for: waiter.key, request.options) }
    let result = FlightResult(outcome, of: flight, from: waiter.source, since: invalidationVersion)
    return try use(result, of: waiter.key, for: request.options)
  }

  /// Decides about one of the keys. A new flight has this work.
  @inlinable
  func decide(
    _ key: HashedKey<Key>, for request: BulkRequest<Key, Value>, priority: TaskPriority, work: FlightWork
  ) -> LoadAction {
    let options = request.options
    if !options.describes, let value = usableValue(of: key, accepting: request.policy.demand) {
      return .use(Loaded(value: value, source: .memory))
    }
    return decide(key, options, priority: priority, work: work, lendsPermit: false)
  }

  /// Returns a value of memory that starts no flight.
  @inlinable
  func usableValue(of key: HashedKey<Key>, accepting demand: Demand) -> Value? {
    table.usableValue(of: key, at: lifetimes.now(), accepting: demand) { records.writeUse($0, of: key) }
  }
}
