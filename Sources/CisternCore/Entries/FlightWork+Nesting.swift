import Locking

// Loads inside a fetch. Such a load waits for another flight, and must not wait for the fetch that it is part of.

extension FlightWork {
  /// The work whose fetch the current task is part of; nil outside all fetches.
  ///
  /// A task that a fetch starts with `Task { }` inherits the value. A detached task does not.
  @TaskLocal static var current: FlightWork?

  /// The value of ``current``, for inlined code in other modules.
  @usableFromInline
  static var enclosing: FlightWork? { current }

  /// Runs `start`, which starts this work's task. That task and the tasks that it starts are part of this work.
  @usableFromInline
  final func startTask(_ start: () -> Void) {
    Self.$current.withValue(self, operation: start)
  }

  /// The waits between the fetches of all caches and coalescers.
  ///
  /// A node identifies a work. The task that waits holds the work, so its identifier stays valid during the wait.
  private static let waits = Guarded(WaitGraph<ObjectIdentifier>())

  /// Begins a wait of this work's fetch for another work.
  ///
  /// - Returns: False if the other work waits for this one. The fetch must not wait then.
  func beginWait(for other: FlightWork) -> Bool {
    Self.waits.withLock { $0.add(ObjectIdentifier(self), waitsFor: ObjectIdentifier(other)) }
  }

  /// Ends a wait that ``beginWait(for:)`` began.
  func endWait(for other: FlightWork) {
    Self.waits.withLock { $0.remove(ObjectIdentifier(self), waitsFor: ObjectIdentifier(other)) }
  }

  /// Lends this work's permit, before its fetch waits.
  @usableFromInline
  func lendPermit() { FetchPermit.held(by: self)?.lend() }

  /// Takes this work's permit back after a wait. Returns when the fetch may continue.
  @usableFromInline
  func takeBackPermit() async { await FetchPermit.held(by: self)?.takeBack() }
}

extension Flight {
  /// Waits for the outcome, inside a fetch. Returns ``LoadCycle`` as the error at once if the flight waits for that fetch.
  @usableFromInline
  nonisolated(nonsending) final func wait(as waiter: Int, inside fetch: FlightWork) async -> FlightOutcome<Value> {
    guard fetch.beginWait(for: work) else {
      withdraw(waiter)
      return .failed(LoadCycle())
    }
    defer { fetch.endWait(for: work) }
    return await wait(as: waiter)
  }

  /// Waits for the result, inside a fetch, and lends the fetch's permit during the wait.
  nonisolated(nonsending) final func wait(
    as waiter: Int, lendingPermitOf fetch: FlightWork
  ) async -> FlightOutcome<Value> {
    fetch.lendPermit()
    let outcome = await wait(as: waiter, inside: fetch)
    await fetch.takeBackPermit()
    return outcome
  }
}

/// The error of a load that would wait for itself. Callers of the library get ``error(location:)`` instead.
@usableFromInline
struct LoadCycle: Error {
  @usableFromInline
  static func error(location: String) -> CisternError {
    CisternError(
      .cyclicLoad,
      "the fetch loads a key whose fetch waits for this one, so neither can end; load the key outside the fetch",
      location: location)
  }
}
