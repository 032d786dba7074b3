extension Loader {
  /// Starts a flight without waiters. Returns false if one is in progress, or if the pause after a failure holds.
  func refresh(_ request: Request) -> Bool {
    let key = request.key
    let priority = Task.currentPriority
    if records.hasPausedRecord(of: key) { return false }
    while true {
      let decision = table.refresh(key, at: lifetimes.clockTime()) {
        table.makeFlight(for: key, priority: priority, flightOptions: flightOptions)
      }
      switch decision {
      case .start(let flight):
        startRefresh(flight, for: request, priority: priority)
        return true
      case .decline:
        return false
      case .expired:
        records.endExpired(key)
      }
    }
  }

  /// Starts the task of a flight without waiters.
  @inlinable
  @inline(never)
  func startRefresh(_ flight: Flight<Value>, for request: Request, priority: TaskPriority) {
    Circuit.startOutsideProbes { start(flight, for: request, priority: priority) }
  }

  /// Reports the failure of a fetch whose error no caller gets.
  func noteFailedRefresh(of key: Key, _ error: any Error) {
    reports.reportFailedRefresh(of: key, error, at: lifetimes.clock.now())
    if !(error is CancellationError) { events.send(CacheEvent(.refreshFailed, key, error)) }
  }
}

extension SecondTierReader {
  /// Whether only the second tier has a stale value of a key, and no refresh of it is due after a failed load.
  ///
  /// Memory keeps such a pause with its value, so that a refresh finds it there.
  fileprivate func hasPausedRecord(of key: HashedKey<Key>) -> Bool {
    guard let secondTier, !table.retryPauses.isEmpty,
      table.retryPauses.holds(for: key, at: lifetimes.clockTime()),
      table.peek(key) == nil,
      case .usable(let found)? = interpretedRecord(of: key, in: secondTier),
      case .stale(_, refreshDue: false, _) = found.timing.freshness(at: lifetimes.clockTime())
    else { return false }
    return true
  }
}
