import CisternTesting
import Locking
import Testing

@testable import LMDB

/// A lookup in the mapped pages of an index finds the same as LMDB.
@Suite struct IndexLookupTests {
  /// Returns descriptions of the differences for the model's digests and their neighbors, and the number of lookups
  /// that needed LMDB.
  private func compare(
    _ run: inout RandomIndex, every step: Int = 1
  ) throws -> (differences: [String], count: Int, byLMDB: Int) {
    let (index, environment) = (run.index, run.fixture.environment)
    var result = (differences: [String](), count: 0, byLMDB: 0)
    let transaction = try environment.beginRead()
    for key in run.keys + [IndexKey(99)] {
      let digests = run.model.keys[key].map { $0.keys.sorted() } ?? []
      let sought = stride(from: 0, to: digests.count, by: step).map { digests[$0] }
      for digest in sought + sought.map({ $0 ^ 1 }) + (0..<8).map({ _ in run.digest() }) {
        let expected = try transaction.addressesByLMDB(of: digest, key, in: index)
        let found = try transaction.addresses(of: digest, key, in: index)
        if found != expected { result.differences.append("\(key) \(digest): \(found) for \(expected)") }
        result.count += 1
        if !transaction.isAnsweredByPages(digest, key, in: index) { result.byLMDB += 1 }
      }
    }
    return result
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lookups among few items agree with LMDB after each transaction`(seed: UInt64) throws {
    var run = try RandomIndex(seed: seed)
    for round in 0..<120 {
      try run.change(
        Int.random(in: 1...40, using: &run.random), removals: round % 50 < 30 ? 2 : 7, isAborted: round % 7 == 3)
      let result = try compare(&run)
      #expect(result.differences == [])
      // The map is known after the first lookup that finds an item.
      if run.fixture.environment.map.isKnown, round > 1 { #expect(result.byLMDB == 0) }
    }
    #expect(run.fixture.environment.map.isKnown)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func `lookups in large trees with many equal digests agree with LMDB`(seed: UInt64) throws {
    var run = try RandomIndex(seed: seed)
    var (count, byLMDB) = (0, 0)
    for round in 0..<12 {
      try run.change(6_000, removals: round < 7 ? 0 : 6, isAborted: false)
      let result = try compare(&run, every: 7)
      #expect(result.differences == [])
      count += result.count
      byLMDB += result.byLMDB
    }
    // Only the digests with items in more than two leaves need LMDB.
    #expect(byLMDB > 0 && byLMDB < count / 20)
  }

  @Test func `items of one digest in many pages are examined once each, and the search ends at the sought one`() throws
  {
    let fixture = try Fixture()
    let index = try fixture.environment.openIndexDatabase(named: "index")
    let key = IndexKey(1)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      for number in 1...1_000 as ClosedRange<UInt64> {
        try cursor.insert(IndexItem(digest: number << 30, address: 1))
        for part in 0..<2 as Range<UInt64> {
          try cursor.insert(IndexItem(digest: 500 << 30, address: 2_000 * part + number + 1))
        }
      }
    }
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      let expected = try transaction.addressesByLMDB(of: 500 << 30, key, in: index)
      #expect(Set(expected).count == 2_001)
      for _ in 0..<2 {
        let found = try transaction.addresses(of: 500 << 30, key, in: index)
        #expect(found == expected)
      }
      let isAnswered = transaction.isAnsweredByPages(500 << 30, key, in: index)
      #expect(!isAnswered)
      var faults: [Int] = []
      for position in stride(from: 0, to: 2_001, by: 97) {
        var examined: [UInt64] = []
        let found = try transaction.firstAddress(of: 500 << 30, forKey: key, in: index) { address in
          examined.append(address)
          return address == expected[position]
        }
        if found != expected[position] || examined != Array(expected[...position]) { faults.append(position) }
      }
      #expect(faults == [])
    }
  }

  @Test func `each digest of a tree of three levels is found without LMDB`() throws {
    let fixture = try Fixture()
    let index = try fixture.environment.openIndexDatabase(named: "index")
    let key = IndexKey(0)
    // Digests of a part are in ascending order, so that the pages split often.
    for part in 0..<8 as Range<UInt64> {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        var cursor = try transaction.cursor(forKey: key, in: index)
        for number in 0..<10_000 as Range<UInt64> {
          try cursor.insert(IndexItem(digest: (number * 8 + part) * 0xC350_0001, address: number * 8 + part + 1))
        }
      }
    }
    let wrong = try fixture.environment.withRead { (transaction) throws(LMDBError) in
      _ = try transaction.addresses(of: 0, key, in: index)
      var wrong: [UInt64] = []
      for number in 0..<80_000 as Range<UInt64> where number % 3 == 0 {
        let found = try transaction.addresses(of: number * 0xC350_0001, key, in: index)
        let isAnswered = transaction.isAnsweredByPages(number * 0xC350_0001 + 1, key, in: index)
        if found != [number + 1] || !isAnswered { wrong.append(number) }
      }
      return wrong
    }
    #expect(wrong == [])
  }

  @Test func `lookups in a snapshot find nothing that was committed after it`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let index = try environment.openIndexDatabase(named: "index")
    func insert(_ address: UInt64) throws {
      try environment.withWrite { (transaction) throws(LMDBError) in
        var cursor = try transaction.cursor(forKey: IndexKey(3), in: index)
        try cursor.insert(IndexItem(digest: 9, address: address))
      }
    }
    try insert(1)
    let transaction = try environment.beginRead()
    var older: [[UInt64]] = []
    var newer: [[UInt64]] = []
    for address in 2...9 as ClosedRange<UInt64> {
      older.append(try transaction.addresses(of: 9, IndexKey(3), in: index))
      try insert(address)
      let later = try environment.beginRead()
      newer.append(try later.addresses(of: 9, IndexKey(3), in: index))
      let isAnswered = later.isAnsweredByPages(9, IndexKey(3), in: index)
      #expect(isAnswered)
    }
    #expect(older == Array(repeating: [1], count: 8))
    #expect(newer == (2...9).map { Array(1...$0) })
  }

  @Test func `an index with a long name, an empty one and a missing key have the items that LMDB finds`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let long = try environment.openIndexDatabase(named: "an index of items")
    let empty = try environment.openIndexDatabase(named: "empty")
    let short = try environment.openIndexDatabase(named: "an index")
    for index in [long, short] {
      try environment.withWrite { (transaction) throws(LMDBError) in
        var cursor = try transaction.cursor(forKey: IndexKey(3), in: index)
        try cursor.insert(IndexItem(digest: 9, address: index == long ? 5 : 6))
      }
    }
    try environment.withRead { (transaction) throws(LMDBError) in
      var found: [[UInt64]] = []
      for index in [long, empty, short] {
        found.append(try transaction.addresses(of: 9, IndexKey(3), in: index))
        found.append(try transaction.addresses(of: 9, IndexKey(4), in: index))
        found.append(try transaction.addresses(of: 8, IndexKey(3), in: index))
      }
      #expect(found == [[5], [], [], [], [], [], [6], [], []])
      let areAnswered = [long, empty, short].map { $0.name != nil }
      #expect(areAnswered == [false, true, true])
      let isAnswered = transaction.isAnsweredByPages(9, IndexKey(3), in: empty)
      #expect(isAnswered)
    }
  }
}

/// Lookups and changes on different threads.
@Suite struct IndexLookupThreadsTests {
  @Test func `lookups agree with LMDB in each snapshot while another thread writes`() throws {
    let run = try RandomIndex(seed: 3)
    let (environment, index, keys) = (run.fixture.environment, run.index, run.keys)
    let log = Log()
    let progress = Guarded((isDone: false, byPages: 0))
    let readers = (1...2 as ClosedRange<UInt64>).map { seed in
      JoinableThread {
        var random = RandomDigests(seed: seed)
        var rounds = 0
        // A reader that starts late does not end before it has looked up enough.
        while rounds < 50 || !progress.withLock({ $0.isDone }) {
          rounds += 1
          do throws(LMDBError) {
            let transaction = try environment.beginRead()
            for _ in 0..<20 {
              let (digest, key) = (random.next(), keys[Int(random.next() >> 42) % keys.count])
              let found = try transaction.addresses(of: digest, key, in: index)
              let expected = try transaction.addressesByLMDB(of: digest, key, in: index)
              if found != expected { log.append("\(key) \(digest): \(found) for \(expected)") }
              if transaction.isAnsweredByPages(digest, key, in: index) { progress.withLock { $0.byPages += 1 } }
            }
          } catch {
            log.append("\(error)")
          }
        }
      }
    }
    var writer = run
    for round in 0..<150 {
      try writer.change(200, removals: round % 50 < 30 ? 1 : 7, isAborted: round % 9 == 4)
    }
    progress.withLock { $0.isDone = true }
    for reader in readers { reader.join() }
    #expect(log.all == [])
    #expect(writer.faults == [])
    #expect(progress.withLock { $0.byPages } > 0)
  }

  /// Digests of which many are in a random index.
  private struct RandomDigests {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { UInt64.random(in: 0..<64, using: &random) << 42 }
  }
}
