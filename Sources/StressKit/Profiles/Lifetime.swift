import Cistern

/// How long a value lives, in nanoseconds: what an ``Expiry`` is made from, and what a read is judged by.
struct Lifetime: Sendable, Hashable {
  /// For how long it is fresh; the greatest number for ever.
  var fresh: UInt64
  /// For how long it may then be returned stale.
  var grace: UInt64 = 0
  /// After which part of the fresh time a use has it fetched anew; nil for never.
  var refreshAhead: Double?

  /// Fresh for as long as it is there.
  static let forever = Lifetime(fresh: .max)

  static func seconds(_ fresh: Double, grace: Double = 0, refreshAhead: Double? = nil) -> Lifetime {
    Lifetime(fresh: UInt64(fresh * 1e9), grace: UInt64(grace * 1e9), refreshAhead: refreshAhead)
  }

  /// For the cache.
  var expiry: Expiry {
    guard fresh != .max else { return .never }
    let expiry = Expiry.after(.nanoseconds(Int64(fresh)), graceStale: .nanoseconds(Int64(grace)))
    return refreshAhead.map { expiry.refreshedAhead(at: $0) } ?? expiry
  }
}

/// The lifetimes of a cache's values, by key.
struct Lifetimes: Sendable {
  private let choices: [Lifetime]

  /// - Parameter choices: as many kinds of keys, equally frequent.
  init(_ choices: [Lifetime]) {
    precondition(!choices.isEmpty)
    self.choices = choices
  }

  subscript(key: Int) -> Lifetime { choices[key % choices.count] }

  /// For people: "never; after 2.0 seconds, stale for 1.0 seconds".
  var description: String { choices.map(\.expiry.description).joined(separator: "; ") }
}
