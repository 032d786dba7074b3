import Locking

// Loads inside a fetch. They wait for other flights, and must not wait for their own.

extension FlightWork {
  /// The work whose fetch the current task is a part of; nil outside all fetches.
  ///
  /// A task that a fetch starts by `Task { }` inherits it, and a detached one does not.
  @TaskLocal static var current: FlightWork?

  /// The same, for code that is compiled elsewhere.
  @usableFromInline
  static var enclosing: FlightWork? { current }

  /// Runs `start`, which starts this work's task: the task and what it starts are a part of this work.
  @usableFromInline
  final func startTask(_ start: () -> Void) {
    Self.$current.withValue(self, operation: start)
  }

  /// The waits of all fetches, of every cache and coalescer. Nodes are works: each is held by a task that waits, for as long
  /// as that waits.
  private static let waits = Guarded(WaitGraph<ObjectIdentifier>())

  /// This work's fetch begins to wait for another work; false, and it must not wait, if that waits for this one.
  func beginWait(for other: FlightWork) -> Bool {
    Self.waits.withLock { $0.add(ObjectIdentifier(self), waitsFor: ObjectIdentifier(other)) }
  }

  func endWait(for other: FlightWork) {
    Self.waits.withLock { $0.remove(ObjectIdentifier(self), waitsFor: ObjectIdentifier(other)) }
  }

  /// Gives back this work's place under a flight limit, before its fetch waits.
  @usableFromInline
  func lendPermit() { FetchPermit.held(by: self)?.lend() }

  /// Returns when the fetch, which has waited, may go on under the limit.
  @usableFromInline
  func takeBackPermit() async { await FetchPermit.held(by: self)?.takeBack() }
}

extension Flight {
  /// Waits for the result, inside a fetch. Throws ``LoadCycle`` at once if the flight waits for that fetch.
  @usableFromInline
  nonisolated(nonsending) final func wait(as waiter: Int, inside fetch: FlightWork) async throws -> Value {
    guard fetch.beginWait(for: work) else {
      withdraw(waiter)
      throw LoadCycle()
    }
    defer { fetch.endWait(for: work) }
    return try await wait(as: waiter)
  }

  /// The same; and while it waits, the fetch gives back its place under a flight limit.
  nonisolated(nonsending) final func wait(as waiter: Int, lendingPermitOf fetch: FlightWork) async throws -> Value {
    fetch.lendPermit()
    do {
      let value = try await wait(as: waiter, inside: fetch)
      await fetch.takeBackPermit()
      return value
    } catch {
      await fetch.takeBackPermit()
      throw error
    }
  }
}

/// A load would wait for itself. Never leaves the library: the caller gets ``error(location:)``.
@usableFromInline
struct LoadCycle: Error {
  @usableFromInline
  static func error(location: String) -> CisternError {
    CisternError(
      .cyclicLoad,
      "a fetch loads a key whose own fetch waits for it, so that neither could end",
      location: location)
  }
}
