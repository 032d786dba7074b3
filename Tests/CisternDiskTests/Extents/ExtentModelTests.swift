import CisternTesting
import Testing

@testable import CisternDisk

/// Random histories of writes, removals, readers and commits over extents.
struct ExtentModelTests {
  /// Writes a record. Ends readers and commits until an extent can be written, as the writer thread does.
  private func put(_ key: Int, size: Int, in model: inout ExtentModel) throws {
    var attempts = 0
    while !model.put(key, size: size) {
      attempts += 1
      if attempts > 50, !model.readers.isEmpty { model.endReading(at: 0) }
      try #require(attempts < 1000, "no extent can be written, although all records can be evicted")
      model.commit()
    }
  }

  @Test(arguments: 1...12) func `readers find their records until they end, and live bytes are exact`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    var model = ExtentModel(
      layout: ExtentLayout(mapSize: 0), count: Int.random(in: 4...24, using: &generator), meanRecordSize: 900)
    for step in 0..<4000 {
      let key = Int.random(in: 0..<600, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: model.remove(key)
      case 1: model.commit()
      case 2 where model.readers.count < 3: model.beginReading()
      case 3 where !model.readers.isEmpty:
        model.endReading(at: Int.random(in: 0..<model.readers.count, using: &generator))
      case 4, 5: model.used.insert(key)
      default: try put(key, size: Int.random(in: 1...4096, using: &generator), in: &model)
      }
      guard step % 50 == 0 else { continue }
      for reader in model.readers { #expect(model.damagedKeys(of: reader).isEmpty) }
      let indexed = model.indexedBytes
      for (number, extent) in model.log.all { #expect(extent.liveBytes == indexed[number] ?? 0) }
      #expect(model.log.liveBytes == indexed.values.reduce(0, +))
    }
  }

  @Test func `extents keep three quarters of their bytes live while keys are overwritten`() throws {
    var generator = SeededGenerator(seed: 1)
    var model = ExtentModel(layout: ExtentLayout(mapSize: 0), count: 128, meanRecordSize: 1000)
    var written = 0
    while written < 8 * model.log.capacity {
      let size = Int.random(in: 820...1230, using: &generator)
      // The keys are worth 1.2 times the extents.
      try put(Int.random(in: 0..<model.log.capacity * 12 / 10 / 1024, using: &generator), size: size, in: &model)
      written += size
      if written % 16 == 0 { model.commit() }
    }
    #expect(Double(model.log.liveBytes) > 0.75 * Double(model.log.capacity))
    #expect(model.copiedBytes < 3 * written / 2)
  }

  @Test func `a used record outlives unused ones of the same age`() throws {
    var model = ExtentModel(layout: ExtentLayout(mapSize: 0), count: 16, meanRecordSize: 1000)
    for key in 0..<40 { try put(key, size: 1000, in: &model) }
    model.used = [3, 17, 30]
    var key = 1000
    while model.evicted.count < 30 {
      try put(key, size: 1000, in: &model)
      key += 1
      model.commit()
    }
    #expect(model.evicted.isDisjoint(with: [3, 17, 30]))
  }
}
