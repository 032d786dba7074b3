import Cistern

/// A load policy, and what a load by it may come to.
struct LoadChoice: Sendable {
  /// For the cache; nil for its own.
  var policy: LoadPolicy?
  /// For how many nanoseconds after its lifetime a value is accepted.
  var staleness: UInt64 = .max
  /// Whether a stale value in grace is enough for it while the origin is left alone.
  var leavesOriginAlone = true
  /// Whether it may end with a timeout.
  var mayTimeOut = false
  /// Whether it may end without a value, because it does not fetch.
  var mayFindNothing = false
  /// Whether it fetches whatever is cached.
  var isReload = false

  /// What a load accepts that says nothing.
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

  /// The same, returning something stale after a while.
  func soft(_ patience: Duration) -> LoadChoice {
    var choice = self
    choice.policy = policy?.returningStale(after: patience)
    return choice
  }

  /// The same, giving up after a while.
  func hard(_ patience: Duration) -> LoadChoice {
    var choice = self
    choice.policy = policy?.timingOut(after: patience)
    choice.mayTimeOut = true
    return choice
  }

  /// One for each kind of policy.
  static let all = [
    usual, freshOnly, freshElseStale, freshElseStale.soft(.milliseconds(3)), staleAcceptable(upTo: 100_000_000),
    reload, cachedOnly, freshOnly.hard(.milliseconds(4)), freshElseStale.hard(.milliseconds(4)),
  ]

  /// One of them, the usual one as often as all others together.
  static func next(using generator: inout SplitMix64) -> LoadChoice {
    let index = generator.index(below: 2 * all.count)
    return index < all.count ? all[index] : .usual
  }
}

extension Outcome {
  /// How a load ended that brought a value.
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
