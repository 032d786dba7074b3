extension Cache {
  /// Returns the value of a key. If neither tier has it, it is fetched once for all concurrent callers.
  ///
  /// - A hit returns without suspending, on the caller's actor. By default, a value in grace returns in the same way,
  ///   and starts one background refresh.
  /// - If a flight for the key is in progress, the caller joins it, and `fetch` is not called.
  /// - Otherwise, `fetch` runs in a separate task, with this caller's task-local values and at the highest priority of
  ///   the waiting callers. Its value is stored in both tiers before any caller gets it. If the key was set or removed
  ///   concurrently, only the waiting callers get the value.
  /// - All waiting callers get an error of `fetch`. It is not kept. Another load, also from a `catch` block, fetches
  ///   again.
  /// - A cancelled caller gets `CancellationError` at once, which does not affect the others. When the last caller is
  ///   cancelled, the flight is cancelled, unless ``CacheConfiguration/completesAbandonedFlights`` is set.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The lifetime of a fetched value; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of a fetched value, for ``removeAll(tagged:context:)``.
  ///   - policy: The values that the caller accepts, and how long it waits; nil for the cache's policy.
  ///   - fetch: The closure that returns the value from its origin.
  /// - Returns: The value.
  /// - Throws: The error of `fetch`, and `CancellationError`. `CisternError` if the policy requires it
  ///   (``LoadPolicy/cachedOnly``, ``LoadPolicy/timingOut(after:)``), and with one of these codes:
  ///   - ``CisternError/Code/circuitOpen`` if the cache's circuit breaker rejects the fetch,
  ///   - ``CisternError/Code/noValue`` if the fetch of another caller found that the origin has no value,
  ///   - ``CisternError/Code/notMerged`` if the cache cannot merge the fetched value,
  ///   - ``CisternError/Code/cyclicLoad`` inside a fetch that would wait for itself.
  /// - Complexity: O(1) for a hit in memory.
  @inlinable
  @inline(__always)
  public nonisolated(nonsending) func value(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    let hashed = table.hashed(key)
    let usable = if let policy { usableInMemory(hashed, accepting: policy.demand) } else { usableInMemory(hashed) }
    if let usable { return usable }
    let options = LoadOptions.unlessDefault(expiry: expiry, tags: tags, policy: policy)
    do {
      return try await loader.load(LoadRequest(hashed, options: options, owner: self, fetch: .plain(fetch))).value
    } catch {
      throw knownError(error, of: hashed.key)
    }
  }

  /// Returns a value like ``value(forKey:expiry:tags:policy:fetch:)``, with its source, age and remaining lifetime.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The lifetime of a fetched value; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of a fetched value, for ``removeAll(tagged:context:)``.
  ///   - policy: The values that the caller accepts, and how long it waits; nil for the cache's policy.
  ///   - fetch: The closure that returns the value from its origin.
  /// - Returns: The value with its details.
  /// - Throws: As ``value(forKey:expiry:tags:policy:fetch:)``.
  /// - Complexity: O(1) for a hit in memory.
  @inlinable
  public nonisolated(nonsending) func loadedValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    try Task.checkCancellation()
    let hashed = table.hashed(key)
    if let loaded = loadedInMemory(hashed, accepting: policy) { return loaded }
    let options = LoadOptions(writeOptions: WriteOptions(expiry: expiry, tags: tags), policy: policy, describes: true)
    let request = LoadRequest<Key, Value>(hashed, options: options, owner: self, fetch: .plain(fetch))
    do {
      return try await loader.load(request)
    } catch {
      throw knownError(error, of: key)
    }
  }

  /// Returns the error that callers know, for the error of a load.
  @usableFromInline
  @inline(never)
  func knownError(_ error: any Error, of key: Key) -> any Error {
    error is AbsentValue ? AbsentValue.error(location: loader.reports.location(of: key)) : error
  }

  /// Returns the value of a key from either tier, fresh or in grace, and its source. Never fetches and never suspends.
  ///
  /// The call is the same as a load with ``LoadPolicy/cachedOnly``. ``find(_:)`` returns nil instead of an error, and
  /// ``value(forKey:)`` returns nil also for a value in grace.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value with its details.
  /// - Throws: `CisternError` with the code ``CisternError/Code/notCached`` if neither tier has the value.
  /// - Complexity: As ``value(forKey:)``.
  public func cachedValue(forKey key: Key) throws(CisternError) -> Loaded<Value> {
    guard let loaded = find(key) else { throw records.notCached(table.hashed(key)) }
    return loaded
  }

  /// Fetches the value of a key and returns it, even if one is cached. Joins a flight in progress.
  ///
  /// The older value stays readable during the fetch, and stays if the fetch fails. The call is the same as a load with
  /// ``LoadPolicy/reload``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The lifetime of the fetched value; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the fetched value, for ``removeAll(tagged:context:)``.
  ///   - fetch: The closure that returns the value from its origin.
  /// - Returns: The fetched value.
  /// - Throws: As ``value(forKey:expiry:tags:policy:fetch:)`` with the policy ``LoadPolicy/reload``.
  /// - Complexity: O(1), and the fetch.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func refreshValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    try await value(forKey: key, expiry: expiry, tags: tags, policy: .reload, fetch: fetch)
  }

  /// Returns the value that a load with this policy returns without suspending and without a flight; nil if it must do
  /// more.
  ///
  /// Targets that wrap loads begin with it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - policy: The policy of the load; nil for the cache's policy.
  /// - Returns: The value; nil if the load must do more than look in memory.
  @inlinable
  package func valueInMemory(forKey key: Key, accepting policy: LoadPolicy?) -> Value? {
    let hashed = table.hashed(key)
    return if let policy { usableInMemory(hashed, accepting: policy.demand) } else { usableInMemory(hashed) }
  }

  /// Returns a value like ``valueInMemory(forKey:accepting:)``, with its details.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - policy: The policy of the load; nil for the cache's policy.
  /// - Returns: The value with its details; nil if the load must do more than look in memory.
  @inlinable
  package func loadedInMemory(forKey key: Key, accepting policy: LoadPolicy?) -> Loaded<Value>? {
    loadedInMemory(table.hashed(key), accepting: policy)
  }

  /// Returns a value like ``usableInMemory(_:accepting:)``, with its details. Not inlined, so that a load does not copy
  /// the policy.
  @inlinable
  @inline(never)
  func loadedInMemory(_ key: HashedKey<Key>, accepting policy: LoadPolicy?) -> Loaded<Value>? {
    records.findInMemory(key, accepting: (policy ?? loadPolicy).demand)
  }

  /// Returns a value of memory like ``usableInMemory(_:accepting:)``, for a load with the cache's policy. Not inlined,
  /// so that a load does not copy the policy.
  @inlinable
  @inline(never)
  func usableInMemory(_ key: HashedKey<Key>) -> Value? {
    table.usableValue(of: key, at: now(), accepting: loadPolicy.demand) { records.writeUse($0, of: key) }
  }

  /// Returns a value of memory that starts no flight: a fresh value, or an accepted stale value without a due refresh.
  @inlinable
  func usableInMemory(_ key: HashedKey<Key>, accepting demand: Demand) -> Value? {
    table.usableValue(of: key, at: now(), accepting: demand) { records.writeUse($0, of: key) }
  }
}

extension EntryTable {
  /// Returns a value that a load accepts and that needs nothing to begin.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The time of the load.
  ///   - demand: The values that the load accepts. Read twice at most.
  ///   - noteUse: Called with the last access of a value, which the second tier must note.
  /// - Returns: The value; nil if the load must do more than look in memory.
  @inlinable
  @inline(__always)
  func usableValue(
    of key: HashedKey<Key>, at now: MonotonicTime, accepting demand: @autoclosure () -> Demand,
    noteUse: (LastAccess) -> Void
  ) -> Value? {
    guard demand().acceptsFresh else { return nil }
    return lookUp(key.key, hash: key.hash, at: now, accepting: demand()).hitValue(noteUse: noteUse)
  }
}
