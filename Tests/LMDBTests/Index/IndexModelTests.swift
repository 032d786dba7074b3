import Testing
import TestDirectories

@testable import LMDB

/// An index has the items of a model after any changes, from one item of a key to trees of several levels.
@Suite struct IndexModelTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `small sets of items agree with a model and are sound after each transaction`(seed: UInt64) throws {
    var run = try RandomIndex(seed: seed)
    for round in 0..<150 {
      // The sets grow to about a hundred items, then shrink to none.
      try run.change(
        Int.random(in: 1...12, using: &run.random), removals: round % 50 < 30 ? 2 : 7, isAborted: round % 7 == 3)
      #expect(try run.differences() == [])
      #expect(throws: Never.self) { try DataFileCheck.run(run.dataFile).get() }
    }
    #expect(run.faults == [])
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func `large sets of items agree with a model and are sound while they grow and shrink`(seed: UInt64) throws {
    var run = try RandomIndex(seed: seed)
    var most = 0
    for round in 0..<24 {
      try run.change(6_000, removals: round < 8 ? 0 : round < 14 ? 3 : 7, isAborted: round % 5 == 4)
      most = max(most, run.model.counts.values.max() ?? 0)
      #expect(try run.differences() == [])
      #expect(throws: Never.self) { try DataFileCheck.run(run.dataFile).get() }
    }
    #expect(run.faults == [])
    // More than one page of items, so that trees of several pages occurred.
    #expect(most > 5_000)
    try remove(&run)
  }

  @Test func `a large set in the order of its digests agrees with a model`() throws {
    var run = try RandomIndex(seed: 9)
    let (index, key) = (run.index, IndexKey(7))
    var model = run.model
    // A tree of three levels has at least 185 leaves.
    for part in 0..<8 {
      try run.fixture.environment.withWrite { (transaction) throws(LMDBError) in
        var cursor = try transaction.cursor(forKey: key, in: index)
        for number in 0..<10_000 {
          let item = IndexItem(digest: UInt64(number * 8 + part) << 24, address: model.newAddress())
          try cursor.insert(item)
          model.insert(item, key)
        }
      }
    }
    run.model = model
    #expect(run.model.count(key) == 80_000)
    let difference = try run.fixture.environment.withRead { (transaction) throws(LMDBError) in
      try model.difference(key, in: transaction, index)
    }
    #expect(difference == nil)
  }

  @Test func `an index agrees with a model and is sound while its map is full`() throws {
    var run = try RandomIndex(seed: 5, mapSize: 1 << 17)
    var failures = 0
    for round in 0..<200 {
      do {
        try run.change(100, removals: round % 40 < 25 ? 1 : 7, isAborted: false)
      } catch let error as LMDBError {
        try #require(error.code == .mapFull)
        failures += 1
      }
      #expect(try run.differences() == [])
      #expect(throws: Never.self) { try DataFileCheck.run(run.dataFile).get() }
    }
    #expect(failures > 3)
    #expect(run.faults == [])
  }

  @Test func `a compacted copy of an index is sound and has the same items`() throws {
    var run = try RandomIndex(seed: 6)
    for _ in 0..<3 { try run.change(3_000, removals: 2, isAborted: false) }
    let directory = TemporaryDirectory()
    try run.fixture.environment.copy(to: directory.path, compacting: true)
    #expect(throws: Never.self) { try DataFileCheck.run(directory.path + "/data.mdb").get() }
    let copy = try Environment.open(directory: directory.path, options: EnvironmentOptions(mapSize: 1 << 26))
    let (index, model) = (try copy.openIndexDatabase(named: "index"), run.model)
    for key in run.keys {
      let difference = try copy.withRead { (transaction) throws(LMDBError) in
        try model.difference(key, in: transaction, index)
      }
      #expect(difference == nil)
    }
    try copy.close()
  }

  /// Removes all items in steps, as after the end of a generation.
  private func remove(_ run: inout RandomIndex) throws {
    for key in run.keys {
      var model = run.model
      let index = run.index
      var isEmpty = false
      while !isEmpty {
        let before = model.count(key)
        isEmpty = try run.fixture.environment.withWrite { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: key, in: index)
          return try cursor.removeFirst(997) { item in
            let isExpected = model.remove(item, key)
            #expect(isExpected)
          }
        }
        #expect(model.count(key) == max(0, before - 997))
      }
      #expect(model.count(key) == 0)
      run.model = model
      #expect(try run.differences() == [])
      #expect(throws: Never.self) { try DataFileCheck.run(run.dataFile).get() }
    }
  }
}
