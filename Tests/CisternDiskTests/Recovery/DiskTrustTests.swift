import CisternTestSupport
import Foundation
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Tests of when the pages of a data file are checked before LMDB opens it.
@Suite struct DiskTrustTests {
  /// Opens and closes the store. Returns the number of checked pages, and the report codes.
  func opening(
    _ scratch: TemporaryDirectory, isReadOnly: Bool = false
  ) async throws -> (pages: Int, reports: [StoreReport.Code]) {
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, isReadOnly: isReadOnly)
    let pages = tier.engine.counters.pagesChecked.load(ordering: .relaxed)
    try await tier.close()
    return (pages, delivered.reportCodes)
  }

  /// Changes the file in place, as another program would.
  func change(_ scratch: TemporaryDirectory, at offset: UInt64, _ bytes: [UInt8]) throws {
    let file = try FileHandle(forUpdating: scratch.dataFile)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// Returns an open store whose file another program touched between two commits.
  func changedWhileOpen(_ scratch: TemporaryDirectory) async throws -> DiskTier {
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("a", bytes("a"))
    try await tier.flush()
    let contents = try Data(contentsOf: scratch.dataFile)
    try change(scratch, at: 0, [contents[0]])
    cache.put("b", bytes("b"))
    try await tier.flush()
    return tier
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a cleanly closed store opens repeatedly without checking a page`(durability: Durability)
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300, durability: durability)
    for _ in 0..<3 { #expect(try await opening(scratch) == (0, [])) }
    #expect(try await opening(scratch, isReadOnly: true) == (0, []))
    _ = try DiskTier.compact(directory: scratch.store)
    #expect(try await opening(scratch) == (0, []))
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a compaction that fails leaves the files unchanged`(durability: Durability) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300, durability: durability)
    // A file has the name of the folder for the copy.
    #expect(FileManager.default.createFile(atPath: "\(scratch.store)/\(DiskDirectory.copy)", contents: nil))
    let before = try [DiskDirectory.data, DiskDirectory.mark].map { try Data(contentsOf: scratch.url("store/\($0)")) }
    let error = #expect(throws: CisternError.self) { try DiskTier.compact(directory: scratch.store) }
    #expect(error?.code == .diskFailed)
    #expect(
      try [DiskDirectory.data, DiskDirectory.mark].map { try Data(contentsOf: scratch.url("store/\($0)")) } == before)
    #expect(try await opening(scratch) == (0, []))
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a store whose process was killed between two commits opens without checking a page`(
    durability: Durability
  ) async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess(
      "hold", scratch.store, "\(16 << 20)", durability == .powerCut ? "powerCut" : "processCrash")
    _ = child.readLine()
    _ = child.kill()
    #expect(try await opening(scratch) == (0, []))
  }

  @Test func `a file that was changed, copied or touched is checked once and used if it is sound`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300)
    // Writes an unchanged byte, so that only the file's times change.
    let contents = try Data(contentsOf: scratch.dataFile)
    try change(scratch, at: 9000, [UInt8](contents[9000..<9001]))
    #expect(try await opening(scratch).pages > (DiskLayout.tested == .ordered ? 50 : 5))
    #expect(try await opening(scratch) == (0, []))
    let copy = scratch.url("store/copy")
    try FileManager.default.copyItem(at: scratch.dataFile, to: copy)
    try FileManager.default.removeItem(at: scratch.dataFile)
    try FileManager.default.moveItem(at: copy, to: scratch.dataFile)
    #expect(try await opening(scratch).pages > (DiskLayout.tested == .ordered ? 50 : 5))
    #expect(try await opening(scratch) == (0, []))
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<300 { #expect(cache.get("k\(number)") == value(number, size: 700)) }
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `a damaged file is detected before LMDB opens it`(isReadOnly: Bool) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300)
    let contents = [UInt8](try Data(contentsOf: scratch.dataFile))
    // Damages every tree page, including old copies, so that the node count of each page in use exceeds the page.
    for page in stride(from: 8192, to: contents.count, by: 4096) where contents[page + 10] & 3 != 0 {
      try change(scratch, at: UInt64(page + 12), [0xFE, 0xFF])
    }
    #expect(try DiskTier.damage(in: scratch.store) != nil)
    let (pages, reports) = try await opening(scratch, isReadOnly: isReadOnly)
    #expect(pages == 0)
    #expect(reports == [.setAside])
    #expect(scratch.names().contains("data.mdb.set-aside-1") == !isReadOnly)
    #expect(scratch.names().contains("data.mdb") == true)
  }

  @Test(arguments: [false, true])
  func `a reader without a file does not keep the next process from its check`(isMissing: Bool) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 1)
    if isMissing {
      try FileManager.default.removeItem(at: scratch.dataFile)
    } else {
      try Data(repeating: 1, count: 8192).write(to: scratch.dataFile)
    }
    let delivered = DeliveredReports()
    let reader = try openTier(scratch, delivered: delivered, isReadOnly: true)
    #expect(delivered.reportCodes.contains(.setAside) != isMissing)
    let claim = try DirectoryClaim(directory: scratch.store, isReadOnly: true)
    #expect(try claim.withGate({ $0 }) { () throws(SystemError) in claim.isAlone() })
    claim.leave()
    try await reader.close()
  }

  @Test func `a file that cannot be opened for a check is an error, not a sound or a damaged one`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 1)
    try FileManager.default.removeItem(at: scratch.dataFile)
    // A link to itself is neither missing nor readable, also for the superuser.
    try FileManager.default.createSymbolicLink(at: scratch.dataFile, withDestinationURL: scratch.dataFile)
    let error = #expect(throws: CisternError.self) { try DiskTier.damage(in: scratch.store) }
    #expect((error?.cause as? SystemError)?.status == ELOOP)
  }

  @Test func `the mark has no fingerprint of a file that was changed while open, even after later commits`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try await changedWhileOpen(scratch)
    #expect(try DirectoryClaim(directory: scratch.store, isReadOnly: true).readMark()?.file.fingerprint == nil)
    try await tier.close()
    #expect(try await opening(scratch).pages > 0)
    #expect(try await opening(scratch) == (0, []))
  }

  @Test func `a process that joins a store without a fingerprint does not write one`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try await changedWhileOpen(scratch)
    let child = try ChildProcess("hold", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    #expect(try DirectoryClaim(directory: scratch.store, isReadOnly: true).readMark()?.file.fingerprint == nil)
    _ = child.kill()
    try await tier.close()
  }

  @Test func `a damaged file that replaces an open one is detected before LMDB opens it`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache()
    for number in 0..<300 { cache.put("k\(number)", value(number, size: 700)) }
    try await tier.flush()
    var contents = [UInt8](try Data(contentsOf: scratch.dataFile))
    for page in stride(from: 8192, to: contents.count, by: 4096) where contents[page + 10] & 3 != 0 {
      contents.replaceSubrange(page + 12..<page + 14, with: [0xFE, 0xFF])
    }
    // The file is replaced atomically, as programs do when they save a file.
    try Data(contents).write(to: scratch.dataFile, options: .atomic)
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(delivered.reportCodes == [.setAside])
    #expect(cache.get("after") == bytes("after"))
    #expect(cache.get("k1") == nil)
    try await tier.close()
    #expect(try await opening(scratch) == (0, []))
  }

  @Test func `a store that two processes wrote to alternately opens without checking a page`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("key-1", bytes("mine"))
    try await tier.flush()
    let child = try ChildProcess("hold", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    _ = child.kill()
    cache.put("key-2", bytes("mine"))
    try await tier.flush()
    try await tier.close()
    #expect(try await opening(scratch) == (0, []))
  }

  @Test(arguments: ["pcache", "g", "ecache"])
  func `a changed meta table row is treated as damage, not as a reference to another cache's records`(
    name: String
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<20 { cache.put("k\(number)", bytes("value")) }
    _ = cache.stageInvalidation(.tag("none"))
    try await tier.close()
    let settings = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: ""))
    let file = try DiskFile.open(
      directory: scratch.store, options: settings.environmentOptions(), layout: .only(.tested))
    let key = name == "g" ? MetaTable.live(1) : bytes(name)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      var row = try transaction.value(forKey: key.rawSpan, in: file.meta)?.copiedBytes() ?? []
      #expect(row.count >= 16)
      row[0] ^= 3
      try transaction.put(row.rawSpan, forKey: key.rawSpan, in: file.meta)
    }
    try file.close()
    #expect(try await opening(scratch).reports == [.setAside])
  }

  @Test func `a meta table row found damaged while the store is open sets the file aside once`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache()
    cache.put("old", bytes("old"))
    try await tier.flush()
    let file = try #require(tier.engine.file)
    let key = MetaTable.live(1)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put([UInt8](repeating: 1, count: 24).rawSpan, forKey: key.rawSpan, in: file.meta)
    }
    // Several reads of the same file find the damage.
    for _ in 0..<3 { _ = cache.get("old") }
    for round in 0..<3 {
      cache.put("new-\(round)", bytes("new"))
      try await tier.flush()
    }
    while delivered.reportCodes.isEmpty { try await tier.flush() }
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(delivered.reportCodes == [.setAside])
    #expect(cache.get("old") == nil)
    #expect(cache.get("after") == bytes("after"))
    try await tier.close()
    #expect(try await opening(scratch) == (0, []))
  }

  @Test func `a store without synchronized commits says so in the mark of a directory that replaces its own`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let other = TemporaryDirectory()
    try await fill(other, count: 10, durability: .powerCut)
    let tier = try openTier(scratch)
    try FileManager.default.removeItem(atPath: scratch.store)
    try FileManager.default.copyItem(atPath: other.store, toPath: scratch.store)
    let cache = try tier.cache()
    cache.put("after", bytes("after"))
    try await tier.flush()
    let mark = try #require(try tier.engine.claim.readMark())
    #expect(mark.state == .unsynchronized && mark.boot == currentBoot())
    #expect(mark.file.identity == tier.engine.file?.identity)
    #expect(cache.get("after") == bytes("after"))
    try await tier.close()
    #expect(try await opening(scratch) == (0, []))
  }
}
