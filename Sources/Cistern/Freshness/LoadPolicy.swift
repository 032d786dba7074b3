/// What one load accepts, and how long it waits.
///
/// ```swift
/// let article = try await articles.value(forKey: id, policy: .freshOnly) { id in try await client.article(id) }
/// ```
///
/// A value is fresh for its lifetime, then stale for its grace (``Expiry``), then gone: no policy returns it. Where an
/// entry keeps no grace, no policy finds anything stale.
public struct LoadPolicy: Sendable, Hashable {
  @usableFromInline var demand: Demand
  /// Nanoseconds after which a stale value is returned in the place of a fetch that is still under way.
  @usableFromInline var softTimeout: UInt64 = .max
  /// Nanoseconds after which the caller stops waiting.
  @usableFromInline var timeout: UInt64 = .max

  @usableFromInline
  init(_ demand: Demand) {
    self.demand = demand
  }

  /// A fresh value, or a stale one in grace, which is fetched anew in the background by one flight; else fetches. The
  /// default.
  public static let cachedOrFetch = LoadPolicy(.standard)

  /// A fresh value; else fetches, and throws where that fails.
  public static let freshOnly = LoadPolicy(Demand(stale: .never))

  /// A fresh value; else fetches, and returns a stale value in grace where that fails or takes longer than
  /// ``returningStale(after:)`` says.
  ///
  /// A fetch that failed is not tried again within ``CacheConfiguration/refreshRetryInterval``, however many callers
  /// ask: they get the stale value meanwhile.
  public static let freshElseStale = LoadPolicy(Demand(stale: .instead))

  /// A fresh value, or a stale one in grace. Never fetches and never waits: throws `CisternError` with the code
  /// ``CisternError/Code/notCached`` where neither tier has one. ``Cache/cachedValue(forKey:)`` loads by it, without a
  /// fetch.
  public static let cachedOnly = LoadPolicy(Demand(fetches: false))

  /// Fetches, whatever is cached; joins a flight that is on its way.
  public static let reload = LoadPolicy(Demand(acceptsFresh: false, stale: .never))

  /// As ``cachedOrFetch``, but a stale value is only returned for so long after its lifetime; within its grace in any
  /// case. Zero or less is ``freshOnly``.
  public static func staleAcceptable(upTo age: Duration) -> LoadPolicy {
    let age = age.countedNanoseconds
    return LoadPolicy(Demand(stale: age == 0 ? .never : .upTo(age)))
  }

  /// The same, and a caller that has waited for so long gets a stale value in grace, if there is one. The flight goes on,
  /// and is stored once. Callers that join it later and leave do not change this.
  ///
  /// It concerns policies that wait although there is a stale value: ``freshElseStale``. Zero or less returns it at
  /// once.
  public func returningStale(after duration: Duration) -> LoadPolicy {
    var policy = self
    policy.softTimeout = duration.countedNanoseconds
    return policy
  }

  /// The same, and a caller that has waited for so long, whether it started the flight or joined it, gets a stale value
  /// where the policy allows one, else a `CisternError` with the code ``CisternError/Code/timedOut``.
  ///
  /// The flight goes on and is stored while anyone waits for it. With the last waiter's time it is cancelled, unless
  /// ``CacheConfiguration/completesAbandonedFlights`` asks otherwise. Zero or less waits for nothing.
  ///
  /// The time spans all flights that one load waits for. A timeout counts as a failed fetch: a stale value is not fetched again
  /// within ``CacheConfiguration/refreshRetryInterval``.
  public func timingOut(after duration: Duration) -> LoadPolicy {
    var policy = self
    policy.timeout = duration.countedNanoseconds
    return policy
  }
}

extension LoadPolicy: CustomStringConvertible {
  /// The name of the policy, and its timeouts: "freshElseStale, returning stale after 1.0 seconds".
  public var description: String {
    var parts = [name]
    if softTimeout != .max { parts.append("returning stale after \(Duration.nanoseconds(softTimeout))") }
    if timeout != .max { parts.append("timing out after \(Duration.nanoseconds(timeout))") }
    return parts.joined(separator: ", ")
  }

  private var name: String {
    if !demand.fetches { return "cachedOnly" }
    if !demand.acceptsFresh { return "reload" }
    return switch demand.stale {
    case .upTo(.max): "cachedOrFetch"
    case .upTo(let age): "staleAcceptable up to \(Duration.nanoseconds(age))"
    case .instead: "freshElseStale"
    case .never: "freshOnly"
    }
  }
}
