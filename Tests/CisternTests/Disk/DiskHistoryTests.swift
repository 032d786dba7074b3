import Foundation
import LMDB
import Testing

@testable import Cistern

/// What is reported of a closed store whose files were changed, exchanged or removed.
@Suite struct DiskHistoryTests {
  /// Opens the store, looks a key up, and closes it.
  func opening(
    _ scratch: Scratch, key: String = "k1", isReadOnly: Bool = false
  ) async throws -> (value: [UInt8]?, reports: [StoreReport.Code]) {
    let told = Told()
    let tier = try openTier(scratch, told: told, isReadOnly: isReadOnly)
    let value = try tier.cache().get(key)
    try await tier.close()
    return (value, told.reportCodes)
  }

  /// A store in which one commit wrote a key and the next, the last one, removed it.
  func fillAndRemove(_ scratch: Scratch) async throws {
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("other", bytes("other"))
    try await tier.flush()
    cache.put("k1", bytes("removed"))
    try await tier.flush()
    cache.remove("k1")
    try await tier.close()
  }

  /// Changes the transaction numbers of both meta pages, the newest one's first.
  func renumber(_ scratch: Scratch, _ change: (_ newest: inout UInt64, _ older: inout UInt64) -> Void) throws {
    var data = [UInt8](try Data(contentsOf: scratch.dataFile))
    func number(at place: Int) -> UInt64 { data[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    func set(_ number: UInt64, at place: Int) {
      for byte in 0..<8 { data[place + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
    }
    let places = [144, 4096 + 144].sorted { number(at: $0) > number(at: $1) }
    var (newest, older) = (number(at: places[0]), number(at: places[1]))
    #expect(newest == older + 1)
    change(&newest, &older)
    set(newest, at: places[0])
    set(older, at: places[1])
    try Data(data).write(to: scratch.dataFile)
  }

  func mark(_ scratch: Scratch) throws -> BootMark {
    BootMark([UInt8](try Data(contentsOf: scratch.url("store/cistern.mark")))[...])
  }

  func copyStore(_ scratch: Scratch, to other: Scratch) throws {
    try FileManager.default.createDirectory(atPath: other.store, withIntermediateDirectories: true)
    for name in ["data.mdb", "cistern.mark"] {
      let target = other.url("store/\(name)")
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.copyItem(at: scratch.url("store/\(name)"), to: target)
    }
  }

  @Test(arguments: ["emptied", "removed"], [false, true])
  func `A data file that was emptied or removed is reported, and the store goes on without it`(
    change: String, isReadOnly: Bool
  ) async throws {
    let scratch = Scratch()
    try await fill(scratch, count: 20)
    if change == "emptied" {
      try Data().write(to: scratch.dataFile)
    } else {
      try FileManager.default.removeItem(at: scratch.dataFile)
    }
    let first = try await opening(scratch, isReadOnly: isReadOnly)
    #expect(first.value == nil)
    #expect(first.reports == [.filesReplaced])
    // A store that only reads cannot note that it was reported.
    #expect(try await opening(scratch).reports == (isReadOnly ? [.filesReplaced] : []))
    #expect(try await opening(scratch).reports == [])
  }

  @Test(arguments: [false, true])
  func `Another store's data file is set aside, and none of its values is returned`(isReadOnly: Bool) async throws {
    let scratch = Scratch()
    let other = Scratch()
    // Of fewer commits than the store's own: that does not make it an older state of it.
    try await fill(scratch, count: 20)
    for _ in 0..<5 { #expect(try await opening(scratch).reports == []) }
    try await fillAndRemove(scratch)
    try await fill(other, count: 500)
    try Data(contentsOf: other.dataFile).write(to: scratch.dataFile)
    let first = try await opening(scratch, key: "k400", isReadOnly: isReadOnly)
    #expect(first.value == nil)
    #expect(first.reports == [.setAside])
    #expect(scratch.names().contains("data.mdb.set-aside-1") == !isReadOnly)
    if isReadOnly { return }
    #expect(try await opening(scratch).reports == [])
    // It is whole: with its own mark it can be used again.
    #expect(try await opening(other, key: "k400").value == value(400, size: 700))
  }

  @Test func `Compacting leaves another store's data file as it is`() async throws {
    let scratch = Scratch()
    let other = Scratch()
    try await fill(scratch, count: 20)
    try await fill(other, count: 20)
    try Data(contentsOf: other.dataFile).write(to: scratch.dataFile)
    #expect(throws: CisternError.self) { _ = try DiskTier.compact(directory: scratch.store) }
    #expect(try await opening(scratch).reports == [.setAside])
  }

  @Test func `A compacted store is its own, and not an older one`() async throws {
    let scratch = Scratch()
    try await fillAndRemove(scratch)
    _ = try DiskTier.compact(directory: scratch.store)
    // Looked through, and compared with its mark.
    try Data(contentsOf: scratch.dataFile).write(to: scratch.dataFile)
    #expect(try await opening(scratch, key: "other") == (bytes("other"), []))
  }

  @Test func `A store that was made smaller is its own, and not an older one`() async throws {
    let scratch = Scratch()
    let large = try openTier(scratch, limit: .mebibytes(4))
    let cache = try large.cache()
    for number in 0..<2000 { cache.put("k\(number)", value(number, size: 700)) }
    try await large.close()
    let told = Told()
    let small = try openTier(scratch, limit: .mebibytes(1), told: told)
    try await small.close()
    try Data(contentsOf: scratch.dataFile).write(to: scratch.dataFile)
    let again = try openTier(scratch, limit: .mebibytes(1), told: told)
    #expect(try again.cache().get("k1999") == value(1999, size: 700))
    try await again.close()
    #expect(told.reportCodes == [])
  }

  @Test func `A file whose counts are damaged is made smaller, and the copy is the store's own`() async throws {
    let scratch = Scratch()
    let large = try openTier(scratch, limit: .mebibytes(4))
    let cache = try large.cache()
    for number in 0..<3000 { cache.put("k\(number)", value(number, size: 700)) }
    try await large.flush()
    // The counts of a generation, damaged without a trace: the file is as the store left it, and the copy counts anew.
    let file = try #require(large.engine.file)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put([UInt8](repeating: 1, count: 24).rawSpan, forKey: MetaTable.live(1).rawSpan, in: file.meta)
    }
    try await large.close()
    let path = scratch.dataFile.path
    try DirectoryClaim(directory: scratch.store, isReadOnly: false).note(
      DataFileStamp(of: path), DataFileHead(of: path)?.history)
    let told = Told()
    let small = try openTier(scratch, limit: .mebibytes(1), told: told)
    #expect(small.engine.counters.pagesChecked.load(ordering: .relaxed) == 0)
    try small.cache().put("new", bytes("new"))
    try await small.close()
    #expect(told.reportCodes == [])
    let again = try openTier(scratch, limit: .mebibytes(1), told: told)
    #expect(try again.cache().get("new") == bytes("new"))
    try await again.close()
    #expect(told.reportCodes == [])
  }

  @Test func `A transaction number that was lowered, so that an older state is back, is reported`() async throws {
    let scratch = Scratch()
    try await fillAndRemove(scratch)
    try renumber(scratch) { newest, older in newest = older - 2 }
    #expect(try await opening(scratch) == (bytes("removed"), [.rolledBack]))
    #expect(try await opening(scratch).reports == [])
  }

  @Test func `A transaction number that was raised, so that an older state is back, is reported`() async throws {
    let scratch = Scratch()
    try await fillAndRemove(scratch)
    try renumber(scratch) { _, older in older += 2 }
    #expect(try await opening(scratch) == (bytes("removed"), [.rolledBack]))
    #expect(try await opening(scratch).reports == [])
  }

  @Test func `A newer transaction number of the newest state is no older state`() async throws {
    let scratch = Scratch()
    try await fillAndRemove(scratch)
    try renumber(scratch) { newest, _ in newest += 2 }
    #expect(try await opening(scratch) == (nil, []))
  }

  @Test func `An older copy of the data file alone is used, and reported`() async throws {
    let scratch = Scratch()
    try await fill(scratch, count: 20)
    let copy = try Data(contentsOf: scratch.dataFile)
    let tier = try openTier(scratch)
    try tier.cache().remove("k1")
    try await tier.close()
    try copy.write(to: scratch.dataFile)
    #expect(try await opening(scratch) == (value(1, size: 700), [.rolledBack]))
    #expect(try await opening(scratch) == (value(1, size: 700), []))
  }

  @Test func `A copy of the data file and its mark opens anywhere with all values, and without a report`() async throws
  {
    let scratch = Scratch()
    let backup = Scratch()
    try await fill(scratch, count: 20)
    try copyStore(scratch, to: backup)
    #expect(try await opening(backup) == (value(1, size: 700), []))
    let tier = try openTier(scratch)
    try tier.cache().remove("k1")
    try await tier.close()
    try copyStore(backup, to: scratch)
    #expect(try await opening(scratch) == (value(1, size: 700), []))
  }

  @Test func `The data file alone opens in an empty directory`() async throws {
    let scratch = Scratch()
    let other = Scratch()
    try await fill(scratch, count: 20)
    try copyStore(scratch, to: other)
    try FileManager.default.removeItem(at: other.url("store/cistern.mark"))
    #expect(try await opening(other) == (value(1, size: 700), []))
    #expect(try mark(other).identity == mark(scratch).identity)
  }

  @Test(arguments: [true, false])
  func `A store of a version without identities opens with all its values, and has one from then on`(
    hasMark: Bool
  ) async throws {
    let scratch = Scratch()
    try await fill(scratch, count: 100)
    let settings = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: ""))
    let file = try DiskFile.open(directory: scratch.store, options: settings.environmentOptions())
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      let isRemoved = try transaction.remove(MetaTable.identity, in: file.meta)
      #expect(isRemoved)
    }
    try file.close()
    // As that version leaves it: the file's stamp fits, and the mark is shorter.
    let old = BootMark(
      state: .sound, boot: presentBoot(), limit: 16 << 20, stamp: DataFileStamp(of: scratch.dataFile.path))
    try Data(old.bytes.prefix(256)).write(to: scratch.url("store/cistern.mark"))
    if !hasMark { try FileManager.default.removeItem(at: scratch.url("store/cistern.mark")) }
    for round in 0..<2 {
      let told = Told()
      let tier = try openTier(scratch, told: told)
      #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) == 0 || (round == 0 && !hasMark))
      let cache = try tier.cache()
      for number in 0..<100 { #expect(cache.get("k\(number)") == value(number, size: 700)) }
      let identity = try #require(tier.engine.file?.identity)
      #expect(try mark(scratch).identity == identity)
      try await tier.close()
      #expect(told.reportCodes == [])
    }
  }

  @Test(arguments: [(1, []), (2, [.rolledBack])] as [(UInt64, [StoreReport.Code])])
  func `A power cut may undo the newest commit without a report, and no more`(
    undone: UInt64, reports: [StoreReport.Code]
  ) async throws {
    let scratch = Scratch()
    try await fill(scratch, count: 20)
    var noted = try mark(scratch)
    let history = try #require(noted.history)
    noted.boot = "another"
    noted.stamp = nil
    noted.history = DataFileHistory(transaction: history.transaction + undone, previousState: 0)
    try Data(noted.bytes).write(to: scratch.url("store/cistern.mark"))
    #expect(try await opening(scratch) == (value(1, size: 700), reports))
  }

  @Test func `An identity is read as it was written, and nothing else is one`() {
    let identity = StoreIdentity()
    #expect(StoreIdentity(identity.text[...]) == identity)
    #expect(identity != StoreIdentity())
    let digits = String(repeating: "0", count: 30)
    for text in ["", "0", "\(digits)0", "\(digits)000", "\(digits)0G", "+\(digits)0", "\(digits)AB"] {
      #expect(StoreIdentity(text[...]) == nil)
    }
    #expect(StoreIdentity("\(digits)ab")?.text == "\(digits)ab")
  }
}
