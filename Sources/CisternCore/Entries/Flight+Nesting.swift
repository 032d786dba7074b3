// Loads inside a fetch. Such a load waits for another flight, and must not wait for the fetch that it is part of.

extension Flight {
  /// Waits for the outcome, inside a fetch. Returns ``LoadCycle`` as the error at once if the flight waits for that
  /// fetch and has not announced a value.
  @usableFromInline
  nonisolated(nonsending) final func wait(as waiter: Int, inside fetch: WorkIdentity) async -> FlightOutcome<Value> {
    // A waiter that does not suspend closes no cycle.
    if let outcome = withState({ $0.takeOutcome(of: waiter) }) { return outcome }
    guard fetch.beginWait(for: work.identity) else {
      withdraw(waiter)
      return .failed(LoadCycle())
    }
    defer { fetch.endWait(for: work.identity) }
    return await wait(as: waiter)
  }

  /// Waits for the result, inside a fetch, and lends the fetch's permit during the wait.
  nonisolated(nonsending) final func wait(
    as waiter: Int, lendingPermitOf fetch: WorkIdentity
  ) async -> FlightOutcome<Value> {
    fetch.lendPermit()
    let outcome = await wait(as: waiter, inside: fetch)
    await fetch.takeBackPermit()
    return outcome
  }
}
