import Cistern
import InputFormats

/// A replay of a trace in the memory tier, with several limits and policies.
///
/// The tier has as many shards as a cache has by default on a machine with a number of processors. A second tier has
/// one shard, for comparison.
///
/// Each request is "get; on a miss, load and insert". The cost of an object is its size, or 1 if the trace has no
/// sizes.
struct Replay: Sendable {
  /// The totals of a trace.
  struct Footprint: Codable, Sendable, Equatable {
    var requests = 0
    var objects = 0
    /// The sum of the largest costs of all objects.
    var cost = 0
    /// Whether the trace has sizes. Costs are then bytes.
    var hasSizes = false
  }

  let path: String
  let limits: [ReplayLimit]
  let limitNames: [String]
  let policies: [EvictionPolicyKind]
  /// The number of processors of the simulated machine; nil for that of this one.
  var processorCount: Int?

  /// A result in progress, with the tiers that it is computed from.
  private struct Run {
    var result: ReplayResult
    let tier: ReplayTier
    /// The tier with one shard; nil if `tier` has only one.
    let oneShard: ReplayTier?

    init(_ policy: EvictionPolicyKind, limit: String, limitCost: Int, shards: Int) throws {
      result = ReplayResult(policy: policy, limit: limit, limitCost: limitCost, shards: shards)
      tier = try ReplayTier(policy: policy, costLimit: limitCost, shardCount: shards)
      oneShard = shards == 1 ? nil : try ReplayTier(policy: policy, costLimit: limitCost, shardCount: 1)
    }

    mutating func request(_ key: Int, size: Int) async throws {
      let isHit = try await tier.request(key, cost: size)
      let isHitWithOneShard = try await oneShard?.request(key, cost: size) ?? isHit
      result.requests += 1
      result.bytesRequested += size
      if !isHitWithOneShard { result.missesWithOneShard += 1 }
      guard !isHit else { return }
      result.misses += 1
      result.bytesMissed += size
    }
  }

  /// Reads the trace twice: once for its footprint, and once for the replay. Only the distinct keys are kept in
  /// memory.
  func run() async throws -> ReplayReport {
    guard FileStream.canBeReadAgain(path) else {
      throw TraceError(path: path, line: nil, message: "a trace is read twice, so it must be a file")
    }
    let footprint = try measure()
    var runs: [Run] = []
    for policy in policies {
      for (limit, name) in zip(limits, limitNames) {
        let cost = limit.cost(footprint: footprint.cost)
        let shards = Store.Configuration.shardCount(
          costLimit: cost, costIsCount: !footprint.hasSizes, processorCount: processorCount)
        runs.append(try Run(policy, limit: name, limitCost: cost, shards: shards))
      }
    }
    var reader = try TraceReader(path: path)
    while let request = try reader.next() {
      let size = request.size ?? 1
      for index in runs.indices { try await runs[index].request(request.key, size: size) }
    }
    return ReplayReport(trace: path, footprint: footprint, results: runs.map(\.result))
  }

  private static let mostBytes = 1 << 62

  private func measure() throws -> Footprint {
    var reader = try TraceReader(path: path)
    var footprint = Footprint()
    var sizes: [Int] = []
    // The sum of all requests is an upper limit of every other sum.
    var requested = 0
    while let request = try reader.next() {
      footprint.requests += 1
      footprint.hasSizes = request.size != nil
      let size = request.size ?? 1
      requested += size
      guard requested <= Replay.mostBytes else {
        throw TraceError(path: path, line: reader.line, message: "the sum of the requests' sizes is too large")
      }
      if request.key == sizes.count {
        sizes.append(size)
        footprint.cost += size
      } else if size > sizes[request.key] {
        footprint.cost += size - sizes[request.key]
        sizes[request.key] = size
      }
    }
    footprint.objects = sizes.count
    return footprint
  }
}
