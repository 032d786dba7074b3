import Cistern
import Foundation

/// The configuration of a stress run.
struct StressConfiguration: Sendable {
  /// The condition that ends the run.
  enum Bound: Sendable, Equatable {
    case duration(Duration)
    case operations(Int)
  }

  /// The source of values.
  enum OriginKind: Sendable, Equatable {
    /// The run's HTTP server on the loopback interface.
    case server
    /// A function in this process.
    case inProcess
    /// A server of the user.
    case remote(URL)
  }

  var profile: Profile
  var seed: UInt64
  var bound: Bound
  var clients: Int
  var keys: KeySpace
  /// The requests to follow, or nil to choose keys by popularity.
  var trace: Trace?
  var zipfExponent: Double
  var memoryLimit: ByteCount
  var diskLimit: ByteCount
  /// The directory of the store, or nil for a temporary one.
  var directory: String?
  var origin: OriginKind
  var latency: Duration
  var failureRate: Double
  /// The lifetimes of values, by key.
  var lifetimes: Lifetimes
  /// The time between reopenings of the store, or nil for none.
  var reopenInterval: Duration?
  var evictionPolicy: EvictionPolicyKind
}

extension StressConfiguration {
  /// The configuration as it appears in the JSON report.
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

    init(_ configuration: StressConfiguration) {
      profile = configuration.profile
      bound = configuration.boundText
      clients = configuration.clients
      keys = configuration.keys.count
      footprint = configuration.keys.footprint
      keyChoice =
        configuration.trace.map { "a trace of \($0.requests.count) requests" }
        ?? "Zipf, exponent \(configuration.zipfExponent)"
      memoryLimit = configuration.memoryLimit.bytes
      diskLimit = configuration.diskLimit.bytes
      directory = configuration.directory
      origin = configuration.originText
      latencySeconds = configuration.latency.seconds
      failureRate = configuration.failureRate
      lifetimes = configuration.lifetimes.description
      reopenSeconds = configuration.reopenInterval?.seconds
      evictionPolicy = configuration.evictionPolicy.rawValue
    }
  }

  /// A summary of the configuration, for the first line of the output.
  var announcement: String {
    let bodies =
      switch keys.bodies {
      case .files(let folder, let paths): "the \(Formatting.count(paths.count)) files of \(folder)"
      case .synthetic: "synthetic bodies"
      }
    return """
      profile \(profile.rawValue), \(clients) clients, \(Formatting.count(keys.count)) keys (\(bodies), \(ByteCount.bytes(keys.footprint))), \
      memory \(memoryLimit), disk \(diskLimit), \(originText), \(boundText), seed \(seed)
      """
  }

  fileprivate var boundText: String {
    switch bound {
    case .duration(let duration): "\(Formatting.fixed(duration.seconds, decimals: 1)) s"
    case .operations(let count): "\(Formatting.count(count)) operations"
    }
  }

  fileprivate var originText: String {
    switch origin {
    case .server: "an HTTP server on loopback"
    case .inProcess: "an origin in this process"
    case .remote(let url): url.absoluteString
    }
  }
}
