import CisternTesting
import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Unusable files on disk never prevent a store from opening.
@Suite struct DiskRecoveryTests {
  /// Opens the store, checks that it works, and returns how many of the hundred records are present.
  func reopen(_ scratch: TemporaryDirectory, delivered: DeliveredReports) async throws -> Int {
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    var found = 0
    for number in 0..<100 {
      guard let bytes = cache.get("k\(number)") else { continue }
      #expect(bytes == value(number, size: 700))
      found += 1
    }
    cache.put("new", bytes("new"))
    try await tier.flush()
    #expect(cache.get("new") == bytes("new"))
    try await tier.close()
    return found
  }

  func patch(_ scratch: TemporaryDirectory, _ change: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: scratch.dataFile)
    change(&data)
    try data.write(to: scratch.dataFile)
  }

  @Test(arguments: ["garbage", "zeros", "cut in half", "cut to a page", "other magic", "other version", "second meta"])
  func `a foreign or incomplete file is set aside and replaced with an empty one`(damage: String) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    try patch(scratch) { data in
      switch damage {
      case "garbage": data = Data(value(1, size: 50_000))
      case "zeros": data = Data(count: data.count)
      case "cut in half": data = data.prefix(data.count / 2)
      case "cut to a page": data = data.prefix(4096)
      case "other magic": data[16] ^= 0xFF
      case "other version": data[20] ^= 0x02
      default: data.replaceSubrange(4096..<8192, with: Data(count: 4096))
      }
    }
    let delivered = DeliveredReports()
    #expect(try await reopen(scratch, delivered: delivered) == 0)
    #expect(delivered.reportCodes == [.setAside])
    #expect(scratch.names().contains("data.mdb.set-aside-1"))
    #expect(try await reopen(scratch, delivered: DeliveredReports()) == 0)
  }

  @Test func `only the newest of the files that were set aside is kept`() async throws {
    let scratch = TemporaryDirectory()
    for _ in 0..<3 {
      try await fill(scratch, count: 100)
      try patch(scratch) { $0 = Data("no".utf8) }
      _ = try await reopen(scratch, delivered: DeliveredReports())
    }
    #expect(scratch.names().filter { $0.contains("set-aside") } == ["data.mdb.set-aside-3"])
  }

  @Test func `LMDB files of other programs or other format versions are set aside`() async throws {
    let scratch = TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
    let foreign = try Environment.open(directory: scratch.store, options: EnvironmentOptions(mapSize: 1 << 20))
    let table = try foreign.openDatabase(named: "theirs")
    try foreign.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(bytes("a"), forKey: bytes("b"), in: table)
    }
    try foreign.close()
    let delivered = DeliveredReports()
    #expect(try await reopen(scratch, delivered: delivered) == 0)
    #expect(delivered.reportCodes == [.setAside])

    let options = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: "")
    ).environmentOptions()
    for version in [DiskLayout.dense.formatVersion + 1, DiskLayout.ordered.formatVersion - 1] {
      let file = try DiskFile.open(directory: scratch.store, options: options, layout: .only(.tested))
      try file.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(MetaTable.value(version), forKey: MetaTable.format, in: file.meta)
      }
      try file.close()
      let toldAgain = DeliveredReports()
      #expect(try await reopen(scratch, delivered: toldAgain) == 0)
      #expect(toldAgain.reportCodes == [.setAside])
    }
  }

  @Test func `a damaged record is a miss, is reported, counted and removed, and other records stay`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    try patch(scratch) { data in
      for number in [3, 50] {
        // Old copies of rewritten pages are still in the file. Every copy is changed, including the current one.
        let sound = Data(value(number, size: 700))
        var start = data.startIndex
        while let range = data.range(of: sound, in: start..<data.endIndex) {
          data[range.lowerBound + 300] ^= 1
          start = range.upperBound
        }
      }
    }
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<100 { #expect((cache.get("k\(number)") == nil) == [3, 50].contains(number)) }
    #expect(cache.statistics.damaged == 2)
    // Maintenance runs before the next commit.
    while delivered.lost(.damaged).count < 2 {
      cache.put("x", [1])
      try await tier.flush()
    }
    #expect(Set(delivered.lostKeys) == [bytes("k3"), bytes("k50")])
    #expect(delivered.reportCodes == [.damagedRecord, .damagedRecord])
    cache.put("k3", bytes("anew"))
    try await tier.flush()
    #expect(cache.get("k3") == bytes("anew"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `changed bytes in records never result in a wrong value`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    let original = try Data(contentsOf: scratch.dataFile)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<40 {
      // Only values, keys and record headers are changed. LMDB's page headers are outside this test.
      var damaged = original
      for _ in 0..<3 {
        let number = Int.random(in: 0..<100, using: &generator)
        let range = original.range(of: Data(value(number, size: 700)))!
        damaged[range.lowerBound + Int.random(in: -32..<700, using: &generator)] ^= UInt8.random(
          in: 1...255, using: &generator)
      }
      try damaged.write(to: scratch.dataFile)
      #expect(try await reopen(scratch, delivered: DeliveredReports()) >= 97)
    }
  }

  @Test(.enabled(if: DiskLayout.tested == .ordered))
  func `a page whose nodes LMDB returns without values does not crash the process`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    let original = try Data(contentsOf: scratch.dataFile)
    // One leaf page at a time is changed to the kind whose nodes have only keys.
    let leaves = stride(from: 8192, to: original.count, by: 4096).filter { page in
      original[page + 10] == 2
        && (0..<100).contains { original[page..<page + 4096].range(of: Data(value($0, size: 700))) != nil }
    }
    #expect(leaves.count > 4)
    for leaf in leaves.prefix(8) {
      try original.write(to: scratch.dataFile)
      try patch(scratch) { $0[leaf + 10] |= 0x20 }
      let tier = try openTier(scratch)
      let cache = try tier.cache()
      _ = cache.keys()
      for number in 0..<100 {
        let bytes = cache.get("k\(number)")
        #expect(bytes == nil || bytes == value(number, size: 700))
      }
      try await tier.close()
    }
  }

  @Test(arguments: [("unsynchronized", true), ("sound", false), ("nonsense", true)])
  func `after a system restart an unsynchronized file is set aside before it is opened`(
    state: String, isSetAside: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 100)
    let mark = BootMark(state: .init(rawValue: state) ?? .unreadable, boot: "another", limit: 16 << 20)
    try Data(mark.bytes).write(to: scratch.url("store/cistern.mark"))
    let delivered = DeliveredReports()
    #expect(try await reopen(scratch, delivered: delivered) == (isSetAside ? 0 : 100))
    #expect(delivered.reportCodes == (isSetAside ? [.setAside] : []))
  }

  @Test func `the mark records whether the data file would survive a power cut`() async throws {
    func mark(_ scratch: TemporaryDirectory) throws -> BootMark {
      BootMark([UInt8](try Data(contentsOf: scratch.url("store/cistern.mark")))[...])
    }
    let scratch = TemporaryDirectory()
    let fast = try openTier(scratch, durability: .processCrash)
    let found = try mark(scratch)
    #expect(found.state == .unsynchronized && found.boot == currentBoot() && found.limit == 16 << 20)
    #expect(!currentBoot().isEmpty)
    try await fast.close()
    #expect(try mark(scratch).state == .sound)
    let safe = try openTier(scratch, durability: .powerCut)
    #expect(try mark(scratch).state == .sound)
    try await safe.close()
  }

  /// Returns a tier with a record from before the fault, and one from the commit that the fault interrupted.
  private func tierAfterFault(
    _ fault: DiskFaults.Fault, in scratch: TemporaryDirectory
  ) async throws -> (DiskTier, any TransactionalPartition, DeliveredReports) {
    let delivered = DeliveredReports()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, delivered: delivered, faults: DiskFaults { next.take() })
    let cache = try tier.cache(delivered: delivered)
    cache.put("old", bytes("old"))
    try await tier.flush()
    next.set(fault)
    cache.put("new", bytes("new"))
    try await tier.flush()
    return (tier, cache, delivered)
  }

  @Test func `after a fatal LMDB error the file is opened again and keeps all its records`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, delivered) = try await tierAfterFault(.panic, in: scratch)
    #expect(cache.get("new") == bytes("new"))
    #expect(cache.get("old") == bytes("old"))
    #expect(delivered.reportCodes == [])
    #expect(delivered.lost(.notWritten).isEmpty)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache().get("old") == bytes("old"))
    try await again.close()
  }

  @Test func `a file found corrupted while open is replaced, and staged records are kept`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, delivered) = try await tierAfterFault(.corrupted, in: scratch)
    #expect(cache.get("new") == bytes("new"))
    #expect(cache.get("old") == nil)
    #expect(delivered.reportCodes == [.setAside])
    #expect(delivered.lost(.notWritten).isEmpty)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache().get("new") == bytes("new"))
    try await again.close()
  }

  @Test func `a path that is a file, is below a file, or is not writable throws directoryUnusable`() throws {
    let scratch = TemporaryDirectory()
    func code(_ path: String) -> CisternError.Code? {
      do {
        _ = try DiskTier(directory: path, limit: .mebibytes(1))
        return nil
      } catch {
        return error.code
      }
    }
    try Data().write(to: scratch.url("file"))
    #expect(code(scratch.path + "/file") == .directoryUnusable)
    #expect(code(scratch.path + "/file/below") == .directoryUnusable)
    #expect(code("") == .directoryUnusable)
    if geteuid() != 0 {
      try FileManager.default.createDirectory(atPath: scratch.path + "/locked", withIntermediateDirectories: false)
      unsafe chmod(scratch.path + "/locked", 0o500)
      #expect(code(scratch.path + "/locked") == .directoryUnusable)
    }
  }

  @Test
  func `missing parent directories are created, and only the store's directory has private permissions`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try DiskTier(directory: scratch.path + "/a/b//c/", limit: .mebibytes(1))
    try await tier.close()
    func mode(_ name: String) throws -> Int {
      try FileManager.default.attributesOfItem(atPath: scratch.path + name)[.posixPermissions] as? Int ?? 0
    }
    let plain = scratch.path + "/plain"
    try FileManager.default.createDirectory(atPath: plain, withIntermediateDirectories: true)
    #expect(try mode("/a") == mode("/plain"))
    #expect(try mode("/a/b") == mode("/plain"))
    #expect(try mode("/a/b/c") == 0o700)
    let error = #expect(throws: CisternError.self) {
      _ = try DiskTier(
        directory: scratch.path + "/absent/store", options: DiskOptions(limit: .mebibytes(1), isReadOnly: true))
    }
    #expect(error?.code == .directoryUnusable)
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/absent"))
  }

  @Test(arguments: [Int.min, -1, 0, 1, 64 << 10, (256 << 10) - 1])
  func `a limit that is too small is refused with an error that names the minimum`(bytes: Int) throws {
    let scratch = TemporaryDirectory()
    let error = #expect(throws: CisternError.self) {
      _ = try DiskTier(directory: scratch.store, limit: .bytes(bytes))
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("256 KiB") == true)
    #expect(scratch.names() == [])
  }
}
