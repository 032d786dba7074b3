import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternDisk

/// The bytes of the rows of extents, and the log that a process reads from them.
struct ExtentRowTests {
  private let layout = ExtentLayout(mapSize: 1 << 20)
  private let key = ExtentRow.Key(ExtentNumber(number: 7))
  private let separateKey = ExtentRow.Key(SeparateNumber(number: 7))

  private var extents: [Extent] {
    [
      Extent(state: .free(emptiedBy: TransactionNumber(number: 9))),
      Extent(state: .open(.writes), age: ExtentAge(number: 3), end: 120, liveBytes: 104),
      Extent(state: .open(.copies), age: ExtentAge(number: .max), end: layout.size, liveBytes: 0),
      Extent(state: .closed, age: ExtentAge(number: 4), end: layout.size, liveBytes: layout.capacity),
    ]
  }

  private func decode(_ bytes: [UInt8], _ key: ExtentRow.Key) -> ExtentRow? {
    ExtentRow(bytes.rawSpan, under: key, in: layout)
  }

  @Test func `a row decodes to the encoded one under its key only`() {
    for extent in extents {
      let bytes = ExtentRow.extent(extent).bytes(under: key)
      #expect(bytes.count == ExtentRow.size)
      #expect(decode(bytes, key) == .extent(extent))
      #expect(decode(bytes, ExtentRow.Key(ExtentNumber(number: 8))) == nil)
      #expect(decode(bytes, separateKey) == nil)
    }
    let separate = ExtentRow.separate(SeparateRecord(age: ExtentAge(number: 5), size: 1 << 33))
    #expect(decode(separate.bytes(under: separateKey), separateKey) == separate)
    #expect(decode(separate.bytes(under: key), key) == nil)
  }

  @Test func `a key is an extent or a separate record`() {
    for key in [key, separateKey] { #expect(ExtentRow.Key(number: key.number) == key) }
    #expect(ExtentRow.Key(number: UInt64(ExtentNumber.limit)) == nil)
    #expect(ExtentRow.Key(number: 1 << 48) == nil)
  }

  @Test func `a row with a changed bit or another length does not decode`() {
    for extent in extents {
      let bytes = ExtentRow.extent(extent).bytes(under: key)
      for bit in 0..<bytes.count * 8 {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(decode(changed, key) == nil)
      }
      for count in 0..<bytes.count { #expect(decode(Array(bytes.prefix(count)), key) == nil) }
      #expect(decode(bytes + [0], key) == nil)
    }
  }

  @Test func `a row whose fields are outside of the extent does not decode`() {
    let invalid = [
      Extent(state: .closed, end: layout.size + 4), Extent(state: .closed, end: 12), Extent(state: .closed, end: 18),
      Extent(state: .closed, end: 116, liveBytes: 104),
    ]
    for extent in invalid { #expect(decode(ExtentRow.extent(extent).bytes(under: key), key) == nil) }
  }

  /// Fills extents and removes some records, so that all states occur.
  private func usedLog() throws -> ExtentLog {
    var log = ExtentLog(layout: layout)
    for _ in 0..<6 { _ = log.add() }
    let horizon = TransactionHorizon(current: TransactionNumber(number: 10), oldestSnapshot: nil)
    var addresses: [RecordAddress] = []
    for _ in 0..<9 {
      let address = log.place(4000, in: .writes, during: horizon)
      addresses.append(try #require(address))
    }
    log.remove(4000, at: addresses[1])
    _ = log.place(500, in: .copies, from: ExtentAge(number: 1), during: horizon)
    log.release(ExtentNumber(number: 4))
    return log
  }

  private func rows(of log: ExtentLog) -> [ExtentNumber: Extent] {
    Dictionary(uniqueKeysWithValues: log.all.map { ($0.number, $0.extent) })
  }

  @Test(arguments: [ReclaimPolicy.Method.evict, .clean]) func `a log is read from its row and the rows of its extents`(
    method: ReclaimPolicy.Method
  ) throws {
    var log = try usedLog()
    let choice = ReclaimPolicy.Choice(number: ExtentNumber(number: 0), method: method)
    let reclaim = Reclaim(choice, age: ExtentAge(number: 1), position: 3, copiedBytes: 8000)
    let row = LogRow(log, nextSeparate: SeparateNumber(number: 12), reclaim: reclaim)
    #expect(row.bytes.count == LogRow.size)
    let decoded = LogRow(row.bytes.rawSpan)
    #expect(decoded == row)
    _ = log.takeChangedRows(withLiveBytes: true)
    var rows = rows(of: log)
    for number in log.open.values { rows[number]?.end = ExtentLayout.headerSize }
    for number in log.open.values { rows[number]?.liveBytes = 0 }
    let read = ExtentLog(try #require(decoded), rows: rows)
    // The rows of open extents are older than the row of the log, which states where these extents end.
    #expect(read.map { self.rows(of: $0) } == self.rows(of: log))
    #expect(read?.liveBytes == log.liveBytes && read?.freeCount == log.freeCount && read?.count == log.count)
    #expect(read?.open == log.open && read?.newestAge == log.newestAge)
    #expect(read?[ExtentNumber(number: 4)] == nil && read?.givenCount == 6 && read?.table.count == 5)
  }

  @Test func `removals that the rows lack are subtracted from a log that is read again, except in a refilled extent`()
    throws
  {
    var known = try usedLog()
    _ = known.takeChangedRows(withLiveBytes: true)
    let row = LogRow(known, nextSeparate: SeparateNumber(number: 0), reclaim: nil)
    var rows = rows(of: known)
    let closed = ExtentNumber(number: 0)
    let former = try #require(rows[closed])
    #expect(former.isClosed && former.liveBytes >= 8000)
    known.remove(4000, at: RecordAddress(closed, offset: ExtentLayout.headerSize, in: layout))
    // Another process has removed a record, too.
    rows[closed]?.liveBytes -= 4000
    var read = try #require(ExtentLog(row, rows: rows))
    let liveBytes = read.liveBytes
    read.subtractRemovals(in: known)
    #expect(read[closed]?.liveBytes == former.liveBytes - 8000 && read.liveBytes == liveBytes - 4000)
    #expect(read.hasUnwrittenLiveBytes)
    // The removals concern records that the extent no longer has.
    for refilled in [
      Extent(state: .closed, age: known.newestAge.next(), end: former.end, liveBytes: former.liveBytes),
      Extent(state: .closed, age: former.age, end: former.end - 400, liveBytes: 8000),
      Extent(state: .free(emptiedBy: TransactionNumber(number: 9))),
    ] {
      rows[closed] = refilled
      var other = try #require(ExtentLog(row, rows: rows))
      other.subtractRemovals(in: known)
      #expect(other[closed] == refilled && !other.hasUnwrittenLiveBytes)
    }
  }

  @Test func `a log whose rows contradict each other is not read`() throws {
    let log = try usedLog()
    let row = LogRow(log, nextSeparate: SeparateNumber(number: 0), reclaim: nil)
    let open = try #require(log.open[.writes])
    var rows = rows(of: log)
    let saved = rows.removeValue(forKey: open)
    #expect(ExtentLog(row, rows: rows) == nil, "the open extent has no row")
    rows[open] = saved
    rows[ExtentNumber(number: 4)] = Extent(state: .open(.writes))
    #expect(ExtentLog(row, rows: rows) == nil, "two extents are open for writes")
    rows[ExtentNumber(number: 4)] = nil
    rows[ExtentNumber(number: 6)] = Extent(state: .closed)
    #expect(ExtentLog(row, rows: rows) == nil, "the file never had this extent")
  }

  @Test func `changed and arbitrary bytes of the row of the log never trap`() throws {
    let bytes = LogRow(try usedLog(), nextSeparate: SeparateNumber(number: 3), reclaim: nil).bytes
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<20_000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if let row = LogRow(changed.rawSpan) { _ = ExtentLog(row, rows: [:]) }
    }
    for count in 0..<bytes.count { #expect(LogRow(bytes.rawSpan.extracting(0..<count)) == nil) }
  }

  @Test func `rows are due for new states at once, and for live bytes on request`() throws {
    var log = try usedLog()
    let first = log.takeChangedRows(withLiveBytes: false)
    #expect(first.map(\.number.number) == [0, 1, 2, 3, 4, 5])
    #expect(first[4].extent == nil && first[0].extent == log[ExtentNumber(number: 0)])
    let rest = log.takeChangedRows(withLiveBytes: true)
    #expect(rest.isEmpty)
    log.remove(4000, at: RecordAddress(ExtentNumber(number: 0), offset: 16, in: layout))
    let urgent = log.takeChangedRows(withLiveBytes: false)
    #expect(urgent.isEmpty)
    let late = log.takeChangedRows(withLiveBytes: true)
    #expect(late.map(\.number) == [ExtentNumber(number: 0)])
  }
}
