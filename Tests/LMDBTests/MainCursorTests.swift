import CisternTesting
import Testing

@testable import LMDB

/// Cursors that read mapped pages, beside LMDB's cursors.
@Suite struct MainCursorTests {
  private struct Entry: Equatable {
    let key: [UInt8]
    let valueSize: Int
    let firstByte: UInt8?

    init(_ key: RawSpan, _ value: RawSpan) {
      self.key = [UInt8](copying: key)
      valueSize = value.byteCount
      firstByte = value.isEmpty ? nil : value.number(at: 0, as: UInt8.self)
    }
  }

  /// The entries from a key on, by LMDB's cursor.
  private func expected(
    from key: [UInt8], _ limit: Int, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [Entry] {
    var cursor = try transaction.cursor(in: Database.main)
    var entries: [Entry] = []
    var isAtEntry = try cursor.move(toFirstFrom: key.rawSpan)
    while isAtEntry, entries.count < limit {
      if let key = cursor.key, let value = cursor.value { entries.append(Entry(key, value)) }
      isAtEntry = try cursor.moveToNext()
    }
    return entries
  }

  private func found(
    from key: [UInt8], _ limit: Int, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [Entry] {
    var cursor = transaction.mainCursor()
    var entries: [Entry] = []
    var isAtEntry = try cursor.move(toFirstFrom: key.rawSpan)
    while isAtEntry, entries.count < limit {
      entries.append(Entry(cursor.key, cursor.value))
      isAtEntry = try cursor.moveToNext()
    }
    return entries
  }

  /// The keys from which both cursors find different entries.
  private func differences(
    from keys: [[UInt8]], _ limit: Int, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [[UInt8]] {
    var differences: [[UInt8]] = []
    for key in keys {
      let expected = try expected(from: key, limit, in: transaction)
      if try found(from: key, limit, in: transaction) != expected { differences.append(key) }
    }
    return differences
  }

  @Test func `a cursor over mapped pages visits the entries of LMDB's, for any size of keys, values and trees`() throws
  {
    let fixture = try Fixture()
    // The record of a database is an entry too.
    _ = try fixture.environment.openDatabase(named: "\u{1}\u{7f}")
    var records = RandomRecords(seed: 1)
    for part in RandomRecords.parts {
      try records.put(part, in: fixture.environment)
      let starts = records.otherKeys(100) + records.keys.prefix(100) + [[255]]
      let differences = try fixture.environment.withRead { (transaction) throws(LMDBError) in
        // The first of these cursors learns the place of the map.
        try self.differences(from: [[]], .max, in: transaction) + self.differences(from: starts, 30, in: transaction)
      }
      #expect(differences == [])
      #expect(fixture.environment.map.isKnown)
    }
  }

  @Test func `an empty database has no entries`() throws {
    let fixture = try Fixture()
    let found = try fixture.environment.withRead { (transaction) throws(LMDBError) in
      try self.found(from: [], .max, in: transaction)
    }
    #expect(found == [])
  }

  @Test func `a cursor sees its snapshot, also after commits that replace the snapshot's meta page`() throws {
    let fixture = try Fixture()
    let table = fixture.environment.mainDatabase
    func put(_ byte: UInt8) throws {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        for number in 0..<200 as Range<UInt8> {
          try transaction.put([byte].rawSpan, forKey: [1, number].rawSpan, in: table)
        }
      }
    }
    try put(1)
    let environment = fixture.environment
    _ = try environment.withRead { (transaction) throws(LMDBError) in
      try self.found(from: [], .max, in: transaction)
    }
    #expect(environment.map.isKnown)
    let transaction = try environment.beginRead()
    for byte in 2...6 as ClosedRange<UInt8> {
      try put(byte)
      let older = try found(from: [], .max, in: transaction)
      #expect(older.count == 200 && older.allSatisfy { $0.firstByte == 1 })
      let newer = try environment.withRead { (transaction) throws(LMDBError) in
        try self.found(from: [], .max, in: transaction)
      }
      #expect(newer.count == 200 && newer.allSatisfy { $0.firstByte == byte })
    }
  }

  @Test func `damaged pages lead a walk neither outside of the pages nor back, and it ends`() throws {
    let fixture = try Fixture()
    let table = fixture.environment.mainDatabase
    var generator = SeededGenerator(seed: 2)
    let keys = RandomRecords.keys(1_000, using: &generator)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for key in keys {
        let value = [UInt8](repeating: 1, count: Int.random(in: 0...5_000, using: &generator))
        try transaction.put(value.rawSpan, forKey: key.rawSpan, in: table)
      }
    }
    let guarded = try GuardedPages(of: fixture)
    var counts = (ended: 0, damaged: 0, unknown: 0, outside: 0, endless: 0, back: 0)
    for round in 0..<2_000 {
      let place = guarded.place(inRound: round, using: &generator)
      let before = unsafe guarded.bytes[place]
      // Some damage stays, so that pages have several.
      defer { if round % 10 != 0 { unsafe guarded.bytes[place] = before } }
      unsafe guarded.bytes[place] = UInt8.random(in: 0...255, using: &generator)
      var walk = unsafe MappedWalk(guarded.pages, snapshot: guarded.snapshot)
      let start = round % 4 == 0 ? [] : keys[Int.random(in: 0..<keys.count, using: &generator)]
      var step = unsafe start.withUnsafeBytes { unsafe walk.move(toFirstFrom: $0) }
      var visits = 0
      var former: [UInt8]?
      while step == .entry, visits < 100_000 {
        visits += 1
        let key = unsafe [UInt8](walk.key)
        if let former, !former.lexicographicallyPrecedes(key) { counts.back += 1 }
        former = key
        if unsafe !guarded.contains(walk.key) { counts.outside += 1 }
        if unsafe !guarded.contains(walk.value) { counts.outside += 1 }
        step = unsafe walk.moveToNext()
      }
      switch step {
      case .end: counts.ended += 1
      case .damaged: counts.damaged += 1
      case .unknown: counts.unknown += 1
      case .entry: counts.endless += 1
      }
    }
    #expect(counts.outside == 0 && counts.endless == 0 && counts.back == 0 && counts.unknown == 0)
    // Both outcomes occurred, so the damage was neither too small nor too large.
    #expect(counts.ended > 0 && counts.damaged > 0)
  }
}
