/// What a load accepts: a ``LoadPolicy`` as the life cycle sees it. Pure.
@usableFromInline
struct Demand: Sendable, Hashable {
  /// What is done with a value that is not fresh.
  @usableFromInline
  enum StaleUse: Sendable, Hashable {
    /// Returned, and refreshed behind, if it is stale by no more than so many nanoseconds.
    case upTo(UInt64)
    /// Returned where fetching fails or takes too long.
    case instead
    /// Not returned.
    case never
  }

  /// Whether a fresh value is returned; else one is fetched in any case.
  @usableFromInline var acceptsFresh = true
  /// What is done with a stale one.
  @usableFromInline var stale = StaleUse.upTo(.max)
  /// Whether anything may be fetched.
  @usableFromInline var fetches = true
  /// Whether the load has looked in the second tier already.
  @usableFromInline var hasLookedBehind = false

  @inlinable
  init(acceptsFresh: Bool = true, stale: StaleUse = .upTo(.max), fetches: Bool = true) {
    self.acceptsFresh = acceptsFresh
    self.stale = stale
    self.fetches = fetches
  }

  /// Whatever is not gone is returned, and refreshed behind where it is due.
  @inlinable
  static var standard: Demand { Demand() }

  /// Only what is fresh, and nothing is fetched.
  @inlinable
  static var lookUp: Demand { Demand(stale: .never, fetches: false) }

  /// The same, of what is fresh.
  @inlinable
  var freshOnly: Demand { Demand(acceptsFresh: acceptsFresh, stale: .never, fetches: fetches) }

  /// Whether a flight is joined only if it is ahead of the second tier.
  @inlinable
  var looksBehind: Bool { acceptsFresh && !hasLookedBehind }

  /// What to do with a value.
  @usableFromInline
  enum Verdict: Equatable {
    /// It is returned; and fetched anew, in the background, where that is due.
    case use(isStale: Bool, refreshes: Bool)
    /// A newer one is fetched; it is there in case that fails.
    case fetch(fallsBack: Bool)
    /// It is past its time for everyone.
    case gone
  }

  /// Whether a value is accepted that is past its lifetime by so many nanoseconds, where nothing can be fetched.
  @usableFromInline
  func accepts(staleBy age: UInt64) -> Bool {
    switch stale {
    case .upTo(let limit): age <= limit
    case .instead: true
    case .never: false
    }
  }

  @inlinable
  func verdict(on freshness: Freshness) -> Verdict {
    switch freshness {
    case .gone:
      return .gone
    case .fresh where acceptsFresh:
      return .use(isStale: false, refreshes: false)
    case .refreshDue where acceptsFresh:
      return .use(isStale: false, refreshes: fetches)
    case .fresh, .refreshDue:
      return .fetch(fallsBack: false)
    case .stale(let age, let refreshDue):
      switch stale {
      case .upTo(let limit) where age <= limit: return .use(isStale: true, refreshes: fetches && refreshDue)
      case .upTo, .never: return .fetch(fallsBack: false)
      // A refresh failed a short time ago: the origin is left alone.
      case .instead: return refreshDue ? .fetch(fallsBack: true) : .use(isStale: true, refreshes: false)
      }
    }
  }
}
