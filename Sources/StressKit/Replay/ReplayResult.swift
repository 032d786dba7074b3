import Cistern

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
