import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A random history of transactions on a dense file.
struct PackingHistory {
  enum Operation {
    case put(PackingModel.Key, PackingModel.Value)
    /// Replaces the record if it is still the given one.
    case rewrite(PackingModel.Key, PackingModel.Value, over: PackingModel.Value?)
    /// Gives the record, if it is large, the times of the value.
    case renew(PackingModel.Key, PackingModel.Value)
    case remove(PackingModel.Key)
    case batch([(key: PackingModel.Key, value: PackingModel.Value)])
    case end(Generation)
    case purge(Generation)
  }

  var model: PackingModel
  var generator: SeededGenerator
  var generations: [Generation] = []
  private var dead: [Generation] = []
  private var version: Int64 = 0
  /// Whether some transactions fail at one of their changes.
  var hasFailures = true
  /// The size of the largest values.
  var largestValue = 20_000
  /// The sizes of most values.
  var usualSizes = 1...1500

  init(mapSize: Int, writers: Int = 1, seed: UInt64) throws {
    model = PackingModel(mapSize: mapSize, writers: writers)
    generator = SeededGenerator(seed: seed)
    for _ in 0..<3 { try begin() }
  }

  private mutating func begin() throws {
    var generation = Generation.zero
    let isBegun = try model.transaction { model, step in
      generation = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    try #require(isBegun)
    generations.append(generation)
  }

  // MARK: Choices

  mutating func key() -> PackingModel.Key {
    let number = Int.random(in: 0..<300, using: &generator)
    let generation = generations.randomElement(using: &generator) ?? .first
    let isShort = number < EqualDigests.keys.count
    return PackingModel.Key(
      generation: generation, key: isShort ? EqualDigests.keys[number] : value(number, size: 1 + number * 7 % 300))
  }

  mutating func newValue() -> PackingModel.Value {
    version += 1
    let size =
      switch Int.random(in: 0..<24, using: &generator) {
      case 0: Int.random(in: 4000...4200, using: &generator)
      case 1: Int.random(in: 4200...largestValue, using: &generator)
      case 2...5: Int.random(in: 0...8, using: &generator)
      default: Int.random(in: usualSizes, using: &generator)
      }
    var metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: version), cost: UInt32(version % 3),
      tags: version % 7 == 0 ? ["tag"] : [])
    metadata.invalidationVersion = UInt64(version % 2)
    return PackingModel.Value(metadata: metadata, bytes: value(Int(version), size: size))
  }

  private mutating func operation() -> Operation {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0, 1: return .remove(key())
    case 2, 3:
      let key = key()
      let old = Bool.random(using: &generator) ? model.contents[key] : newValue()
      return .rewrite(key, newValue(), over: old)
    case 4, 5:
      let large = model.contents.filter { $0.value.bytes.count >= 2048 }
      guard let key = large.keys.sorted(by: { $0.key.count < $1.key.count }).randomElement(using: &generator) else {
        return .put(key(), newValue())
      }
      return renewal(of: key)
    default: return .put(key(), newValue())
    }
  }

  /// The key's value with other times.
  private mutating func renewal(of key: PackingModel.Key) -> Operation {
    version += 1
    guard var value = model.contents[key] else { return .remove(key) }
    value.metadata.created = WallTime(nanosecondsSince1970: version)
    value.metadata.expires = version % 3 == 0 ? nil : WallTime(nanosecondsSince1970: version * 2)
    value.metadata.grace = UInt64(version % 4)
    value.metadata.staleIfError = version % 5 == 0 ? UInt64(version) : nil
    value.metadata.idle = UInt64(version % 2)
    return .renew(key, value)
  }

  // MARK: Steps

  /// Runs one random step: a transaction, a batch, or the beginning or end of a reader or of a generation.
  mutating func step() throws {
    model.writer = Int.random(in: 0..<model.states.count, using: &generator)
    model.states[model.writer]?.noteGroup()
    model.avoidsSharedPages = Int.random(in: 0..<8, using: &generator) == 0
    switch Int.random(in: 0..<40, using: &generator) {
    case 0 where model.readers.count < 2: model.beginReading()
    case 1, 2:
      if !model.readers.isEmpty { model.readers.removeFirst() }
    case 3:
      let count = Int.random(in: 2...20, using: &generator)
      var writes: [PackingModel.Key: PackingModel.Value] = [:]
      for _ in 0..<count { writes[key()] = newValue() }
      let sorted = writes.sorted { ($0.key.generation, $0.key.key.count) < ($1.key.generation, $1.key.key.count) }
      try perform([.batch(sorted.map { ($0.key, $0.value) })])
    case 4 where generations.count > 1 && Int.random(in: 0..<4, using: &generator) == 0:
      let ended = generations.removeFirst()
      dead.append(ended)
      try perform([.end(ended)], canFail: false)
      try begin()
    case 5, 6:
      if let generation = dead.first { try perform([.purge(generation)]) }
      dead = dead.filter { model.target.committed.dead.contains($0) }
    case 7: model.states[model.writer] = nil
    case 8:
      for _ in 0..<20 {
        let key = key()
        for item in model.target.committed.index[key.generation] ?? []
        where item.digest == RecordDigest(of: key.key.rawSpan) {
          model.recency.mark(item.address.mark)
        }
      }
    default:
      let count = Int.random(in: 1...12, using: &generator)
      try perform((0..<count).map { _ in operation() })
    }
  }

  /// Performs the operations in one or more transactions.
  private mutating func perform(_ operations: [Operation], canFail: Bool = true) throws {
    var rest = operations[...]
    var attempts = 0
    while !rest.isEmpty {
      attempts += 1
      if attempts > 30, !model.readers.isEmpty { model.readers.removeFirst() }
      try #require(attempts < 600, "the write has no room, although all records can be evicted")
      let fails = hasFailures && canFail && Int.random(in: 0..<6, using: &generator) == 0
      let failure = fails ? Int.random(in: 0..<40, using: &generator) : nil
      var remaining = rest
      let isCommitted = try model.transaction(failingAfter: failure) { (model, step) throws(LMDBError) in
        while let operation = remaining.first {
          guard try model.apply(operation, &step) else { return }
          remaining.removeFirst()
          if !step.hasBudget { return }
        }
      }
      if isCommitted { rest = remaining } else if fails { return }
    }
  }
}

extension PackingModel {
  /// Applies an operation. Returns false if it needs another transaction.
  fileprivate mutating func apply(
    _ operation: PackingHistory.Operation, _ step: inout ExtentStep
  ) throws(LMDBError) -> Bool {
    switch operation {
    case .put(let key, let value): return try put(key, value, &step)
    case .rewrite(let key, let value, let old):
      let identity = old.map { RecordIdentity($0.metadata, bytes: $0.bytes.rawSpan) }
      guard let identity else { return true }
      let allows = try step.allows(
        .identity(identity), orIfDamaged: false, for: key.key, of: key.generation, in: &target)
      #expect(allows == (pending[key] == old))
      return try allows ? put(key, value, &step) : true
    case .renew(let key, let value): try renew(key, value, &step)
    case .remove(let key): try remove(key, &step)
    case .batch(let writes):
      let sizes = writes.map { write in
        RecordDraft(key: write.key.key, metadata: write.value.metadata, bytes: write.value.bytes).packedSize
      }
      let hasRoom = try step.makeRoom(forBatch: sizes, in: &target)
      noteEvictions(&step)
      guard hasRoom else { return false }
      for (key, value) in writes where try !put(key, value, &step) {
        Issue.record("a batch has no room in the transaction in which it was made")
        return true
      }
      // The records of the batch are all present before the commit.
      for (key, value) in writes { #expect(pending[key] == value) }
    case .end(let generation): endGeneration(generation, &step)
    case .purge(let generation): _ = try step.purge(generation, upTo: 40, in: &target)
    }
    return true
  }
}
