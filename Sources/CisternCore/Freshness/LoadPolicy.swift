/// The values that a load accepts, and the time that it waits.
///
/// ```swift
/// let article = try await articles.value(forKey: id, policy: .freshOnly) { id in try await client.article(id) }
/// ```
///
/// A value is fresh during its lifetime, stale during its grace (``Expiry``), and then gone. No policy returns a
/// value that is gone. Without a grace, no value is ever stale.
public struct LoadPolicy: Sendable, Hashable {
  @usableFromInline var demand: Demand
  /// The time in nanoseconds after which a stale value is returned instead of the result of the running fetch.
  @usableFromInline var softTimeout: UInt64 = .max
  /// The time in nanoseconds after which the caller stops waiting.
  @usableFromInline var timeout: UInt64 = .max

  @usableFromInline
  init(_ demand: Demand) {
    self.demand = demand
  }

  /// A policy that returns a fresh value, or a stale one with a background refresh; otherwise it fetches. The
  /// default.
  ///
  /// A single flight refreshes the value, regardless of the number of loads.
  public static let cachedOrFetch = LoadPolicy(.standard)

  /// A policy that returns a fresh value; otherwise it fetches, and throws if the fetch fails.
  public static let freshOnly = LoadPolicy(Demand(stale: .never))

  /// A policy that returns a fresh value; otherwise it fetches. It returns a stale value if the fetch fails or
  /// takes too long (``returningStale(after:)``).
  ///
  /// After a failed fetch, loads return the stale value and do not fetch again within
  /// ``CacheConfiguration/refreshRetryInterval``. After an error that ``CacheConfiguration/fallsBack`` excludes, they
  /// fetch.
  public static let freshElseStale = LoadPolicy(Demand(stale: .instead))

  /// A policy that returns a fresh or a stale value, and never fetches or waits.
  ///
  /// If neither tier has such a value, the load throws `CisternError` with the code ``CisternError/Code/notCached``. A
  /// load of several keys reports such keys in ``LoadedValues/missing``. ``Cache/cachedValue(forKey:)`` uses this
  /// policy.
  public static let cachedOnly = LoadPolicy(Demand(fetches: false))

  /// A policy that fetches, regardless of cached values, or joins a flight that is already running.
  public static let reload = LoadPolicy(Demand(acceptsFresh: false, stale: .never))

  /// A policy that always starts a fetch, and joins no flight that began earlier. Use it after a change at the origin:
  /// an earlier flight may bring the state before the change.
  ///
  /// Earlier waiters still get the result of that flight, which is not stored. Loads with another policy join the new
  /// flight. Each load with this policy starts its own fetch.
  public static let fetchAnew = LoadPolicy(Demand(acceptsFresh: false, stale: .never, joins: false))

  /// Returns a policy like ``cachedOrFetch`` that accepts stale values only up to an age. A value past its grace is
  /// never accepted.
  ///
  /// - Parameter age: The greatest accepted time since the end of the lifetime. Zero or less is equivalent to
  ///   ``freshOnly``.
  /// - Returns: The policy.
  public static func staleAcceptable(upTo age: Duration) -> LoadPolicy {
    let age = age.countedNanoseconds
    return LoadPolicy(Demand(stale: age == 0 ? .never : .upTo(age)))
  }

  /// Returns this policy with a soft timeout, after which a waiting caller receives a stale value, if one is in
  /// grace.
  ///
  /// The flight continues, and its result is stored once. This holds even if other callers join the flight and
  /// leave it. The soft timeout affects policies that return a stale value after a failure, such as
  /// ``freshElseStale``. Others, such as ``freshOnly``, ignore it.
  ///
  /// - Parameter duration: The time that the caller waits. Zero or less returns the stale value at once, even if the
  ///   fetch returns at once, too.
  /// - Returns: The policy with the soft timeout.
  public func returningStale(after duration: Duration) -> LoadPolicy {
    var policy = self
    policy.softTimeout = duration.countedNanoseconds
    return policy
  }

  /// Returns this policy with a timeout, after which the caller stops waiting, whether it started the flight or
  /// joined it.
  ///
  /// The caller then receives a stale value, if the policy allows one. It receives the value that was set during the
  /// fetch, unless the policy requires a fetched one. Otherwise the load throws `CisternError` with the code
  /// ``CisternError/Code/timedOut``. The time spans all flights that one load waits for.
  ///
  /// The flight continues and stores its result while other callers wait for it. It is cancelled when the last
  /// caller leaves, unless ``CacheConfiguration/completesAbandonedFlights`` is set. A timeout counts as a failed
  /// fetch. A stale value is not fetched again within ``CacheConfiguration/refreshRetryInterval``.
  ///
  /// - Parameter duration: The time that the caller waits. With zero or less, the caller does not wait, even if the
  ///   fetch returns at once. It gets a cached value, a stale value or the error. A fetch that only this caller started
  ///   is then cancelled.
  /// - Returns: The policy with the timeout.
  public func timingOut(after duration: Duration) -> LoadPolicy {
    var policy = self
    policy.timeout = duration.countedNanoseconds
    return policy
  }
}

extension LoadPolicy: CustomStringConvertible {
  /// The name of the policy and its timeouts, for example "freshElseStale, returning stale after 1.0 seconds".
  public var description: String {
    var parts = [name]
    if softTimeout != .max { parts.append("returning stale after \(Duration.nanoseconds(softTimeout))") }
    if timeout != .max { parts.append("timing out after \(Duration.nanoseconds(timeout))") }
    return parts.joined(separator: ", ")
  }

  private var name: String {
    if !demand.fetches { return "cachedOnly" }
    if !demand.joins { return "fetchAnew" }
    if !demand.acceptsFresh { return "reload" }
    return switch demand.stale {
    case .upTo(.max): "cachedOrFetch"
    case .upTo(let age): "staleAcceptable up to \(Duration.nanoseconds(age))"
    case .instead: "freshElseStale"
    case .never: "freshOnly"
    }
  }
}
