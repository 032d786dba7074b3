import ArgumentParser

/// A kind of load: what clients do and how often, how long values live, and how well the origin works.
enum Profile: String, Sendable, Codable, CaseIterable {
  /// Mostly hits, as where a cache pays.
  case readHeavy = "read-heavy"
  /// Mostly writes of every kind: sets, updates, batches, drafts, merges.
  case churn
  /// Invalidations of keys, prefixes, tags and everything, against flights and writes.
  case invalidate
  /// An origin that fails, hangs and goes away: grace, retries, timeouts, throttling.
  case flakyOrigin = "flaky-origin"
  /// The store is closed and opened again several times a second.
  case restart
  /// Something of everything.
  case all
}

extension Profile: ExpressibleByArgument {
  /// The names, for the help.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// What it asks for where the command line says nothing else.
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

/// What a profile asks for.
struct ProfileSettings: Sendable {
  /// What clients do, and how often.
  var mix: OperationMix
  /// How long the values of the cache that is stressed live.
  var lifetimes = Lifetimes([
    .forever, .seconds(2, grace: 1), .seconds(0.5, grace: 0.3, refreshAhead: 0.7), .seconds(1),
  ])
  /// The share of requests that the origin fails.
  var failureRate = 0.02
  /// How long the origin takes, on average.
  var latency = Duration.milliseconds(2)
  /// How long the store stays open before it is closed and opened again; zero for the whole run.
  var reopenEvery = Duration.seconds(5)
}
