import Cistern
import InputFormats

/// The result of one policy with one limit on a trace.
struct ReplayResult: Codable, Sendable, Equatable {
  let policy: String
  /// The limit as the command line has it.
  let limit: String
  /// The limit in cost: bytes, or objects if the trace has no sizes.
  let limitCost: Int
  /// The number of shards.
  let shards: Int
  var requests = 0
  var misses = 0
  /// The misses of the same policy with one shard, which orders all entries.
  var missesWithOneShard = 0
  var bytesRequested = 0
  var bytesMissed = 0

  /// The fraction of requests that missed.
  var objectMissRatio: Double { requests == 0 ? 0 : Double(misses) / Double(requests) }

  /// The fraction of requests that missed with one shard.
  var objectMissRatioWithOneShard: Double { requests == 0 ? 0 : Double(missesWithOneShard) / Double(requests) }

  /// The fraction of requested bytes that missed.
  var byteMissRatio: Double { bytesRequested == 0 ? 0 : Double(bytesMissed) / Double(bytesRequested) }

  enum CodingKeys: String, CodingKey {
    case policy, limit, limitCost, shards, requests, misses, missesWithOneShard, bytesRequested, bytesMissed
    case objectMissRatio, objectMissRatioWithOneShard, byteMissRatio
  }

  init(policy: EvictionPolicyKind, limit: String, limitCost: Int, shards: Int) {
    self.policy = policy.rawValue
    self.limit = limit
    self.limitCost = limitCost
    self.shards = shards
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    policy = try container.decode(String.self, forKey: .policy)
    limit = try container.decode(String.self, forKey: .limit)
    limitCost = try container.decode(Int.self, forKey: .limitCost)
    shards = try container.decode(Int.self, forKey: .shards)
    missesWithOneShard = try container.decode(Int.self, forKey: .missesWithOneShard)
    requests = try container.decode(Int.self, forKey: .requests)
    misses = try container.decode(Int.self, forKey: .misses)
    bytesRequested = try container.decode(Int.self, forKey: .bytesRequested)
    bytesMissed = try container.decode(Int.self, forKey: .bytesMissed)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(policy, forKey: .policy)
    try container.encode(limit, forKey: .limit)
    try container.encode(limitCost, forKey: .limitCost)
    try container.encode(shards, forKey: .shards)
    try container.encode(missesWithOneShard, forKey: .missesWithOneShard)
    try container.encode(objectMissRatioWithOneShard, forKey: .objectMissRatioWithOneShard)
    try container.encode(requests, forKey: .requests)
    try container.encode(misses, forKey: .misses)
    try container.encode(bytesRequested, forKey: .bytesRequested)
    try container.encode(bytesMissed, forKey: .bytesMissed)
    try container.encode(objectMissRatio, forKey: .objectMissRatio)
    try container.encode(byteMissRatio, forKey: .byteMissRatio)
  }
}

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
