import CisternTesting
import Locking
import Testing

@testable import LMDB

private struct Key: KeyBytes {
  let bytes: [UInt8]

  borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes.rawSpan)
  }
}

@Suite struct PageMapTests {
  /// Returns a description of the difference between a lookup in the pages and LMDB's, or nil if both agree.
  private func difference(_ key: [UInt8], in transaction: borrowing ReadTransaction, _ table: Database) throws
    -> String?
  {
    let expected = [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: table))
    let found = [UInt8](copying: try transaction.mainValue(forKey: Key(bytes: key)))
    return found == expected ? nil : "\(key): \(found?.count ?? -1) bytes for \(expected?.count ?? -1)"
  }

  @Test func `a lookup in the pages finds the same as LMDB, for any size of keys, values and trees`() throws {
    let fixture = try Fixture()
    let table = fixture.environment.mainDatabase
    var records = RandomRecords(seed: 1)
    for part in RandomRecords.parts {
      try records.put(part, in: fixture.environment)
      let environment = fixture.environment
      let transaction = try environment.beginRead()
      var differences: [String] = []
      for key in records.keys + records.otherKeys(1_000) {
        if let difference = try difference(key, in: transaction, table) { differences.append(difference) }
      }
      #expect(differences == [])
    }
    #expect(fixture.environment.map.isKnown)
  }

  @Test func `lookups in a snapshot return nothing that was committed after it`() throws {
    let fixture = try Fixture()
    let table = fixture.environment.mainDatabase
    let key = [UInt8](repeating: 1, count: 12)
    func put(_ byte: UInt8) throws {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put([byte].rawSpan, forKey: key.rawSpan, in: table)
      }
    }
    func value(_ transaction: borrowing ReadTransaction) throws -> [UInt8]? {
      [UInt8](copying: try transaction.mainValue(forKey: Key(bytes: key)))
    }
    let environment = fixture.environment
    try put(1)
    let transaction = try environment.beginRead()
    var older: [[UInt8]?] = []
    var newer: [[UInt8]?] = []
    for byte in 2...9 {
      older.append(try value(transaction))
      try put(UInt8(byte))
      let later = try environment.beginRead()
      newer.append(try value(later))
    }
    older.append(try value(transaction))
    #expect(older == Array(repeating: [1], count: 9))
    #expect(newer == (2...9).map { [$0] })
    #expect(fixture.environment.map.isKnown)
  }

  @Test func `damaged pages never lead a lookup outside of the pages`() throws {
    let fixture = try Fixture()
    let table = fixture.environment.mainDatabase
    var generator = SeededGenerator(seed: 2)
    let keys = RandomRecords.keys(600, using: &generator).filter { $0.count >= 8 }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for key in keys {
        let value = [UInt8](repeating: 1, count: Int.random(in: 0...5_000, using: &generator))
        try transaction.put(value.rawSpan, forKey: key.rawSpan, in: table)
      }
    }
    let guarded = try GuardedPages(of: fixture)
    var counts = (found: 0, absent: 0, unknown: 0, outside: 0)
    for round in 0..<3_000 {
      let place = guarded.place(inRound: round, using: &generator)
      unsafe guarded.bytes[place] = UInt8.random(in: 0...255, using: &generator)
      for _ in 0..<10 {
        let key = keys[Int.random(in: 0..<keys.count, using: &generator)]
        let answer = unsafe key.withUnsafeBytes {
          unsafe guarded.pages.look(for: $0, snapshot: guarded.snapshot)
        }
        switch unsafe answer {
        case .value(let value):
          counts.found += 1
          if unsafe !guarded.contains(value) { counts.outside += 1 }
        case .absent: counts.absent += 1
        case .unknown: counts.unknown += 1
        }
      }
    }
    #expect(counts.outside == 0)
    // All three outcomes occurred, so the damage was neither too small nor too large.
    #expect(counts.found > 0 && counts.absent > 0 && counts.unknown > 0)
  }
}

/// Lookups and commits on different threads.
@Suite struct PageMapThreadsTests {
  @Test func `lookups agree with LMDB in each snapshot while another thread commits`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let table = environment.mainDatabase
    let keys = (0..<200 as Range<UInt8>).map { [UInt8](repeating: $0, count: 12) }
    let log = Log()
    let isDone = Guarded(false)
    let readers = (1...2 as ClosedRange<UInt64>).map { seed in
      JoinableThread {
        var random = SeededGenerator(seed: seed)
        var rounds = 0
        // A reader that starts late does not end before it has looked up enough.
        while rounds < 50 || !isDone.withLock({ $0 }) {
          rounds += 1
          do throws(LMDBError) {
            let transaction = try environment.beginRead()
            for _ in 0..<20 {
              let key = keys[Int(random.next(below: keys.count))]
              let found = [UInt8](copying: try transaction.mainValue(forKey: Key(bytes: key)))
              let expected = [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: table))
              if found != expected { log.append("\(key[0]): \(found ?? []) for \(expected ?? [])") }
            }
          } catch {
            log.append("\(error)")
          }
        }
      }
    }
    var random = SeededGenerator(seed: 3)
    for round in 0..<500 {
      try environment.withWrite { (transaction) throws(LMDBError) in
        for _ in 0..<20 {
          let key = keys[Int(random.next(below: keys.count))]
          let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 100)
          try transaction.put(value.rawSpan, forKey: key.rawSpan, in: table)
        }
      }
    }
    isDone.withLock { $0 = true }
    for reader in readers { reader.join() }
    #expect(log.all == [])
    #expect(environment.map.isKnown)
  }
}
