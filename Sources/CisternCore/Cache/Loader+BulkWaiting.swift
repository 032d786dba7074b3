// The waits of a load of several keys, one after the other.

extension Loader {
  /// Runs the waits of a load, and raises all flights that it still waits for if its task is escalated.
  ///
  /// Each wait has a handler, too, for its own flight. The flights of the later waits must not be delayed until then.
  ///
  /// - Parameters:
  ///   - awaited: The waits.
  ///   - priority: The priority of the task when the flights began.
  ///   - body: The closure that waits.
  /// - Returns: The result of `body`.
  @inlinable
  nonisolated(nonsending) func raising<Result>(
    _ awaited: [BulkWaiter], since priority: TaskPriority, _ body: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    await withTaskPriorityEscalationHandler {
      // No handler was installed before, so an earlier escalation is noticed only here.
      let present = Task.currentPriority
      if present > priority { Self.raise(awaited, to: present) }
      return await body()
    } onPriorityEscalated: { _, priority in
      Self.raise(awaited, to: priority)
    }
  }

  /// Raises the priority of the flights that a load still waits for.
  @usableFromInline
  static func raise(_ awaited: [BulkWaiter], to priority: TaskPriority) {
    for one in awaited where one.flight.isAwaited(by: one.waiter) { one.flight.escalate(to: priority) }
  }

  /// Waits for the flights of several keys.
  ///
  /// - Parameters:
  ///   - awaited: The waits.
  ///   - request: The load.
  ///   - invalidationVersion: The invalidation version when the load began.
  ///   - result: Receives the values, the errors and the missing keys.
  /// - Returns: The keys that the load must ask for again.
  @inlinable
  nonisolated(nonsending) func wait(
    for awaited: [BulkWaiter], of request: BulkRequest<Key, Value>, since invalidationVersion: InvalidationVersion,
    into result: inout LoadedValues<Key, Value>
  ) async -> Set<Key> {
    // The permit is lent once, and not for each key.
    let enclosing = WorkIdentity.enclosing
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
}
