import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The room that a write transaction on extents makes, and the records that it costs.
struct ExtentRoomTests: PackingFixture {
  @Test func `a file that can grow much adds extents when records need them, and has a reserve before it is full`()
    throws
  {
    var model = try model()
    var number = 0
    // An extent has room for 17 records.
    try putSome(60, from: &number, size: 900, in: &model)
    #expect(number == 60 && model.target.committed.extents.count == 5)
    var mostFree = 0
    while model.evictions == 0 {
      let free = model.states[0]?.log.freeCount ?? 0
      if number < 200 { #expect(free <= 1, "\(number)") }
      mostFree = max(mostFree, free)
      try putSome(20, from: &number, size: 900, in: &model)
      try #require(number < 1000)
    }
    #expect(mostFree >= ReclaimPolicy.reserve)
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

  @Test func `a reader of the free extents costs no record that was read`() throws {
    var model = try model()
    try fill(&model)
    let present = (0..<20_000).map { key($0) }.filter { model.contents[$0] != nil }
    let used = present.indices.filter { $0 % 10 == 0 }.map { present[$0] }
    for key in used { model.recency.mark(try address(of: key, in: model).mark) }
    try #require(used.count > 20)
    model.beginReading()
    var number = 20_000
    while try put(key(number), newValue(number, size: 900), in: &model) {
      number += 1
      try #require(number < 21_000)
    }
    for _ in 0..<5 { #expect(try !put(key(number), newValue(number, size: 900), in: &model)) }
    #expect(used.allSatisfy { model.contents[$0] != nil })
    model.readers = []
    #expect(try put(key(number), newValue(number, size: 900), in: &model))
    #expect(used.allSatisfy { model.contents[$0] != nil })
    try model.check()
  }

  /// Each commit empties an extent and fills another, so readers of the last snapshots can keep all free extents.
  @Test(arguments: 1...8, [10, 20, 40])
  func `readers of the last snapshots cost no record that is read between all transactions`(
    lag: Int, count: Int
  ) throws {
    var model = try model()
    let keys = (0..<30).map { key($0) }
    for (number, key) in keys.enumerated() { try put(key, newValue(number, size: 1000), in: &model) }
    var number = 1000
    var emptySteps = 0
    while number < 4000 {
      for key in keys { model.recency.mark(try address(of: key, in: model).mark) }
      model.beginReading()
      if model.readers.count > lag { model.readers.removeFirst() }
      // The writer waits for the readers after some transactions without progress.
      if emptySteps == 4 { model.readers = [] }
      let former = number
      try putSome(count, from: &number, size: 1000, in: &model)
      emptySteps = number == former ? emptySteps + 1 : 0
      try #require(keys.allSatisfy { model.contents[$0] != nil }, "after \(number)")
      try #require(emptySteps < 10)
    }
    #expect(model.evictions > 1000)
    try model.check()
  }

  @Test func `a transaction does not reclaim the extents that it has filled`() throws {
    var model = try model()
    for _ in 0..<8 { try put(key(0), newValue(0, size: 900), in: &model) }
    var isReclaimed = true
    _ = try model.transaction { (model, step) throws(LMDBError) in
      for number in 1..<60 where try !model.put(key(number), newValue(number, size: 900), &step) { break }
      // No other extent is closed.
      isReclaimed = try step.reclaim(.max, in: &model.target)
      model.noteEvictions(&step)
    }
    // An extent has room for 17 records.
    #expect(!isReclaimed && model.contents.count > 20 && model.evictions == 0)
    try model.check()
    // Later transactions reclaim them.
    try fill(&model)
    #expect(model.evictions > 0)
    try model.check()
  }

  @Test func `records that are read do not displace the newest large ones`() throws {
    var model = try model()
    for number in 0..<8 { try put(key(number), newValue(number, size: 100_000), in: &model) }
    let evictions = model.evictions
    for number in 10..<16 {
      model.states[0]?.noteGroup()
      for other in (0..<8).map({ key($0) }) where model.contents[other] != nil {
        model.recency.mark(try address(of: other, in: model).mark)
      }
      try #require(try put(key(number), newValue(number, size: 100_000), in: &model))
      #expect((max(number - 2, 10)...number).allSatisfy { model.contents[key($0)] != nil }, "\(number)")
    }
    #expect(model.evictions > evictions)
    try model.check()
  }

  @Test func `a full map makes the file release an extent, and not grow again`() throws {
    var model = try model()
    try fill(&model)
    let count = model.target.committed.extents.count
    var hasFreed = false
    _ = try model.transaction { (model, step) throws(LMDBError) in hasFreed = try step.freeSpace(in: &model.target) }
    #expect(hasFreed && model.target.committed.extents.count == count - 1)
    try fill(&model, from: 6000)
    #expect(model.target.committed.extents.count == count - 1)
    model.states[0]?.experience.ceiling.remove()
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

  @Test func `overwrites evict nothing while a part of the file is dead`() throws {
    var model = try model()
    var generator = SeededGenerator(seed: 2)
    for round in 0..<100 {
      let numbers = (0..<80).map { _ in Int.random(in: 0..<540, using: &generator) }
      var rest = numbers[...]
      while !rest.isEmpty {
        _ = try model.transaction { (model, step) throws(LMDBError) in
          while let number = rest.first, try model.put(key(number), newValue(round, size: 900), &step) {
            rest.removeFirst()
          }
        }
      }
    }
    #expect(model.evictions == 0 && model.copiedBytes > 0)
    try model.check()
  }

  /// Each synchronized transaction begins its copies at a new page. Small parts of an extent would gain nothing.
  @Test func `single synchronized overwrites copy half of what they write at most`() throws {
    var model = try model(mapSize: 4 << 20)
    model.avoidsSharedPages = true
    var generator = SeededGenerator(seed: 2)
    for number in 0..<700 { try put(key(number), newValue(number, size: 3000), in: &model) }
    for round in 0..<1500 {
      let number = Int.random(in: 0..<700, using: &generator)
      try #require(try put(key(number), newValue(round, size: 3000), in: &model))
    }
    #expect(model.evictions == 0 && model.copiedBytes > 0 && model.copiedBytes < 2200 * 3000 / 2)
    try model.check()
  }

  @Test func `a batch that has found room is put in the same transaction`() throws {
    var model = try model()
    try fill(&model)
    var generator = SeededGenerator(seed: 2)
    for batch in 0..<60 {
      for items in model.target.committed.index.values { for item in items { model.recency.mark(item.address.mark) } }
      let size = Int.random(in: 500...3900, using: &generator)
      let numbers = (0..<Int.random(in: 1...90_000 / size, using: &generator)).map { 30_000 + batch * 200 + $0 }
      let sizes = numbers.map { number in
        let value = newValue(number, size: size)
        return RecordDraft(key: key(number).key, metadata: value.metadata, bytes: value.bytes).packedSize
      }
      var isPut = false
      for _ in 0..<60 where !isPut {
        _ = try model.transaction { (model, step) throws(LMDBError) in
          let hasRoom = try step.makeRoom(forBatch: sizes, in: &model.target)
          model.noteEvictions(&step)
          guard hasRoom else { return }
          for number in numbers {
            let isPart = try model.put(key(number), newValue(number, size: size), &step)
            #expect(isPart)
          }
          isPut = true
        }
      }
      #expect(isPut && numbers.allSatisfy { model.contents[key($0)] != nil })
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

  @Test func `after a full map, the file may grow again by an extent in a while`() throws {
    var ceiling = GrowthCeiling()
    for _ in 0..<GrowthCeiling.groupsBeforeRise { ceiling.noteGroup() }
    #expect(ceiling.extents == .max)
    ceiling.lower(to: 7)
    for _ in 1..<GrowthCeiling.groupsBeforeRise { ceiling.noteGroup() }
    #expect(ceiling.extents == 7)
    ceiling.noteGroup()
    #expect(ceiling.extents == 8)
    ceiling.noteGroup()
    #expect(ceiling.extents == 8)
  }

  @Test(arguments: [1, 3, 500])
  func `the ceiling of a full map ends after many commit groups`(extents: Int) {
    var ceiling = GrowthCeiling()
    ceiling.lower(to: extents)
    for _ in 0..<100 * GrowthCeiling.groupsBeforeRise { ceiling.noteGroup() }
    #expect(ceiling.extents == .max)
  }
}
