import ArgumentParser

/// A kind of load: the operations of the clients, the lifetimes of values, and the reliability of the origin.
enum Profile: String, Sendable, Codable, CaseIterable {
  /// Mostly hits.
  case readHeavy = "read-heavy"
  /// Mostly writes of every kind: sets, updates, batches, drafts, merges.
  case churn
  /// Invalidations of keys, prefixes, tags, and all keys, concurrently with flights and writes.
  case invalidate
  /// An origin that fails, hangs, and becomes unavailable: grace, retries, timeouts, throttling.
  case flakyOrigin = "flaky-origin"
  /// The store closes and reopens several times a second.
  case restart
  /// A mixture of all kinds.
  case all
}

extension Profile: ExpressibleByArgument {
  /// The names of all profiles, for the help text.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The settings of the profile. Options on the command line override them.
  var settings: ProfileSettings {
    var settings = ProfileSettings(mix: .mixed)
    switch self {
    case .all:
      break
    case .readHeavy:
      settings.mix = .readHeavy
      settings.lifetimes = Lifetimes([.forever, .seconds(2, grace: 2), .seconds(1, grace: 1, refreshAhead: 0.7)])
      settings.failureRate = 0
      settings.reopenEvery = .zero
    case .churn:
      settings.mix = .churning
      settings.lifetimes = Lifetimes([.forever, .seconds(0.2)])
    case .invalidate:
      settings.mix = .invalidating
      settings.latency = .milliseconds(5)
    case .flakyOrigin:
      settings.mix = .flaky
      settings.lifetimes = Lifetimes([.seconds(0.3, grace: 2), .seconds(0.2, grace: 0.5, refreshAhead: 0.5)])
      settings.failureRate = 0.35
      settings.latency = .milliseconds(5)
    case .restart:
      settings.reopenEvery = .milliseconds(300)
      settings.lifetimes = Lifetimes([.forever, .seconds(0.3, grace: 0.3), .seconds(1)])
    }
    return settings
  }
}

/// The settings of a profile.
struct ProfileSettings: Sendable {
  /// The operations of clients, with their frequencies.
  var mix: OperationMix
  /// The lifetimes of values in the stressed cache.
  var lifetimes = Lifetimes([
    .forever, .seconds(2, grace: 1), .seconds(0.5, grace: 0.3, refreshAhead: 0.7), .seconds(1),
  ])
  /// The fraction of requests that the origin fails.
  var failureRate = 0.02
  /// The average latency of the origin.
  var latency = Duration.milliseconds(2)
  /// The time between reopenings of the store, or zero for none.
  var reopenEvery = Duration.seconds(5)
}
