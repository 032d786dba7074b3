import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The reports when a store is opened after its files were changed, replaced or removed.
@Suite struct DiskHistoryTests {
  /// Opens the store, reads a key, and closes the store. Returns the value and the report codes.
  func opening(
    _ scratch: TemporaryDirectory, key: String = "k1", isReadOnly: Bool = false
  ) async throws -> (value: [UInt8]?, reports: [StoreReport.Code]) {
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, isReadOnly: isReadOnly)
    let value = try tier.cache().get(key)
    try await tier.close()
    return (value, delivered.reportCodes)
  }

  /// Creates a store whose second-to-last commit wrote a key and whose last commit removed it.
  func fillAndRemove(_ scratch: TemporaryDirectory) async throws {
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("other", bytes("other"))
    try await tier.flush()
    cache.put("k1", bytes("removed"))
    try await tier.flush()
    cache.remove("k1")
    try await tier.close()
  }

  /// Changes the transaction numbers of both meta pages. The closure receives the newest number first.
  func renumber(_ scratch: TemporaryDirectory, _ change: (_ newest: inout UInt64, _ older: inout UInt64) -> Void) throws
  {
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

  func mark(_ scratch: TemporaryDirectory) throws -> BootMark {
    BootMark([UInt8](try Data(contentsOf: scratch.url("store/cistern.mark")))[...])
  }

  func copyStore(_ scratch: TemporaryDirectory, to other: TemporaryDirectory) throws {
    try FileManager.default.createDirectory(atPath: other.store, withIntermediateDirectories: true)
    for name in ["data.mdb", "cistern.mark"] {
      let target = other.url("store/\(name)")
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.copyItem(at: scratch.url("store/\(name)"), to: target)
    }
  }

  @Test(arguments: ["emptied", "removed"], [false, true])
  func `an emptied or removed data file is reported, and the store continues with an empty file`(
    change: String, isReadOnly: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    if change == "emptied" {
      try Data().write(to: scratch.dataFile)
    } else {
      try FileManager.default.removeItem(at: scratch.dataFile)
    }
    let first = try await opening(scratch, isReadOnly: isReadOnly)
    #expect(first.value == nil)
    #expect(first.reports == [.filesReplaced])
    // A read-only store cannot record that it has reported the change.
    #expect(try await opening(scratch).reports == (isReadOnly ? [.filesReplaced] : []))
    #expect(try await opening(scratch).reports == [])
  }

  @Test(arguments: [false, true])
  func `another store's data file is set aside, and none of its values are returned`(isReadOnly: Bool) async throws {
    let scratch = TemporaryDirectory()
    let other = TemporaryDirectory()
    // The other store has fewer commits. This does not make its file an older state of this store.
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
    // The file is intact, and can be used again with the mark of its own store.
    #expect(try await opening(other, key: "k400").value == value(400, size: 700))
  }

  @Test func `compacting does not change another store's data file`() async throws {
    let scratch = TemporaryDirectory()
    let other = TemporaryDirectory()
    try await fill(scratch, count: 20)
    try await fill(other, count: 20)
    try Data(contentsOf: other.dataFile).write(to: scratch.dataFile)
    #expect(throws: CisternError.self) { _ = try DiskTier.compact(directory: scratch.store) }
    #expect(try await opening(scratch).reports == [.setAside])
  }

  @Test func `a compacted store keeps its identity and is not reported as older`() async throws {
    let scratch = TemporaryDirectory()
    try await fillAndRemove(scratch)
    _ = try DiskTier.compact(directory: scratch.store)
    // Rewriting the file changes its fingerprint. The next opening therefore checks it and compares it with its mark.
    try Data(contentsOf: scratch.dataFile).write(to: scratch.dataFile)
    #expect(try await opening(scratch, key: "other") == (bytes("other"), []))
  }

  @Test func `a shrunk store keeps its identity and is not reported as older`() async throws {
    let scratch = TemporaryDirectory()
    let large = try openTier(scratch, limit: .mebibytes(4))
    let cache = try large.cache()
    for number in 0..<2000 { cache.put("k\(number)", value(number, size: 700)) }
    try await large.close()
    let delivered = DeliveredReports()
    let small = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    try await small.close()
    try Data(contentsOf: scratch.dataFile).write(to: scratch.dataFile)
    let again = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    #expect(try again.cache().get("k1999") == value(1999, size: 700))
    try await again.close()
    #expect(delivered.reportCodes == [])
  }

  @Test func `a file with damaged counts is shrunk, and the copy keeps the store's identity`() async throws {
    let scratch = TemporaryDirectory()
    let large = try openTier(scratch, limit: .mebibytes(4))
    let cache = try large.cache()
    for number in 0..<3000 { cache.put("k\(number)", value(number, size: 700)) }
    try await large.flush()
    // The counts of a partition generation are damaged, but the file's fingerprint is current. The copy counts the
    // records again.
    let file = try #require(large.engine.file)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put([UInt8](repeating: 1, count: 24).rawSpan, forKey: MetaTable.live(1).rawSpan, in: file.meta)
    }
    try await large.close()
    let path = scratch.dataFile.path
    try DirectoryClaim(directory: scratch.store, isReadOnly: false).note(
      DataFileFingerprint(of: path), DataFileHead(of: path)?.history)
    let delivered = DeliveredReports()
    let small = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    #expect(small.engine.counters.pagesChecked.load(ordering: .relaxed) == 0)
    try small.cache().put("new", bytes("new"))
    try await small.close()
    #expect(delivered.reportCodes == [])
    let again = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    #expect(try again.cache().get("new") == bytes("new"))
    try await again.close()
    #expect(delivered.reportCodes == [])
  }

  @Test func `a lowered transaction number, which restores an older state, is reported`() async throws {
    let scratch = TemporaryDirectory()
    try await fillAndRemove(scratch)
    try renumber(scratch) { newest, older in newest = older - 2 }
    #expect(try await opening(scratch) == (bytes("removed"), [.rolledBack]))
    #expect(try await opening(scratch).reports == [])
  }

  @Test func `a raised transaction number, which restores an older state, is reported`() async throws {
    let scratch = TemporaryDirectory()
    try await fillAndRemove(scratch)
    try renumber(scratch) { _, older in older += 2 }
    #expect(try await opening(scratch) == (bytes("removed"), [.rolledBack]))
    #expect(try await opening(scratch).reports == [])
  }

  @Test func `a higher transaction number of the newest state is not reported as older`() async throws {
    let scratch = TemporaryDirectory()
    try await fillAndRemove(scratch)
    try renumber(scratch) { newest, _ in newest += 2 }
    #expect(try await opening(scratch) == (nil, []))
  }

  @Test func `an older copy of the data file with a newer mark is used and reported`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    let copy = try Data(contentsOf: scratch.dataFile)
    let tier = try openTier(scratch)
    try tier.cache().remove("k1")
    try await tier.close()
    try copy.write(to: scratch.dataFile)
    #expect(try await opening(scratch) == (value(1, size: 700), [.rolledBack]))
    #expect(try await opening(scratch) == (value(1, size: 700), []))
  }

  @Test func `a copy of the data file and its mark opens in any directory with all values and no report`() async throws
  {
    let scratch = TemporaryDirectory()
    let backup = TemporaryDirectory()
    try await fill(scratch, count: 20)
    try copyStore(scratch, to: backup)
    #expect(try await opening(backup) == (value(1, size: 700), []))
    let tier = try openTier(scratch)
    try tier.cache().remove("k1")
    try await tier.close()
    try copyStore(backup, to: scratch)
    #expect(try await opening(scratch) == (value(1, size: 700), []))
  }

  @Test func `a data file without its mark opens in an empty directory`() async throws {
    let scratch = TemporaryDirectory()
    let other = TemporaryDirectory()
    try await fill(scratch, count: 20)
    try copyStore(scratch, to: other)
    try FileManager.default.removeItem(at: other.url("store/cistern.mark"))
    #expect(try await opening(other) == (value(1, size: 700), []))
    #expect(try mark(other).file.identity == mark(scratch).file.identity)
  }

  @Test(arguments: [true, false])
  func `a store from a version without identities opens with all its values and receives an identity`(
    hasMark: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    let settings = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: ""))
    let file = try DiskFile.open(
      directory: scratch.store, options: settings.environmentOptions(), layout: .only(.tested))
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      let isRemoved = try transaction.remove(MetaTable.identity, in: file.meta)
      #expect(isRemoved)
    }
    try file.close()
    // The state that the older version leaves: the fingerprint matches, and the mark is shorter.
    let old = BootMark(
      state: .sound, boot: currentBoot(), limit: 16 << 20,
      file: MarkedFile(fingerprint: DataFileFingerprint(of: scratch.dataFile.path)))
    try Data(old.bytes.prefix(256)).write(to: scratch.url("store/cistern.mark"))
    if !hasMark { try FileManager.default.removeItem(at: scratch.url("store/cistern.mark")) }
    for round in 0..<2 {
      let delivered = DeliveredReports()
      let tier = try openTier(scratch, delivered: delivered)
      #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) == 0 || (round == 0 && !hasMark))
      let cache = try tier.cache()
      for number in 0..<100 { #expect(cache.get("k\(number)") == value(number, size: 700)) }
      let identity = try #require(tier.engine.file?.identity)
      #expect(try mark(scratch).file.identity == identity)
      try await tier.close()
      #expect(delivered.reportCodes == [])
    }
  }

  @Test(arguments: [(1, []), (2, [.rolledBack])] as [(UInt64, [StoreReport.Code])])
  func `a power cut can undo one commit without a report, but not two`(
    undone: UInt64, reports: [StoreReport.Code]
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    var noted = try mark(scratch)
    let history = try #require(noted.file.history)
    noted.boot = "another"
    noted.file.fingerprint = nil
    noted.file.history = DataFileHistory(transaction: history.transaction + undone, previousState: 0)
    try Data(noted.bytes).write(to: scratch.url("store/cistern.mark"))
    #expect(try await opening(scratch) == (value(1, size: 700), reports))
  }

  @Test func `an encoded identity decodes to the same identity, and any other text is rejected`() {
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
