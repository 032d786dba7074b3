import Synchronization

extension Cache {
  /// The values of several keys; those that neither tier has are fetched by one call of `fetch`.
  ///
  /// Values in grace are returned, and fetched anew in the background with the others. Keys whose flight is on its way are
  /// joined, and each key that this call fetches can be joined by others meanwhile.
  /// A key that was joined, and that the other bulk load's `fetch` did not return, is asked for by another call.
  /// A key that fails, alone or with the whole of `fetch`, is in ``LoadedValues/failures``; one that `fetch` did not
  /// return, in ``LoadedValues/missing``. The others are not touched by either.
  ///
  /// Throws `CancellationError` when the calling task is cancelled, and nothing else. `fetch` is cancelled when nobody
  /// waits for any of its keys. O(n) for n keys.
  ///
  /// - Parameters:
  ///   - keys: the keys; one that comes twice counts once.
  ///   - expiry: the lifetime of fetched values; nil for what each itself or the cache says.
  ///   - tags: what the fetched values can be removed by, with others: ``removeAll(tagged:context:)``.
  ///   - fetch: gets the values of the keys that it is given, in one request. Values of other keys are ignored.
  @inlinable
  public nonisolated(nonsending) func values(
    forKeys keys: some Sequence<Key>, expiry: Expiry? = nil, tags: [String] = [],
    fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
  ) async throws -> LoadedValues<Key, Value> {
    var result = LoadedValues<Key, Value>()
    var wanted = Set(keys)
    repeat {
      wanted = try await load(wanted, into: &result, storing: Storing(expiry: expiry, tags: tags), fetch: fetch)
    } while !wanted.isEmpty
    return result
  }

  /// Gets what there is of these keys, by one fetch at most.
  ///
  /// - Returns: the keys that another bulk load was about to bring, and did not, or that had been invalidated when this one
  ///   joined. Whether they are missing for this one, too, its own fetch has to tell.
  @inlinable
  nonisolated(nonsending) func load(
    _ keys: Set<Key>, into result: inout LoadedValues<Key, Value>, storing: Storing,
    fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
  ) async throws -> Set<Key> {
    try Task.checkCancellation()
    // What it gets must be newer than what was invalidated before it asked.
    let era = table.newestInvalidation.load(ordering: .acquiring)
    let priority = Task.currentPriority
    // Held while the keys are started: the first of them may be abandoned before the last is counted in.
    let work = FlightWork(isHeld: true)
    var awaited: [BulkWaiter] = []
    var led: [LedFlight] = []
    for key in keys {
      let hash = table.hash(key)
      if let value = usableInMemory(key, hash: hash, accepting: .standard) {
        result.found[key] = value
        continue
      }
      switch start(key, hash: hash, priority: priority, work: work) {
      case .value(let value):
        result.found[key] = value
      case .refreshing(let value, let flight):
        result.found[key] = value
        led.append(LedFlight(key: key, hash: hash, flight: flight))
      case .waiting(let flight, let waiter, let leads):
        awaited.append(BulkWaiter(key: key, flight: flight, waiter: waiter, leads: leads))
        if leads { led.append(LedFlight(key: key, hash: hash, flight: flight)) }
      }
    }
    if !led.isEmpty {
      for one in led { noteFetch(by: one.flight) }
      work.startTask { [led] in
        work.run(
          Task(executorPreference: pilot.taskExecutor, priority: priority) { [self, led] in
            if !work.isCancelled { await fly(led, storing: storing, fetch: fetch) }
          })
      }
    }
    work.leaveOne()
    // It lends its permit once, and not for each key.
    let enclosing = awaited.isEmpty ? nil : FlightWork.enclosing
    enclosing?.lendPermit()
    var leftOut: Set<Key> = []
    for entry in awaited {
      do {
        let value: Value
        if let enclosing {
          value = try await entry.flight.wait(as: entry.waiter, inside: enclosing)
        } else {
          value = try await entry.flight.wait(as: entry.waiter)
        }
        if entry.flight.isInvalidated(since: era) {
          leftOut.insert(entry.key)
        } else {
          result.found[entry.key] = value
        }
      } catch is LookAgain {
        if entry.leads { result.left.insert(entry.key) } else { leftOut.insert(entry.key) }
      } catch is LoadCycle {
        result.failed[entry.key] = LoadCycle.error(location: location(of: entry.key))
      } catch {
        result.failed[entry.key] = error
      }
    }
    await enclosing?.takeBackPermit()
    // Each wait of a cancelled task ends at once, having left its flight.
    try Task.checkCancellation()
    return leftOut
  }

  @usableFromInline
  struct BulkWaiter {
    @usableFromInline let key: Key
    @usableFromInline let flight: Flight<Value>
    @usableFromInline let waiter: Int
    @usableFromInline let leads: Bool

    @inlinable
    init(key: Key, flight: Flight<Value>, waiter: Int, leads: Bool) {
      self.key = key
      self.flight = flight
      self.waiter = waiter
      self.leads = leads
    }
  }

  @usableFromInline
  struct LedFlight: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let hash: UInt64
    @usableFromInline let flight: Flight<Value>

    @inlinable
    init(key: Key, hash: UInt64, flight: Flight<Value>) {
      self.key = key
      self.hash = hash
      self.flight = flight
    }
  }

  @usableFromInline
  enum BulkStart {
    case value(Value)
    case refreshing(Value, Flight<Value>)
    case waiting(Flight<Value>, waiter: Int, leads: Bool)
  }

  /// Hits, joins, or leads a flight of `work`, for one of the keys.
  @inlinable
  func start(_ key: Key, hash: UInt64, priority: TaskPriority, work: FlightWork) -> BulkStart {
    var demand = Demand.standard
    while true {
      let era = table.newestInvalidation.load(ordering: .acquiring)
      let decision = table.load(key, hash: hash, at: now(), accepting: demand, priority: priority) {
        table.makeFlight(forKey: key, hash: hash, work: work, priority: priority, pilot: pilot)
      }
      switch decision {
      case .hit(let value, _):
        noteUse(ofKey: key, hash: hash)
        return .value(value)
      case .refresh(let value, let flight, _):
        noteUse(ofKey: key, hash: hash)
        return .refreshing(value, flight)
      case .expired:
        endExpired(key, hash: hash)
      case .lookBehind(let flight):
        if case .loaded(let loaded) = lookBehind(flight, since: era, forKey: key, hash: hash, accepting: demand) {
          return .value(loaded.value)
        }
        demand.hasLookedBehind = true
      case .notCached:
        preconditionFailure("a bulk load may fetch")
      case .join(let flight, let waiter, _, _):
        return .waiting(flight, waiter: waiter, leads: false)
      case .lead(let flight, let waiter, _, _):
        switch landFromSecondTier(flight, forKey: key, hash: hash, accepting: demand) {
        case .landed(let loaded):
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

  /// The task of a bulk load's flights: one fetch, then each key publishes, is missing or fails by itself.
  @inlinable
  func fly(
    _ led: [LedFlight], storing: Storing, fetch: @Sendable ([Key]) async throws -> [Key: Value]
  ) async {
    let departures = led.map { departure(of: $0.flight, hash: $0.hash) }
    defer { for departure in departures { departure?.end() } }
    do {
      let keys = led.map(\.key)
      // The pauses between attempts are those of the first key.
      let values = try await loading.attempt(hash: led[0].hash, clock: clock) { () async throws -> [Key: Value] in
        try await fetch(keys)
      }
      for (one, departure) in zip(led, departures) {
        guard let value = values[one.key] else {
          fail(one.flight, forKey: one.key, hash: one.hash, LookAgain())
          continue
        }
        do {
          let published = try await publish(
            value, of: one.flight, since: departure, forKey: one.key, hash: one.hash, storing: storing)
          one.flight.land(.success(published))
        } catch {
          fail(one.flight, forKey: one.key, hash: one.hash, error)
        }
      }
    } catch {
      for one in led { fail(one.flight, forKey: one.key, hash: one.hash, error) }
    }
  }
}

/// What a bulk load found, key by key.
public struct LoadedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var found: [Key: Value] = [:]
  @usableFromInline var failed: [Key: any Error] = [:]
  @usableFromInline var left: Set<Key> = []

  @inlinable
  init() {}

  /// The values, of the keys that have one.
  @inlinable
  public var values: [Key: Value] { found }

  /// The errors, of the keys whose fetch failed.
  @inlinable
  public var failures: [Key: any Error] { failed }

  /// The keys that the fetch did not return.
  @inlinable
  public var missing: Set<Key> { left }

  /// The value of a key; nil where it failed or is missing.
  @inlinable
  public subscript(key: Key) -> Value? { found[key] }
}
