import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The rules of a write transaction on extents, one by one.
struct ExtentStepTests: PackingFixture {
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

  @Test func `a record with a second chance is as young as the records that are written then`() throws {
    var model = try model()
    for number in 0..<60 { try put(key(number), newValue(number, size: 900), in: &model) }
    // Their copies fill more than one extent.
    let used = (0..<30).map { key($0 * 2) }
    for key in used { model.recency.mark(try address(of: key, in: model).mark) }
    var number = 1000
    while model.contents[key(1)] != nil || model.contents[key(59)] != nil {
      try #require(number < 4000)
      try putSome(20, from: &number, size: 900, in: &model)
    }
    while model.contents[key(1000)] != nil {
      try #require(number < 4000)
      try putSome(20, from: &number, size: 900, in: &model)
    }
    #expect(used.filter { model.contents[$0] != nil }.count > 25)
    try model.check()
  }

  @Test func `a cleaned record stays older than the records that were written after it`() throws {
    var model = try model()
    for number in 0..<240 { try put(key(number), newValue(number, size: 900), in: &model) }
    let old = (0..<60).map { key($0 * 4) }
    let newer = (1000..<1060).map { key($0) }
    for key in newer { try put(key, newValue(1, size: 900), in: &model) }
    let places = try old.map { try address(of: $0, in: model) }
    // Three of four records beside an old one are dead then.
    for number in 0..<240 where number % 4 > 0 { try put(key(number), newValue(number, size: 900), in: &model) }
    var number = 2000
    while try zip(old, places).contains(where: { try address(of: $0, in: model) == $1 }) {
      try #require(number < 3000 && model.evictions == 0)
      try putSome(5, from: &number, size: 900, in: &model)
    }
    while newer.allSatisfy({ model.contents[$0] != nil }) {
      try #require(number < 5000)
      try putSome(5, from: &number, size: 900, in: &model)
    }
    // The extent that received copies last is still open.
    #expect(old.count { model.contents[$0] != nil } * 900 < model.limits.layout.capacity)
    try model.check()
  }

  @Test func `if all records are used, evictions copy at most half of the extents on average`() throws {
    var model = try model()
    var number = 0
    var written = 0
    for _ in 0..<200 {
      for items in model.target.committed.index.values { for item in items { model.recency.mark(item.address.mark) } }
      let first = number
      try putSome(20, from: &number, size: 900, in: &model)
      written += (number - first) * ExtentLayout.room(for: 960)
    }
    #expect(model.evictions > 1000)
    // Each copied half of an extent makes room for as many new records, but for the bytes that are saved at first.
    #expect(model.copiedBytes <= written + Reclaim.mostSavedBytes(in: try #require(model.states[0]).log))
    try model.check()
  }

  @Test func `used records that were written together survive, up to an eighth of the file`() throws {
    var model = try model(mapSize: 8 << 20)
    let used = (0..<800).map { key($0) }
    for start in stride(from: 0, to: 800, by: 20) {
      var number = start
      while number < start + 20 { try putSome(start + 20 - number, from: &number, size: 900, in: &model) }
    }
    for items in model.target.committed.index.values { for item in items { model.recency.mark(item.address.mark) } }
    var number = 1000
    while model.evictions < 500 {
      try putSome(50, from: &number, size: 900, in: &model)
      try #require(number < 20_000)
    }
    #expect(used.count { model.contents[$0] == nil } == 0)
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
    for _ in 0..<NewSeparates.groupCount { model.states[0]?.noteGroup() }
    try fill(&model)
    #expect(model.contents[key(0)] == nil, "the oldest record")
    #expect(try model.contents[key(1)] != nil && address(of: key(1), in: model) == addresses[1])
    try put(key(1), newValue(9, size: 10), in: &model)
    #expect(model.target.committed.separates.isEmpty)
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
    #expect(
      model.target.committed.partitionNumbers == [
        PartitionNumber(number: 0): .first, PartitionNumber(number: 1): second,
      ])
    var isDone = false
    for part in 0..<4 {
      #expect(!isDone && model.target.committed.index[.first]?.count == 30 - part * 10)
      _ = try model.transaction { (model, step) throws(LMDBError) in
        isDone = try step.purge(.first, upTo: 10, in: &model.target).isDone
      }
    }
    #expect(isDone && model.target.committed.partitionNumbers == [PartitionNumber(number: 1): second])
    var third = Generation.zero
    _ = try model.transaction { model, step in
      third = model.beginGeneration()
      step.outcome.hasChanges = true
    }
    try put(key(1, third), newValue(2, size: 10), in: &model)
    #expect(model.target.committed.partitionNumbers[PartitionNumber(number: 0)] == third)
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
    // Reads give neither of them a second chance.
    for items in model.target.committed.index.values { for item in items { model.recency.mark(item.address.mark) } }
    let table = InvalidationTable()
    _ = table.stage(.tag("red"), limit: 1 << 20) { 1 }
    _ = try #require(table.beginCommitting())
    var row = InvalidationVersionRow()
    row.invalidationVersion = 1
    table.publish([.tag("red"): 1], row: row, transaction: 1)
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

  @Test func `a purge of invalidated records spares newer ones, and finds moved ones`() throws {
    var model = try model()
    for number in 0..<4 {
      var value = newValue(number, size: 10, tags: ["red"])
      value.metadata.invalidationVersion = number == 1 ? 5 : 0
      try put(key(number), value, in: &model)
    }
    // The walk has seen these records.
    let digests = Set((model.target.committed.index[.first] ?? []).map(\.digest)).sorted()
    var newer = newValue(9, size: 10, tags: ["red"])
    newer.metadata.invalidationVersion = 3
    try put(key(2), newer, in: &model)
    // The record moves, and keeps its version.
    try put(key(3), newValue(3, size: 10, tags: ["red"]), in: &model)
    var set = InvalidationSet<FileInvalidationVersion>()
    set.add(.tag("red"), invalidationVersion: 3)
    _ = try model.transaction { (model, step) throws(LMDBError) in
      try step.purge(digests, of: .first, concealedBy: set, in: &model.target)
      model.pending[key(0)] = nil
      model.pending[key(3)] = nil
    }
    try model.check()
  }
}
