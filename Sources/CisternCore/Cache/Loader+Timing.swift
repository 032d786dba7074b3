// The ends of waits in time.

extension Loader {
  /// A wait with limits, and its key.
  @usableFromInline
  struct KeyedWait: Sendable {
    let wait: Wait<Value>
    let key: HashedKey<Key>

    @usableFromInline
    init(_ wait: Wait<Value>, _ key: HashedKey<Key>) {
      self.wait = wait
      self.key = key
    }
  }

  /// Starts the task that ends these waits in time. They have the same timeouts and the same start.
  ///
  /// The waits may begin later. A wait whose flight ends or announces a value before the timeout gets that outcome.
  ///
  /// - Parameter waits: The waits.
  /// - Returns: The task; nil if the waits have no end.
  @usableFromInline
  func startTimer(of waits: [KeyedWait]) -> Task<Void, Never>? {
    let softDeadline = waits.lazy.compactMap(\.wait.waitLimits.softDeadline).first
    let deadline = waits.lazy.compactMap(\.wait.waitLimits.deadline).first
    guard softDeadline != nil || deadline != nil else { return nil }
    return Task(executorPreference: flightOptions.taskExecutor) { [self] in
      let clock = lifetimes.clock
      var left = waits
      // A sleep throws if the task is cancelled, because no wait is left.
      if let softDeadline {
        guard (try? await clock.sleep(until: softDeadline)) != nil else { return }
        left.removeAll { endSoftly($0.wait, for: $0.key) != nil }
      }
      guard !left.isEmpty, let deadline,
        (try? await clock.sleep(until: deadline)) != nil
      else { return }
      for one in left where one.wait.flight.isAwaited(by: one.wait.waiter) { _ = end(one.wait, for: one.key) }
    }
  }

  /// Ends a wait whose time is up before it begins.
  ///
  /// The caller does not get the outcome of a flight that has completed, because that would depend on the speed of the
  /// fetch.
  ///
  /// - Returns: The outcome of the wait; nil if time is left.
  @usableFromInline
  func endIfOver(_ wait: Wait<Value>, for key: HashedKey<Key>) -> FlightOutcome<Value>? {
    let (softDeadline, deadline) = (wait.waitLimits.softDeadline, wait.waitLimits.deadline)
    guard softDeadline != nil || deadline != nil else { return nil }
    let now = lifetimes.clock.now()
    var outcome: FlightOutcome<Value>?
    if let softDeadline, softDeadline <= now { outcome = endSoftly(wait, for: key) }
    if outcome == nil, let deadline, deadline <= now { outcome = end(wait, for: key) }
    if outcome != nil { wait.flight.withdraw(wait.waiter) }
    return outcome
  }

  /// Ends a wait at its soft timeout. The caller leaves with the older value.
  ///
  /// The flight continues, so that its value is stored.
  ///
  /// - Parameters:
  ///   - wait: The wait.
  ///   - key: The key.
  /// - Returns: The outcome of the wait; nil if no older value can be returned any more. The wait then continues.
  private func endSoftly(_ wait: Wait<Value>, for key: HashedKey<Key>) -> FlightOutcome<Value>? {
    guard wait.waitLimits.softDeadline != nil, let value = fallbackAfterTimeout(of: wait, key) else { return nil }
    let outcome = FlightOutcome<Value>.timedOut(stale: value)
    wait.flight.leave(wait.waiter, with: outcome, keepingFlight: true)
    return outcome
  }

  /// Ends a wait at its timeout.
  private func end(_ wait: Wait<Value>, for key: HashedKey<Key>) -> FlightOutcome<Value> {
    // An origin that hangs counts as one that fails. First: a caller that looks again must find the pause.
    table.postponeRefresh(by: wait.flight, of: key, pause: retryPause())
    let outcome = FlightOutcome<Value>.timedOut(stale: fallbackAfterTimeout(of: wait, key))
    // A caller without an older value leaves the flight as a cancelled one does.
    wait.flight.leave(wait.waiter, with: outcome)
    return outcome
  }
}
