/// The values that a load accepts: a ``LoadPolicy`` without its timeouts. A pure value, on which the entry's state
/// machine decides.
@usableFromInline
struct Demand: Sendable, Hashable {
  /// The use of a value that is not fresh.
  @usableFromInline
  enum StaleUse: Sendable, Hashable {
    /// It is returned if it is stale by at most this number of nanoseconds. A background refresh follows.
    case upTo(UInt64)
    /// It is returned if the fetch fails or takes too long.
    case instead
    /// It is not returned.
    case never
  }

  /// Whether a fresh value is returned. If false, the load always fetches.
  @usableFromInline var acceptsFresh = true
  /// The use of a stale value.
  @usableFromInline var stale = StaleUse.upTo(.max)
  /// Whether the load may fetch.
  @usableFromInline var fetches = true
  /// Whether the load may join a flight that began before it.
  @usableFromInline var joins = true
  /// Whether the load has already looked in the second tier.
  @usableFromInline var hasLookedInSecondTier = false
  /// Whether unconfirmed edits show a value of the key. Memory may not hold it.
  @usableFromInline var isShownByEdits = false

  @inlinable
  init(acceptsFresh: Bool = true, stale: StaleUse = .upTo(.max), fetches: Bool = true, joins: Bool = true) {
    self.acceptsFresh = acceptsFresh
    self.stale = stale
    self.fetches = fetches
    self.joins = joins
  }

  /// Accepts any value that is not gone, and refreshes it in the background when due.
  @inlinable
  static var standard: Demand { Demand() }

  /// Accepts only fresh values, and never fetches.
  @inlinable
  static var lookUp: Demand { Demand(stale: .never, fetches: false) }

  /// Whether the load must look in the second tier before it joins a flight that does not look there.
  @inlinable
  var looksInSecondTier: Bool { acceptsFresh && !hasLookedInSecondTier }

  /// Whether the decision to join is final. After a look in the second tier, the load looks there again beside a later
  /// flight, and counts the join itself.
  @inlinable
  var countsJoin: Bool { !hasLookedInSecondTier }

  /// Returns whether the load must look in the second tier, or for the value of unconfirmed edits, before it joins a
  /// flight.
  ///
  /// - Parameter coversSecondTier: Whether no load needs to look in the second tier beside the flight.
  /// - Returns: Whether the load must look elsewhere.
  @inlinable
  func mustLookUpBeforeJoining(flightCoversSecondTier coversSecondTier: Bool) -> Bool {
    looksInSecondTier && (isShownByEdits || !coversSecondTier)
  }

  /// Returns whether a load may return a value because its fetch failed or took too long.
  ///
  /// The value may have passed the accepted age, or a window of its grace, during the fetch.
  func permitsFallback(to freshness: Freshness) -> Bool {
    guard freshness.permitsFallback else { return false }
    if case (.upTo(let limit), .stale(let age, _, _)) = (stale, freshness) { return age <= limit }
    return true
  }

  /// The decision about a value.
  @usableFromInline
  enum Verdict: Equatable {
    /// The value is returned. If `refreshes` is true, a background refresh begins.
    case use(isStale: Bool, refreshes: Bool)
    /// A newer value is fetched. If `fallsBack` is true, the old value is returned if the fetch fails.
    case fetch(fallsBack: Bool)
    /// The value is gone for all callers.
    case gone
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
    case .stale(let age, let refreshDue, let uses):
      return verdict(onStaleBy: age, refreshDue: refreshDue, uses: uses)
    }
  }

  @usableFromInline
  func verdict(onStaleBy age: UInt64, refreshDue: Bool, uses: StaleUses) -> Verdict {
    switch stale {
    case .upTo(let limit) where age <= limit:
      if uses.whileRevalidate || !fetches { return .use(isStale: true, refreshes: fetches && refreshDue) }
    case .upTo, .never:
      return .fetch(fallsBack: false)
    case .instead:
      break
    }
    guard uses.ifError else { return .fetch(fallsBack: false) }
    // A recent refresh failed, so this load sends no further request to the origin. If the error must reach the
    // callers, only a further request tells whether it still does.
    return refreshDue || !uses.insteadOfFetch ? .fetch(fallsBack: true) : .use(isStale: true, refreshes: false)
  }
}
