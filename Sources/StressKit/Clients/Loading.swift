import Cistern

/// One call of `loadedValue`, with the check of its result.
struct Loading: Sendable {
  let runState: RunState
  let origin: any Origin
  let cache: Cache<String, [UInt8]>
  let key: Int
  var choice = LoadChoice.usual
  let isThorough: Bool
  /// Whether the caller may be cancelled. A `CancellationError` is then no violation.
  var mayBeCancelled = false

  /// Loads the key, and returns the outcome.
  func run() async -> Outcome {
    let name = runState.keys.names[key]
    let (runState, origin, key) = (runState, origin, key)
    let start = Ticks.now()
    do {
      let loaded = try await cache.loadedValue(forKey: name, policy: choice.policy) { _ in
        try await runState.fetch(key, from: origin, calledAt: start)
      }
      if loaded.isStale, choice.staleness == 0 {
        runState.violations.report(.outlived, "\(name): a load that accepts only fresh values returned a stale one")
      }
      runState.check(
        loaded.value.rawSpan, of: key,
        in: ReadWindow(start: start, end: Ticks.now(), staleness: choice.staleness), isThorough: isThorough)
      return Outcome(of: loaded, anew: choice.isReload)
    } catch is CancellationError {
      if !mayBeCancelled && !Task.isCancelled {
        runState.violations.report(.failed, "\(name): a load threw CancellationError, but its task was not cancelled")
      }
      return .cancelled
    } catch let error as CisternError where error.code == .timedOut && choice.mayTimeOut {
      return .timedOut
    } catch let error as CisternError where error.code == .notCached && choice.mayFindNothing {
      return .missed
    } catch {
      Loading.judge(error, name: name, runState)
      return .failed
    }
  }

  /// Reports a violation for an error of the cache. Errors of the origin are part of the run.
  static func judge(_ error: any Error, name: String, _ runState: RunState) {
    switch error {
    case let error as OriginError:
      if case .garbled = error { runState.violations.report(.corrupt, "\(error)") }
    case let error as CisternError:
      runState.violations.report(.failed, "\(name): \(error)")
    default:
      // An error of the network or of a user's server, or the end of the run.
      break
    }
  }
}
