import CisternTesting
import Cistern

/// A load policy, with the results that a load may have.
struct LoadChoice: Sendable {
  /// The policy of the load, or nil for the default policy of the cache.
  var policy: LoadPolicy?
  /// The time in nanoseconds after its lifetime during which a value is accepted.
  var staleness: UInt64 = .max
  /// Whether the load accepts a stale value while the origin must not be asked.
  var leavesOriginAlone = true
  /// Whether the load may time out.
  var mayTimeOut = false
  /// Whether the load may return no value, because it does not fetch.
  var mayFindNothing = false
  /// Whether the load fetches even if a value is cached.
  var isReload = false

  /// A load without a policy.
  static let usual = LoadChoice(policy: nil)
  static let freshOnly = LoadChoice(policy: .freshOnly, staleness: 0, leavesOriginAlone: false)
  static let reload = LoadChoice(policy: .reload, staleness: 0, leavesOriginAlone: false, isReload: true)
  static let cachedOnly = LoadChoice(policy: .cachedOnly, mayFindNothing: true)
  static let freshElseStale = LoadChoice(policy: .freshElseStale)

  static func staleAcceptable(upTo nanoseconds: UInt64) -> LoadChoice {
    LoadChoice(
      policy: .staleAcceptable(upTo: .nanoseconds(Int64(nanoseconds))), staleness: nanoseconds,
      leavesOriginAlone: false)
  }

  /// Returns the same choice, but with a stale value as the result after a time.
  func soft(_ patience: Duration) -> LoadChoice {
    var choice = self
    choice.policy = policy?.returningStale(after: patience)
    return choice
  }

  /// Returns the same choice, but with a timeout.
  func hard(_ patience: Duration) -> LoadChoice {
    var choice = self
    choice.policy = policy?.timingOut(after: patience)
    choice.mayTimeOut = true
    return choice
  }

  /// One choice for each kind of policy.
  static let all = [
    usual, freshOnly, freshElseStale, freshElseStale.soft(.milliseconds(3)), staleAcceptable(upTo: 100_000_000),
    reload, cachedOnly, freshOnly.hard(.milliseconds(4)), freshElseStale.hard(.milliseconds(4)),
  ]

  /// Returns a random choice. The usual one is as frequent as all others together.
  static func next(using generator: inout SeededGenerator) -> LoadChoice {
    let index = generator.next(below: 2 * all.count)
    return index < all.count ? all[index] : .usual
  }
}

extension Outcome {
  /// The outcome of a load that returned a value.
  init<Value>(of loaded: Loaded<Value>, anew: Bool = false) {
    self =
      switch loaded.source {
      case _ where loaded.isStale: .stale
      case .memory: .memory
      case .secondTier: .disk
      case .joined: .joined
      case .fetched: anew ? .refreshed : .fetched
      }
  }
}
