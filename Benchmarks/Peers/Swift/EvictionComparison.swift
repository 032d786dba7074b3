import Cistern
@_spi(Measurements) import CisternCore
import Foundation
import Workloads

/// Replays a trace with each policy of this project at several limits. The default policy is reported under the
/// project's name, the others under their own. Each request is a lookup, followed on a miss by a load and an
/// insertion. The cache has the default number of shards of this machine, also for objects of one size. The learning
/// policies run with one shard as well.
struct EvictionComparison {
  let trace: String
  let path: String
  /// The name of each limit, and its cost.
  let limits: [(name: String, cost: Int)]

  /// The size of a packed record of the trace: time, identifier, size, and the position of the next request.
  private let recordSize = 24

  /// `eviction NAME TRACE SHARE=COST…`
  static func run(_ arguments: [String]) async throws {
    let limits = arguments.dropFirst(2).compactMap { argument -> (name: String, cost: Int)? in
      let parts = argument.split(separator: "=")
      guard parts.count == 2, let cost = Int(parts[1]) else { return nil }
      return (String(parts[0]), cost)
    }
    guard arguments.count > 2, limits.count == arguments.count - 2 else {
      Compared.fail("eviction NAME TRACE SHARE=COST…")
    }
    try await EvictionComparison(trace: arguments[0], path: arguments[1], limits: limits).run()
  }

  private func run() async throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for policy in EvictionPolicyKind.allCases {
      var configuration = Store.Configuration()
      let name = configuration.evictionPolicy == policy ? "Cistern" : "Cistern \(policy.rawValue)"
      configuration.evictionPolicy = policy
      configuration.respondsToMemoryPressure = false
      for limit in limits { try await replay(bytes, as: name, configuration, limit: limit) }
      guard policy == .leastHitDensity || policy == .leastMissedBytes else { continue }
      configuration.setShardCount(1)
      for limit in limits { try await replay(bytes, as: name + " (one shard)", configuration, limit: limit) }
    }
  }

  private func replay(
    _ bytes: [UInt8], as name: String, _ configuration: Store.Configuration, limit: (name: String, cost: Int)
  ) async throws {
    // Without a weigher, each object counts one. With one, the number of shards would suit a limit in bytes.
    var weigher: (@Sendable (Int) -> Int)?
    if Self.hasSizes(bytes, recordSize: recordSize) { weigher = { size in size } }
    let cache = try Cache<Int, Int>(costLimit: limit.cost, weigher: weigher, configuration: configuration)
    var (requested, missed, bytesRequested, bytesMissed) = (0, 0, 0, 0)
    for start in stride(from: 0, to: bytes.count - recordSize + 1, by: recordSize) {
      let (key, size) = bytes.withUnsafeBytes { bytes in
        (
          Int(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt64.self))),
          Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self)))
        )
      }
      requested += 1
      bytesRequested += size
      guard cache.value(forKey: key) == nil else { continue }
      missed += 1
      bytesMissed += size
      _ = try await cache.value(forKey: key) { _ in size }
    }
    report(name, limit.name, "object_misses", Double(missed) / Double(requested))
    report(name, limit.name, "byte_misses", Double(bytesMissed) / Double(bytesRequested))
  }

  /// Returns whether the objects of a trace have different sizes from one.
  private static func hasSizes(_ bytes: [UInt8], recordSize: Int) -> Bool {
    stride(from: 0, to: bytes.count - recordSize + 1, by: recordSize).contains { start in
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self) } != UInt32(littleEndian: 1)
    }
  }

  private func report(_ subject: String, _ limit: String, _ metric: String, _ value: Double) {
    Figure(group: "eviction", workload: "\(trace)/\(limit)", subject: subject, metric: metric, value: value).print()
  }
}
