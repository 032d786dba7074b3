/// Lets any number of callers that want the same thing at the same time share one execution of getting it.
///
/// Nothing is kept: once a flight has landed, the next caller starts another. For values that stay, use ``Cache``, which
/// coalesces in the same way.
///
/// ```swift
/// let profiles = Coalescer<Int, Profile>()
/// let profile = try await profiles.value(forKey: id) { id in try await client.profile(id) }
/// ```
///
/// - A flight is a task of its own: cancelling one caller leaves the others alone, and the caller returns at once with
///   `CancellationError`. When the last one leaves, the flight is cancelled.
/// - An error goes to every waiter of the flight, and is not kept: a retry from a `catch` block starts a new flight.
/// - The flight runs at the highest priority among its waiters, and sees the task-local values of its first.
///
/// Named after what Go's `singleflight` does; identity of flights and reference-counted cancellation come from the
/// practice of Caffeine and of .NET's HybridCache.
public final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let pilot: EntryTable<Key, Value>.Pilot

  /// Creates a coalescer.
  ///
  /// - Parameters:
  ///   - completesAbandonedFlights: whether a flight whose callers have all been cancelled runs to its end; newcomers
  ///     can still join it. Else it is cancelled.
  ///   - taskExecutor: where flights run; nil for the global pool.
  public init(completesAbandonedFlights: Bool = false, taskExecutor: (any TaskExecutor)? = nil) {
    table = EntryTable(
      shardCount: MemorySizing.defaultShardCount, policy: .lru, budget: MemoryBudget(costLimit: 0, countLimit: 0))
    pilot = EntryTable.Pilot(taskExecutor: taskExecutor, completesAbandonedFlights: completesAbandonedFlights)
  }

  /// The value that `fetch` brings; runs it once for all callers that ask for `key` before it returns.
  ///
  /// Runs on the caller's actor; `fetch` runs in a task of its own. Throws what `fetch` throws, and `CancellationError`
  /// promptly when the calling task is cancelled. Throws `CisternError` with the code ``CisternError/Code/cyclicLoad`` inside a
  /// fetch that the flight itself waits for. O(1) a caller.
  @inlinable
  public nonisolated(nonsending) func value(
    forKey key: Key, fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let hash = table.hash(key)
    let seat = board(key, hash: hash, fetch: fetch)
    guard let fetch = seat.enclosing else { return try await seat.flight.wait(as: seat.waiter) }
    return try await wait(for: seat.flight, as: seat.waiter, inside: fetch, forKey: key)
  }

  /// Waits inside another fetch, which may be the one that the flight waits for.
  @usableFromInline
  nonisolated(nonsending) func wait(
    for flight: Flight<Value>, as waiter: Int, inside fetch: FlightWork, forKey key: Key
  ) async throws -> Value {
    do {
      return try await flight.wait(as: waiter, lendingPermitOf: fetch)
    } catch is LoadCycle {
      throw LoadCycle.error(location: "coalescer, key \(key)")
    }
  }

  /// Joins or leads. Apart from the waiting, and not inlined, so that the frames of those who wait are small.
  @inlinable
  @inline(never)
  func board(
    _ key: Key, hash: UInt64, fetch: @escaping @Sendable (Key) async throws -> Value
  ) -> (flight: Flight<Value>, waiter: Int, enclosing: FlightWork?) {
    let enclosing = FlightWork.enclosing
    let priority = Task.currentPriority
    let decision = table.load(key, hash: hash, at: MonotonicTime(nanoseconds: 0), priority: priority) {
      table.makeFlight(forKey: key, hash: hash, priority: priority, pilot: pilot)
    }
    switch decision {
    case .join(let flight, let waiter, _, _):
      return (flight, waiter, enclosing)
    case .lead(let flight, let waiter, _, _):
      start(flight, forKey: key, hash: hash, priority: priority, fetch: fetch)
      return (flight, waiter, enclosing)
    case .hit, .refresh, .lookBehind, .notCached, .expired:
      preconditionFailure("a coalescer keeps no values")
    }
  }

  /// Starts a flight's task. It inherits the caller's task-local values.
  @inlinable
  func start(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, priority: TaskPriority,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    flight.work.startTask {
      // The same twice: a task that is told of no executor at all has less to ask each time it is switched to, and a closure
      // that is passed on takes another around it, and an asynchronous frame.
      if let taskExecutor = pilot.taskExecutor {
        flight.work.run(
          Task(executorPreference: taskExecutor, priority: priority) { [table] in
            await Self.fly(flight, forKey: key, hash: hash, in: table, fetch: fetch)
          })
      } else {
        flight.work.run(
          Task(priority: priority) { [table] in
            await Self.fly(flight, forKey: key, hash: hash, in: table, fetch: fetch)
          })
      }
    }
  }

  @inlinable
  @inline(__always)
  static func fly(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, in table: EntryTable<Key, Value>,
    fetch: @Sendable (Key) async throws -> Value
  ) async {
    // Nothing starts where all waiters left before it began.
    guard !flight.work.isCancelled else { return }
    let outcome: Result<Value, any Error>
    do { outcome = .success(try await fetch(key)) } catch { outcome = .failure(error) }
    table.land(flight, outcome, forKey: key, hash: hash)
  }

  /// Lets the next caller start a flight of its own, even while one for `key` is on its way. Those who wait for it get
  /// its result.
  public func forget(_ key: Key) {
    table.write(nil, forKey: key, hash: table.hash(key)) { _, _, _ in false }
  }

  /// The number of keys whose flight is on its way and can be joined. Takes all locks at once: for checks.
  public var flightCount: Int { table.snapshot().inProgressCount }
}
