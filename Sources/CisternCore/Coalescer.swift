import Eviction

/// Combines concurrent requests for the same key into one execution.
///
/// A coalescer keeps no values: after a flight completes, the next caller starts another one. ``Cache`` coalesces
/// requests in the same way and keeps the values.
///
/// ```swift
/// let profiles = Coalescer<Int, Profile>()
/// let profile = try await profiles.value(forKey: id) { id in try await client.profile(id) }
/// ```
///
/// - Each flight runs in a separate task. A cancelled caller returns at once with `CancellationError`, and the other
///   callers continue to wait. When the last caller leaves, the flight is cancelled.
/// - An error goes to every waiter of the flight and is not kept. A retry from a `catch` block starts a new flight.
/// - The flight runs at the highest priority among its waiters, with the task-local values of the first one.
///
/// The coalescer corresponds to Go's `singleflight`, with reference-counted cancellation.
public final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let flightOptions: EntryTable<Key, Value>.FlightOptions

  /// Creates a coalescer.
  ///
  /// - Parameters:
  ///   - completesAbandonedFlights: Whether a flight continues after all its callers were cancelled. New callers can
  ///     then still join it. If false, the flight is cancelled.
  ///   - taskExecutor: The executor of the flights, or nil for the global pool.
  public init(completesAbandonedFlights: Bool = false, taskExecutor: (any TaskExecutor)? = nil) {
    table = EntryTable(
      shardCount: MemorySizing.defaultShardCount, policy: .lru, budget: MemoryBudget(costLimit: 0, countLimit: 0))
    flightOptions = EntryTable.FlightOptions(
      taskExecutor: taskExecutor, completesAbandonedFlights: completesAbandonedFlights)
  }

  /// Returns the value that `fetch` returns, with one execution for all concurrent callers with the same key.
  ///
  /// This method runs on the caller's actor, and `fetch` runs in a separate task.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fetch: A closure that produces the value of the key.
  /// - Returns: The value from this caller's `fetch` or from that of an earlier caller.
  /// - Throws: The error that `fetch` throws, or `CancellationError` promptly after the calling task is cancelled.
  ///   Inside a fetch that the flight waits for, throws `CisternError` with the code
  ///   ``CisternError/Code/cyclicLoad``.
  /// - Complexity: O(1) for each caller.
  @inlinable
  @inline(__always)
  public nonisolated(nonsending) func value(
    forKey key: Key, fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    // Always inlined: a waiting task has one frame less.
    try Task.checkCancellation()
    let hash = table.hash(key)
    let place = joinOrLead(key, hash: hash, fetch: fetch)
    guard let fetch = place.enclosing else { return try await place.flight.wait(as: place.waiter).get() }
    return try await wait(for: place.flight, as: place.waiter, inside: fetch, forKey: key)
  }

  /// Waits inside another fetch, which may be the one that the flight waits for.
  @usableFromInline
  nonisolated(nonsending) func wait(
    for flight: Flight<Value>, as waiter: Int, inside fetch: WorkIdentity, forKey key: Key
  ) async throws -> Value {
    let outcome = await flight.wait(as: waiter, lendingPermitOf: fetch)
    if case .failed(let error) = outcome, error is LoadCycle {
      throw LoadCycle.error(location: KeyedLocation.text("coalescer", key))
    }
    return try outcome.get()
  }

  /// Joins the key's flight, or starts one. This is separate and not inlined, which keeps the task frames of the
  /// waiters small.
  @inlinable
  @inline(never)
  func joinOrLead(
    _ key: Key, hash: UInt64, fetch: @escaping @Sendable (Key) async throws -> Value
  ) -> (flight: Flight<Value>, waiter: Int, enclosing: WorkIdentity?) {
    let enclosing = WorkIdentity.enclosing
    let priority = Task.currentPriority
    let decision = table.load(
      HashedKey(key, hash: hash), at: MonotonicTime(nanoseconds: 0), priority: priority
    ) {
      table.makeFlight(for: HashedKey(key, hash: hash), priority: priority, flightOptions: flightOptions)
    }
    switch decision {
    case .join(let flight, let waiter, _, _):
      return (flight, waiter, enclosing)
    case .lead(let flight, let waiter, _, _):
      start(flight, forKey: key, hash: hash, priority: priority, fetch: fetch)
      return (flight, waiter, enclosing)
    case .hit, .refresh, .lookInSecondTier, .notCached, .expired:
      preconditionFailure("a coalescer stores no values")
    }
  }

  /// Starts a flight's task. It inherits the caller's task-local values.
  @inlinable
  func start(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, priority: TaskPriority,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    // The two branches differ only in the executor. A task without an executor preference is faster at each switch.
    // A shared closure would add another closure and an asynchronous frame.
    if let taskExecutor = flightOptions.taskExecutor {
      flight.work.attach(
        Task(executorPreference: taskExecutor, priority: priority) { [table] in
          await Self.runFlight(flight, forKey: key, hash: hash, in: table, fetch: fetch)
        })
    } else {
      flight.work.attach(
        Task(priority: priority) { [table] in
          await Self.runFlight(flight, forKey: key, hash: hash, in: table, fetch: fetch)
        })
    }
  }

  @inlinable
  @inline(__always)
  static func runFlight(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, in table: EntryTable<Key, Value>,
    fetch: @Sendable (Key) async throws -> Value
  ) async {
    // The fetch does not start if all waiters left before the task began.
    let (identity, isCancelled) = (flight.work.identity, flight.work.isCancelled)
    guard !isCancelled else { return }
    let outcome: FlightOutcome<Value>
    do { outcome = .value(try await identity.fetching { try await fetch(key) }) } catch { outcome = .failed(error) }
    table.complete(flight, outcome, of: HashedKey(key, hash: hash))
  }

  /// Makes the next caller start a new flight, even if one for `key` is in progress. The waiters of that flight still
  /// receive its result.
  ///
  /// - Parameter key: The key.
  public func forget(_ key: Key) {
    table.write(MemoryWrite(nil, if: .always), to: table.hashed(key)) { _, _ in .forget }
  }

  /// The number of keys with a flight that can be joined. This takes all locks at once, so use it for checks only.
  public var flightCount: Int { table.totals().inProgressCount }
}
