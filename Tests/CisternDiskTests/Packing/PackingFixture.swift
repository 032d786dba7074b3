import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Steps that tests of transactions on extents share.
protocol PackingFixture {}

extension PackingFixture {
  func key(_ number: Int, _ generation: Generation = .first) -> PackingModel.Key {
    PackingModel.Key(generation: generation, key: bytes("key \(number)"))
  }

  func newValue(_ number: Int, size: Int, tags: [String] = []) -> PackingModel.Value {
    let metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: Int64(number)), cost: UInt32(max(size, 1)), tags: tags)
    return PackingModel.Value(metadata: metadata, bytes: value(number, size: size))
  }

  func model(mapSize: Int = 1 << 20) throws -> PackingModel {
    var model = PackingModel(mapSize: mapSize)
    _ = try model.transaction { model, step in
      _ = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    return model
  }

  /// Puts a record, in as many transactions as it takes. Returns false after 20.
  @discardableResult
  func put(_ key: PackingModel.Key, _ value: PackingModel.Value, in model: inout PackingModel) throws -> Bool {
    var isPut = false
    for _ in 0..<20 where !isPut {
      _ = try model.transaction { (model, step) throws(LMDBError) in isPut = try model.put(key, value, &step) }
    }
    return isPut
  }

  func address(of key: PackingModel.Key, in model: PackingModel) throws -> RecordAddress {
    let digest = RecordDigest(of: key.key.rawSpan)
    return try #require(model.target.committed.index[key.generation]?.first { $0.digest == digest }?.address)
  }

  /// Puts records until some were evicted, 20 in a transaction.
  func fill(_ model: inout PackingModel, from first: Int = 1000, size: Int = 900) throws {
    let former = model.evictions
    var number = first
    while model.evictions < former + 40 {
      try #require(number < first + 4000)
      try putSome(20, from: &number, size: size, in: &model)
    }
  }

  /// Puts records as one transaction, as far as they have room.
  func putSome(_ count: Int, from number: inout Int, size: Int, in model: inout PackingModel) throws {
    let end = number + count
    _ = try model.transaction { (model, step) throws(LMDBError) in
      while number < end, try model.put(key(number), newValue(number, size: size), &step) { number += 1 }
    }
  }
}
