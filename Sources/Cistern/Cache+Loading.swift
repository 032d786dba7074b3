extension Cache {
  /// The value of a key; fetched, where neither tier has it, once for all who ask meanwhile.
  ///
  /// - A hit returns without suspending, on the caller's actor.
  /// - Where a flight for the key is on its way, the caller joins it: `fetch` is not called.
  /// - Else `fetch` runs in a task of its own, at the highest priority among the callers that wait and with this
  ///   caller's task-local values. What it brings is stored in both tiers before anyone gets it, unless the key was
  ///   set or removed meanwhile: then it goes to those who waited, and nowhere else.
  /// - An error of `fetch` goes to all who wait, and is not kept: asking again, also from a `catch` block, fetches again.
  /// - A cancelled caller gets `CancellationError` at once, and the others are untouched. With the last of them the
  ///   flight is cancelled, unless ``CacheConfiguration/completesAbandonedFlights`` asks otherwise.
  ///
  /// - Parameters:
  ///   - key: what is asked for.
  ///   - expiry: the lifetime of a fetched value; nil for the cache's.
  ///   - fetch: gets the value from where it comes from.
  @inlinable
  public nonisolated(nonsending) func value(
    forKey key: Key, expiry: Expiry? = nil, fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    let hash = EntryTable<Key, Value>.hash(key)
    if case .hit(let value) = table.lookUp(key, hash: hash, at: now()) { return value }
    return try await load(key, hash: hash, expiry: expiry, fetch: fetch).value
  }

  /// As ``value(forKey:expiry:fetch:)``, and tells where the value came from.
  public nonisolated(nonsending) func loadedValue(
    forKey key: Key, expiry: Expiry? = nil, fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    try await load(key, hash: EntryTable<Key, Value>.hash(key), expiry: expiry, fetch: fetch)
  }
}

/// A value, and where it came from.
public struct Loaded<Value: Sendable>: Sendable {
  /// Where a value came from.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// Memory had it.
    case memory
    /// The second tier had it.
    case secondTier
    /// A flight that someone else had started brought it.
    case joined
    /// This call's own fetch brought it.
    case fetched
  }

  /// The value.
  public let value: Value
  /// Where it came from.
  public let source: Source

  @inlinable
  init(value: Value, source: Source) {
    self.value = value
    self.source = source
  }
}

// MARK: The way of a load

extension Cache {
  /// Hits, joins or leads.
  @inlinable
  nonisolated(nonsending) func load(
    _ key: Key, hash: UInt64, expiry: Expiry?, fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    while true {
      // Cancelled before it began: nothing starts.
      try Task.checkCancellation()
      switch begin(key, hash: hash, expiry: expiry, fetch: fetch) {
      case .loaded(let loaded):
        return loaded
      case .waiting(let flight, let waiter, let source):
        do {
          let value = try await table.wait(for: flight, as: waiter, hash: hash)
          return Loaded(value: value, source: source)
        } catch is OmittedFromBulk {
          // The flight was part of a bulk fetch that knew nothing of the key. This caller knows how to ask for it.
        }
      }
    }
  }

  /// How a load goes on.
  @usableFromInline
  enum Beginning {
    /// Its value is there.
    case loaded(Loaded<Value>)
    /// It waits for a flight, as the waiter with this number.
    case waiting(Flight<Value>, waiter: Int, Loaded<Value>.Source)
  }

  /// Hits, joins or leads, up to where it has to wait. Apart from the waiting, and not inlined, so that the frames of
  /// those who wait are small.
  @inlinable
  @inline(never)
  func begin(
    _ key: Key, hash: UInt64, expiry: Expiry?, fetch: @escaping @Sendable (Key) async throws -> Value
  ) -> Beginning {
    let priority = Task.currentPriority
    while true {
      let decision = table.load(key, hash: hash, at: now(), priority: priority) {
        table.makeFlight(forKey: key, hash: hash, priority: priority, pilot: pilot)
      }
      switch decision {
      case .hit(let value):
        return .loaded(Loaded(value: value, source: .memory))
      case .expired:
        endExpired(key, hash: hash)
      case .join(let flight, let waiter, _):
        return .waiting(flight, waiter: waiter, .joined)
      case .lead(let flight, let waiter):
        if let value = landFromSecondTier(flight, forKey: key, hash: hash) {
          return .loaded(Loaded(value: value, source: .secondTier))
        }
        table.count(hash) { $0.misses += 1 }
        table.start(flight.work, priority: priority, pilot: pilot) { [self] in
          await fly(flight, forKey: key, hash: hash, expiry: expiry, fetch: fetch)
        }
        return .waiting(flight, waiter: waiter, .fetched)
      }
    }
  }

  /// The first half of a flight, on its leader's thread: the second tier. A resident page costs less than a task.
  ///
  /// - Returns: the value, which every waiter of the flight got too; nil where it has to be fetched.
  @inlinable
  func landFromSecondTier(_ flight: Flight<Value>, forKey key: Key, hash: UInt64) -> Value? {
    guard let secondTier, let record = secondTier.read(key) else { return nil }
    guard case .usable(let found) = interpret(record, forKey: key) else {
      discard(record, forKey: key, hash: hash, if: .own(flight))
      return nil
    }
    table.count(hash) { $0.diskHits += 1 }
    promote(found, forKey: key, hash: hash, if: .own(flight))
    flight.land(.success(found.value))
    return found.value
  }

  /// The second half, in the flight's own task: fetch, publish, land.
  @inlinable
  func fly(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, expiry: Expiry?,
    fetch: @Sendable (Key) async throws -> Value
  ) async {
    let departure = departure(forKey: key, hash: hash)
    defer { departure?.end() }
    do {
      let value = try await fetch(key)
      let published = try await publish(
        value, of: flight, since: departure, forKey: key, hash: hash, expiry: expiry)
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
    hash: UInt64, expiry: Expiry?
  ) async throws -> Value {
    if let departure {
      return try await publishMerged(value, of: flight, since: departure, forKey: key, hash: hash, expiry: expiry)
    }
    let writing = prepare(value, forKey: key, expiry: expiry)
    await secondTier?.partition.waitForRoom()
    commit(writing, forKey: key, hash: hash, WriteTerms(if: .own(flight)))
    return value
  }

  /// Ends a flight without a value. The entry goes first: whoever is resumed, and asks again, starts anew.
  @inlinable
  func fail(_ flight: Flight<Value>, forKey key: Key, hash: UInt64, _ error: any Error) {
    // One that was abandoned, or whose key was written meanwhile, has failed nobody.
    if table.end(flight, forKey: key, hash: hash) { table.count(hash) { $0.failures += 1 } }
    flight.land(.failure(error))
  }
}
