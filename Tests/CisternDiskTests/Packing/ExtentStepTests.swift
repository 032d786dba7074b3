import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The rules of a write transaction on extents, one by one.
struct ExtentStepTests {
  private func key(_ number: Int, _ generation: Generation = .first) -> PackingModel.Key {
    PackingModel.Key(generation: generation, key: bytes("key \(number)"))
  }

  private func newValue(_ number: Int, size: Int, tags: [String] = []) -> PackingModel.Value {
    let metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: Int64(number)), cost: UInt32(max(size, 1)), tags: tags)
    return PackingModel.Value(metadata: metadata, bytes: value(number, size: size))
  }

  private func model(mapSize: Int = 1 << 20) throws -> PackingModel {
    var model = PackingModel(mapSize: mapSize)
    _ = try model.transaction { model, step in
      _ = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    return model
  }

  /// Puts a record, in as many transactions as it takes. Returns false after 20.
  @discardableResult
  private func put(_ key: PackingModel.Key, _ value: PackingModel.Value, in model: inout PackingModel) throws -> Bool {
    var isPut = false
    for _ in 0..<20 where !isPut {
      _ = try model.transaction { (model, step) throws(LMDBError) in isPut = try model.put(key, value, &step) }
    }
    return isPut
  }

  private func address(of key: PackingModel.Key, in model: PackingModel) throws -> RecordAddress {
    let digest = RecordDigest(of: key.key.rawSpan)
    return try #require(model.target.committed.index[key.generation]?.first { $0.digest == digest }?.address)
  }

  /// Puts records until some were evicted, 20 in a transaction.
  private func fill(_ model: inout PackingModel, from first: Int = 1000, size: Int = 900) throws {
    let former = model.evictions
    var number = first
    while model.evictions < former + 40 {
      try #require(number < first + 4000)
      try putSome(20, from: &number, size: size, in: &model)
    }
  }

  /// Puts records as one transaction, as far as they have room.
  private func putSome(_ count: Int, from number: inout Int, size: Int, in model: inout PackingModel) throws {
    let end = number + count
    _ = try model.transaction { (model, step) throws(LMDBError) in
      while number < end, try model.put(key(number), newValue(number, size: size), &step) { number += 1 }
    }
  }

  @Test func `a record that was read outlives the others of its age`() throws {
    var model = try model()
    for number in 0..<60 { try put(key(number), newValue(number, size: 900), in: &model) }
    let used = [3, 20, 41].map { key($0) }
    for key in used { model.recency.mark(try address(of: key, in: model).mark) }
    try fill(&model)
    for key in used {
      #expect(model.contents[key] != nil)
      #expect(!model.recency.isMarked(try address(of: key, in: model).mark))
    }
    #expect(model.contents[key(4)] == nil)
    try model.check()
  }

  @Test func `a replaced record keeps its mark, and a new one has none`() throws {
    var model = try model()
    try put(key(1), newValue(1, size: 10), in: &model)
    model.recency.mark(try address(of: key(1), in: model).mark)
    try put(key(1), newValue(2, size: 10), in: &model)
    #expect(model.recency.isMarked(try address(of: key(1), in: model).mark))
    for place in 0..<4096 { model.recency.mark(SequenceNumber(number: UInt64(place))) }
    try put(key(2), newValue(3, size: 10), in: &model)
    #expect(!model.recency.isMarked(try address(of: key(2), in: model).mark))
  }

  @Test func `a large record is a separate value, and is evicted by its age`() throws {
    var model = try model()
    let layout = model.limits.layout
    for number in 0..<2 { try put(key(number), newValue(number, size: layout.largestRecord + number), in: &model) }
    let addresses = try [0, 1].map { try address(of: key($0), in: model) }
    #expect(addresses.allSatisfy(\.isSeparate) && model.target.committed.separates.count == 2)
    model.recency.mark(addresses[1].mark)
    try fill(&model)
    #expect(model.contents[key(0)] == nil, "the oldest record")
    #expect(try model.contents[key(1)] != nil && address(of: key(1), in: model) == addresses[1])
    try put(key(1), newValue(9, size: 10), in: &model)
    #expect(model.target.committed.separates.isEmpty)
    try model.check()
  }

  @Test func `a reader stops writes in full extents, and costs no record`() throws {
    var model = try model()
    try fill(&model)
    model.beginReading()
    var number = 20_000
    while try put(key(number), newValue(number, size: 900), in: &model) {
      number += 1
      try #require(number < 21_000)
    }
    let evictions = model.evictions
    for _ in 0..<5 { #expect(try !put(key(number), newValue(number, size: 900), in: &model)) }
    // Reclaim ends with the reserve: more free extents would not help while the reader is there.
    #expect(model.evictions == evictions)
    try model.checkReaders()
    model.readers = []
    #expect(try put(key(number), newValue(number, size: 900), in: &model))
    try model.check()
  }

  @Test func `a full map makes the file release an extent, and not grow again`() throws {
    var model = try model()
    try fill(&model)
    let count = model.target.committed.extents.count
    var isRelieved = false
    _ = try model.transaction { (model, step) throws(LMDBError) in isRelieved = try step.relieve(in: &model.target) }
    #expect(isRelieved && model.target.committed.extents.count == count - 1)
    try fill(&model, from: 6000)
    #expect(model.target.committed.extents.count == count - 1)
    model.states[0]?.ceiling = .max
    try fill(&model, from: 12_000)
    #expect(model.target.committed.extents.count == count && model.target.violations.isEmpty)
    try model.check()
  }

  @Test func `an index that grows takes the pages of extents`() throws {
    var model = try model()
    try fill(&model, size: 3000)
    let count = model.target.committed.extents.count
    var number = 10_000
    while number < 18_000 { try putSome(200, from: &number, size: 1, in: &model) }
    #expect(model.target.committed.extents.count < count)
    #expect(model.failures == 0 && model.target.violations.isEmpty)
    try model.check()
  }

  @Test func `the number of a generation names another one after its purge`() throws {
    var model = try model()
    for number in 0..<30 { try put(key(number), newValue(number, size: 100), in: &model) }
    var second = Generation.zero
    _ = try model.transaction { model, step in
      model.endGeneration(.first, &step)
      second = model.beginGeneration()
    }
    try put(key(1, second), newValue(1, size: 10), in: &model)
    #expect(model.target.committed.names == [PartitionNumber(number: 0): .first, PartitionNumber(number: 1): second])
    var isDone = false
    for part in 0..<4 {
      #expect(!isDone && model.target.committed.index[.first]?.count == 30 - part * 10)
      _ = try model.transaction { (model, step) throws(LMDBError) in
        isDone = try step.purge(.first, upTo: 10, in: &model.target)
      }
    }
    #expect(isDone && model.target.committed.names == [PartitionNumber(number: 1): second])
    var third = Generation.zero
    _ = try model.transaction { model, step in
      third = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    try put(key(1, third), newValue(2, size: 10), in: &model)
    #expect(model.target.committed.names[PartitionNumber(number: 0)] == third)
    try model.check()
  }

  @Test func `reclaim drops records of dead generations and concealed ones without a report`() throws {
    var model = try model()
    var second = Generation.zero
    _ = try model.transaction { model, step in
      second = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    for number in 0..<20 {
      try put(key(number), newValue(number, size: 900, tags: ["red"]), in: &model)
      try put(key(number, second), newValue(number, size: 900), in: &model)
    }
    let table = InvalidationTable()
    _ = table.stage(.tag("red"), limit: 1 << 20) { 1 }
    model.invalidated = [.first: table]
    _ = try model.transaction { model, step in
      model.endGeneration(second, &step)
      model.pending = [:]
    }
    let concealed = Set((0..<20).map { RecordDigest(of: key($0).key.rawSpan) })
    var number = 1000
    var isDropped = false
    while !isDropped {
      // The model expects that only records that it knows are reported.
      try putSome(20, from: &number, size: 900, in: &model)
      try #require(number < 4000)
      isDropped = (model.target.committed.index[second] ?? []).isEmpty
      let items = model.target.committed.index[.first] ?? []
      if items.contains(where: { concealed.contains($0.digest) }) { isDropped = false }
    }
    #expect(model.target.violations.isEmpty)
    try model.check()
  }

  @Test func `a purge of invalidated records spares those that are newer or moved`() throws {
    var model = try model()
    for number in 0..<3 {
      var value = newValue(number, size: 10, tags: ["red"])
      value.metadata.invalidationVersion = number == 1 ? 5 : 0
      try put(key(number), value, in: &model)
    }
    let items = model.target.committed.index[.first] ?? []
    try put(key(2), newValue(9, size: 10, tags: ["red"]), in: &model)
    var set = InvalidationSet<FileInvalidationVersion>()
    set.add(.tag("red"), invalidationVersion: 3)
    _ = try model.transaction { (model, step) throws(LMDBError) in
      try step.purge(items, of: .first, concealedBy: set, in: &model.target)
      model.pending[key(0)] = nil
    }
    try model.check()
  }

  @Test func `a batch that finds no room puts nothing`() throws {
    var model = try model()
    try fill(&model)
    let former = model.contents.count
    var hasRoom = true
    _ = try model.transaction { (model, step) throws(LMDBError) in
      hasRoom = try step.makeRoom(forBatch: Array(repeating: 4000, count: 40), in: &model.target)
      model.noteEvictions(&step)
    }
    #expect(!hasRoom && model.contents.count <= former)
    try model.check()
  }
}
