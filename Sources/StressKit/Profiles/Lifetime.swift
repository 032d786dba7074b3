import Cistern

/// The lifetime of a value in nanoseconds. The cache receives it as an ``Expiry``, and checks of reads use it
/// directly.
struct Lifetime: Sendable, Hashable {
  /// The time for which the value is fresh, or `UInt64.max` if it never expires.
  var fresh: UInt64
  /// The time after it for which the value may be returned stale.
  var grace: UInt64 = 0
  /// The fraction of the fresh time after which a read triggers a background refresh, or nil for no refresh.
  var refreshAhead: Double?

  /// A lifetime that never ends.
  static let forever = Lifetime(fresh: .max)

  static func seconds(_ fresh: Double, grace: Double = 0, refreshAhead: Double? = nil) -> Lifetime {
    Lifetime(fresh: UInt64(fresh * 1e9), grace: UInt64(grace * 1e9), refreshAhead: refreshAhead)
  }

  /// The lifetime as a setting of the cache.
  var expiry: Expiry {
    guard fresh != .max else { return .never }
    let expiry = Expiry.after(.nanoseconds(Int64(fresh)), graceStale: .nanoseconds(Int64(grace)))
    return refreshAhead.map { expiry.refreshedAhead(at: $0) } ?? expiry
  }
}
