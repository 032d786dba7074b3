import Synchronization

// Loads of several keys by one fetch.

extension Loader {
  /// A key whose flight this load waits for.
  @usableFromInline
  struct BulkWaiter: Sendable {
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
      switch findJoinOrLead(key, for: request, priority: priority, work: work) {
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
    work.releaseByCreator()
    let timer = startTimer(ofBulk: &awaited)
    defer { timer?.cancel() }
    var leftOut: Set<Key> = []
    if !awaited.isEmpty {
      leftOut = await raising(awaited, since: priority) {
        await wait(for: awaited, of: request, since: invalidationVersion, into: &result)
      }
    }
    // Each wait of a cancelled task ends at once, after it left its flight.
    try Task.checkCancellation()
    return leftOut
  }

  /// Decides about one of the keys. A new flight has this work.
  @inlinable
  func findJoinOrLead(
    _ key: HashedKey<Key>, for request: BulkRequest<Key, Value>, priority: TaskPriority, work: FlightWork
  ) -> LoadAction {
    let options = request.options
    if !options.describes, let value = usableValue(of: key, accepting: request.policy.demand) {
      return .use(Loaded(value: value, source: .memory))
    }
    return findJoinOrLead(key, options, priority: priority, work: work, lendsPermit: false)
  }

  /// Returns a value of memory that starts no flight.
  @inlinable
  func usableValue(of key: HashedKey<Key>, accepting demand: Demand) -> Value? {
    table.usableValue(of: key, at: lifetimes.now(), accepting: demand) { records.writeUse($0, of: key) }
  }
}
