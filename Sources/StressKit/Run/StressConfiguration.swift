import Cistern
import Foundation

/// All that a stress run is told before it starts.
struct StressConfiguration: Sendable {
  /// When the run ends.
  enum Bound: Sendable, Equatable {
    case duration(Duration)
    case operations(Int)
  }

  /// Where values come from.
  enum OriginKind: Sendable, Equatable {
    /// A server of the run's own, on loopback.
    case server
    /// A function of this process.
    case inProcess
    /// A server of the user's.
    case remote(URL)
  }

  var profile: Profile
  var seed: UInt64
  var bound: Bound
  var clients: Int
  var keys: KeySpace
  /// The requests to follow; nil to choose keys by popularity.
  var trace: Trace?
  var zipfExponent: Double
  var memoryLimit: ByteCount
  var diskLimit: ByteCount
  /// Where the store is; nil for a folder that goes with the run.
  var directory: String?
  var origin: OriginKind
  var latency: Duration
  var failureRate: Double
  /// How long values live, by key.
  var lifetimes: Lifetimes
  /// How long the store stays open before it is closed and opened again; nil for the whole run.
  var reopenInterval: Duration?
  var evictionPolicy: EvictionPolicyKind
}

extension StressConfiguration {
  /// The configuration as it stands in the report.
  struct Summary: Codable, Sendable {
    let profile: Profile
    let bound: String
    let clients: Int
    let keys: Int
    let footprint: Int
    let keyChoice: String
    let memoryLimit: Int
    let diskLimit: Int
    let directory: String?
    let origin: String
    let latencySeconds: Double
    let failureRate: Double
    let lifetimes: String
    let reopenSeconds: Double?
    let evictionPolicy: String
  }

  var summary: Summary {
    Summary(
      profile: profile, bound: boundText, clients: clients, keys: keys.count, footprint: keys.footprint,
      keyChoice: trace.map { "a trace of \($0.requests.count) requests" } ?? "Zipf, exponent \(zipfExponent)",
      memoryLimit: memoryLimit.bytes, diskLimit: diskLimit.bytes, directory: directory, origin: originText,
      latencySeconds: latency.seconds, failureRate: failureRate, lifetimes: lifetimes.description,
      reopenSeconds: reopenInterval?.seconds, evictionPolicy: evictionPolicy.rawValue)
  }

  /// What is about to happen, for people.
  var announcement: String {
    let bodies =
      switch keys.bodies {
      case .files(let folder, let paths): "the \(Formatting.count(paths.count)) files of \(folder)"
      case .synthetic: "made-up bodies"
      }
    return """
      profile \(profile.rawValue), \(clients) clients, \(Formatting.count(keys.count)) keys (\(bodies), \(ByteCount.bytes(keys.footprint))), \
      memory \(memoryLimit), disk \(diskLimit), \(originText), \(boundText), seed \(seed)
      """
  }

  private var boundText: String {
    switch bound {
    case .duration(let duration): "\(Formatting.fixed(duration.seconds, decimals: 1)) s"
    case .operations(let count): "\(Formatting.count(count)) operations"
    }
  }

  private var originText: String {
    switch origin {
    case .server: "an HTTP server on loopback"
    case .inProcess: "an origin in this process"
    case .remote(let url): url.absoluteString
    }
  }
}
