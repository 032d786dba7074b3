import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Damaged bytes of extents: a look-up never returns a wrong value, and other extents lose nothing.
struct PackingDamageTests {
  private func key(_ number: Int) -> PackingModel.Key {
    let key = number < EqualDigests.keys.count ? EqualDigests.keys[number] : bytes("key \(number)")
    return PackingModel.Key(generation: .first, key: key)
  }

  private func newValue(_ number: Int, size: Int) -> PackingModel.Value {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: Int64(number)), cost: UInt32(max(size, 1)))
    return PackingModel.Value(metadata: metadata, bytes: value(number, size: size))
  }

  private func model() throws -> PackingModel {
    var model = PackingModel(mapSize: 1 << 20)
    _ = try model.transaction { model, step in
      _ = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    return model
  }

  private func put(_ number: Int, _ value: PackingModel.Value, in model: inout PackingModel) throws {
    var isPut = false
    while !isPut {
      _ = try model.transaction { (model, step) throws(LMDBError) in
        isPut = try model.put(key(number), value, &step)
      }
    }
  }

  /// Returns the closed extents of the file, and those with live records.
  private func closedExtents(of model: PackingModel) throws -> [(number: ExtentNumber, extent: Extent)] {
    try ExtentState(model.target.rows, committed: model.target.number).log.all.filter {
      $0.extent.isClosed && $0.extent.liveBytes > 0
    }
  }

  private func keys(in number: ExtentNumber, of model: PackingModel) throws -> Set<PackingModel.Key> {
    var keys: Set<PackingModel.Key> = []
    for item in model.target.committed.index[.first] ?? [] {
      guard case .inExtent(number, _)? = item.address.location(in: model.limits.layout),
        let record = try model.record(at: item.address, in: model.target.committed)
      else { continue }
      keys.insert(PackingModel.Key(generation: .first, key: record.key))
    }
    return keys
  }

  @Test(arguments: 1...3) func `damage costs records of the damaged extents only, and shows no wrong value`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var model = try model()
    var damaged: Set<PackingModel.Key> = []
    for number in 0..<1500 {
      let key = Int.random(in: 0..<500, using: &generator)
      try put(key, newValue(number, size: Int.random(in: 300...900, using: &generator)), in: &model)
      damaged.remove(self.key(key))
      guard number % 50 == 0, let victim = try closedExtents(of: model).randomElement(using: &generator) else {
        continue
      }
      damaged.formUnion(try keys(in: victim.number, of: model))
      for _ in 0..<Int.random(in: 1...30, using: &generator) {
        model.target.values.flip(Int.random(in: 128..<victim.extent.end * 8, using: &generator), of: victim.number)
      }
    }
    for (key, value) in model.contents {
      let found = try model.value(key, in: model.target.committed)
      #expect(found == value || (found == nil && damaged.contains(key)))
    }
    #expect(model.target.violations.isEmpty)
    #expect(model.damagedExtents > 0)
  }

  /// The damaged bit is one of the size, which hides the following records, or one of the key. One of the sizes fits
  /// into the extent, but into no free one.
  @Test(arguments: [13 * 8 + 7, 13 * 8 + 4, 20 * 8 + 7]) func `an extent whose damage hides live records is released`(
    bit: Int
  ) throws {
    var model = try model()
    for number in 100..<300 { try put(number, newValue(number, size: 700), in: &model) }
    let victim = try #require(try closedExtents(of: model).min { $0.extent.age < $1.extent.age })
    let first = ExtentLayout.headerSize
    model.target.values.flip(first * 8 + bit, of: victim.number)
    // Used records are copied.
    for items in model.target.committed.index.values { for item in items { model.recency.mark(item.address.mark) } }
    var number = 300
    while model.target.committed.extents.contains(victim.number) {
      try #require(number < 2000)
      try put(number, newValue(number, size: 700), in: &model)
      number += 1
    }
    #expect(model.damagedExtents == 1)
    // Items still lead to the extent, which does not return under its number.
    let items = model.target.committed.index[.first] ?? []
    let isInVictim = { (address: RecordAddress) in
      if case .inExtent(victim.number, _)? = address.location(in: model.limits.layout) { true } else { false }
    }
    let lost = items.filter { isInVictim($0.address) }
    #expect(!lost.isEmpty)
    for _ in 0..<200 {
      try put(number, newValue(number, size: 700), in: &model)
      number += 1
    }
    #expect(model.target.violations.isEmpty && !model.target.committed.extents.contains(victim.number))
    // A write of a lost key removes its item.
    let former = model.target.committed.index[.first]?.count ?? 0
    let lostKeys = model.contents.keys.filter { key in
      lost.contains { $0.digest == RecordDigest(of: key.key.rawSpan) }
    }
    for key in lostKeys {
      _ = try model.transaction { (model, step) throws(LMDBError) in
        #expect(try step.removeDamaged(key.key, of: .first, in: &model.target) == .visible)
      }
    }
    #expect(model.target.committed.index[.first]?.count == former - lostKeys.count)
    #expect(!lostKeys.isEmpty)
  }

  @Test func `a damaged record satisfies no condition, is removed as damaged, and spares others of its digest`() throws
  {
    var model = try model()
    for number in 0..<2 {
      var value = newValue(number, size: 100)
      value.metadata.expires = WallTime(nanosecondsSince1970: 1)
      try put(number, value, in: &model)
    }
    let item = try #require(
      model.target.committed.index[.first]?.first { item in
        try model.record(at: item.address, in: model.target.committed)?.key == key(0).key
      })
    guard case .inExtent(let extent, let offset)? = item.address.location(in: model.limits.layout) else {
      Issue.record("the record is not in an extent")
      return
    }
    // A byte of the value.
    model.target.values.flip((offset + 80) * 8, of: extent)
    _ = try model.transaction { (model, step) throws(LMDBError) in
      let condition = RecordCondition.ended(by: WallTime(nanosecondsSince1970: .max))
      for number in 0..<2 {
        let key = key(number).key
        let allows = try step.allows(condition, orIfDamaged: false, for: key, of: .first, in: &model.target)
        #expect(allows == (number == 1))
        #expect(try step.allows(condition, orIfDamaged: true, for: key, of: .first, in: &model.target))
      }
      for number in 0..<2 {
        let removal = try step.removeDamaged(key(number).key, of: .first, in: &model.target)
        #expect(removal == (number == 0 ? .visible : nil))
      }
      model.pending[key(0)] = nil
    }
    try model.check()
  }

  @Test func `damaged rows are not read`() throws {
    var model = try model()
    for number in 0..<200 { try put(number, newValue(number, size: 700), in: &model) }
    let rows = model.target.rows
    for bit in 0..<8 * ExtentRow.size {
      var damaged = rows
      damaged.extents[0]?[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: LMDBError.self) { try ExtentState(damaged, committed: .zero) }
    }
    var damaged = rows
    damaged.partitionNumbers = [PartitionNumber(number: 0): .first, PartitionNumber(number: 1): .first]
    #expect(throws: LMDBError.self) { try ExtentState(damaged, committed: .zero) }
    damaged = rows
    damaged.log = []
    #expect(throws: LMDBError.self) { try ExtentState(damaged, committed: .zero) }
  }
}
