import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Backups of a store in this process.
@Suite struct DiskBackupTests {
  private func identity(in directory: String) throws -> StoreIdentity? {
    try DirectoryClaim(directory: directory, isReadOnly: true).readMark()?.file.identity
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a backup has all caches with the staged writes, and opens like a closed store`(
    durability: Durability
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, durability: durability, interval: .unreachable)
    let (one, two) = (try tier.cache("one"), try tier.cache("two"))
    for number in 0..<200 { one.put("k\(number)", value(number, size: 700), tags: ["t\(number % 3)"]) }
    let long = [UInt8](repeating: 7, count: 300)
    two.put(long, value(1, size: 20_000))
    try await tier.backUp(to: scratch.copy)
    #expect(scratch.names(in: "copy") == ["cistern.mark", "data.mdb"])
    let copy = try openCopy(scratch)
    let (first, second) = (try copy.cache("one"), try copy.cache("two"))
    #expect(try copy.partitionNames() == ["one", "two"])
    for number in 0..<200 {
      #expect(first.get("k\(number)") == value(number, size: 700))
      let metadata = first.withRecord(forKey: bytes("k\(number)").rawSpan) { metadata, _ in metadata }
      #expect(metadata?.tags == ["t\(number % 3)"] && metadata?.created == WallTime(nanosecondsSince1970: 1))
    }
    #expect(second.get(long) == value(1, size: 20_000))
    // The two are independent.
    first.put("k0", bytes("copy"))
    one.put("k1", bytes("original"))
    try await copy.flush()
    try await tier.flush()
    #expect(one.get("k0") == value(0, size: 700) && first.get("k1") == value(1, size: 700))
    #expect(copy.checkInvariants() == [] && tier.checkInvariants() == [])
    try await copy.close()
    try await tier.close()
    try await openCopy(scratch).close()
  }

  @Test func `a backup has an identity of its own, so its data file does not replace the original`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    let tier = try openTier(scratch)
    try await tier.backUp(to: scratch.copy)
    try await tier.close()
    let (original, copy) = (try identity(in: scratch.store), try identity(in: scratch.copy))
    #expect(original != nil && copy != nil && original != copy)
    try FileManager.default.removeItem(at: scratch.dataFile)
    try FileManager.default.copyItem(at: scratch.url("copy/data.mdb"), to: scratch.dataFile)
    let delivered = DeliveredReports()
    try await openTier(scratch, delivered: delivered).close()
    #expect(delivered.reportCodes == [.setAside])
    try await openCopy(scratch).close()
  }

  @Test func `a backup keeps invalidations and removals`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache()
    for number in 0..<3000 { cache.put("k\(number)", value(number, size: 500), tags: ["t\(number % 3)"]) }
    try await tier.flush()
    // The purge of these records needs several transactions after the commit of the invalidation.
    let version = cache.stageInvalidation(.tag("t1")).version
    cache.remove("k0")
    try await tier.backUp(to: scratch.copy)
    let copy = try openCopy(scratch)
    let copied = try copy.cache()
    #expect(copied.invalidationVersion >= version)
    for number in 0..<3000 {
      #expect((copied.get("k\(number)") == nil) == (number == 0 || number % 3 == 1), "\(number)")
    }
    try await copy.purge()
    #expect(copied.keys().count == 1999)
    #expect(copy.checkInvariants() == [])
    try await copy.close()
    try await tier.close()
  }

  @Test(arguments: [ByteCount.mebibytes(1), .mebibytes(64)])
  func `a backup opens with another limit, and a smaller one keeps the newest records`(limit: ByteCount) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 4000)
    let tier = try openTier(scratch)
    try await tier.backUp(to: scratch.copy)
    try await tier.close()
    #expect(try DiskTier.recordedLimit(in: scratch.copy) == .mebibytes(16))
    let copy = try openCopy(scratch, limit: limit)
    let cache = try copy.cache()
    let kept = (0..<4000).filter { cache.get("k\($0)") == value($0, size: 700) }
    if limit == .mebibytes(64) { #expect(kept.count == 4000) }
    #expect(kept.count > 500 && kept == Array((4000 - kept.count)..<4000))
    #expect(copy.checkInvariants() == [])
    try await copy.close()
  }

  @Test func `a read-only store can be copied and verified, and the copy has the limit of the store`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300)
    let before = try Data(contentsOf: scratch.dataFile)
    let tier = try openTier(scratch, limit: .mebibytes(32), isReadOnly: true)
    let verification = try await tier.verification()
    #expect(verification.isSound && verification.recordCount == 300)
    try await tier.backUp(to: scratch.copy)
    try await tier.close()
    #expect(try Data(contentsOf: scratch.dataFile) == before)
    #expect(try DiskTier.recordedLimit(in: scratch.copy) == .mebibytes(16))
    let copy = try openCopy(scratch)
    #expect(try copy.cache().keys().count == 300)
    try await copy.close()
  }

  @Test func `a backup of a full dense store reuses its free extents at once`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(4), layout: .dense, interval: .unreachable)
    let cache = try tier.cache()
    for number in 0..<9000 {
      cache.put("k\(number)", value(number, size: 1000))
      if number % 25 == 24 { try await tier.flush() }
    }
    let commits = try #require(tier.engine.file).environment.lastTransaction()
    #expect(commits.number > 300)
    try await tier.backUp(to: scratch.copy)
    try await tier.close()
    let copy = try openCopy(scratch, limit: .mebibytes(4), layout: .dense)
    let file = try #require(copy.engine.file)
    let (former, committed) = try extentState(of: file)
    #expect(committed < commits)
    let emptiedBy = former.log.all.compactMap { _, extent -> TransactionNumber? in
      if case .free(let emptiedBy) = extent.state { emptiedBy } else { nil }
    }
    #expect(emptiedBy.count > 1 && emptiedBy.allSatisfy { $0 <= committed })
    let restored = try copy.cache()
    let kept = restored.keys().count
    let count = 2 * former.log.layout.capacity / 1100
    for number in 0..<count { restored.put("new\(number)", value(number, size: 1000)) }
    try await copy.flush()
    // The records lie in extents that were free. No extent has left the file, and at most two were emptied for them.
    let present = restored.keys()
    #expect((0..<count).allSatisfy { present.contains("new\($0)") })
    #expect(kept + count - present.count <= 2 * former.log.layout.capacity / 1000)
    let (now, _) = try extentState(of: file)
    #expect(now.log.count >= former.log.count)
    #expect(copy.checkInvariants() == [])
    try await copy.close()
  }

  private func extentState(of file: DiskFile) throws -> (ExtentState, TransactionNumber) {
    guard case .dense(let tables) = file.layout else { preconditionFailure("the file has no extents") }
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      (try ExtentState(reading: transaction, tables), transaction.transactionNumber)
    }
  }

  @Test func `a backup is written to a new or an empty directory only`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    try tier.cache().put("a", bytes("a"))
    let files = FileManager.default
    try files.createDirectory(atPath: scratch.path + "/full", withIntermediateDirectories: false)
    try Data([1]).write(to: scratch.url("full/mine"))
    try Data([1]).write(to: scratch.url("file"))
    for target in [
      "", "\(scratch.path)/full", "\(scratch.path)/file", "\(scratch.path)/file/inside", scratch.store,
      "\(scratch.store)/inside", "\(scratch.path)/zero\0",
    ] {
      let error = await #expect(throws: CisternError.self) { try await tier.backUp(to: target) }
      #expect(error?.code == .directoryUnusable, "\(target)")
    }
    #expect(scratch.names(in: ".") == ["file", "full", "store"])
    #expect(scratch.names(in: "full") == ["mine"])
    try files.createDirectory(atPath: scratch.path + "/empty", withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: scratch.path + "/link", withDestinationPath: "empty")
    for target in ["link", "new/parent/copy///"] {
      try await tier.backUp(to: "\(scratch.path)/\(target)")
      let copy = try openCopy(scratch, target)
      #expect(try copy.cache().get("a") == bytes("a"))
      try await copy.close()
    }
    #expect(scratch.names(in: "empty").contains("data.mdb"))
    #expect(scratch.names(in: "new/parent") == ["copy"])
    try await tier.close()
  }

  @Test func `a backup replaces an incomplete one, and no file of another program`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    try tier.cache().put("a", bytes("a"))
    let files = FileManager.default
    let work = scratch.copy + ".incomplete"
    try files.createDirectory(atPath: work, withIntermediateDirectories: false)
    for name in ["data.mdb", "lock.mdb", "cistern.mark"] {
      try Data(repeating: 7, count: 5000).write(to: scratch.url("copy.incomplete/" + name))
    }
    try Data([1]).write(to: scratch.url("copy.incomplete/mine"))
    let error = await #expect(throws: CisternError.self) { try await tier.backUp(to: scratch.copy) }
    #expect(error?.code == .directoryUnusable && error?.location == work)
    #expect(scratch.names(in: "copy.incomplete").contains("mine"))
    try files.removeItem(at: scratch.url("copy.incomplete/mine"))
    try await tier.backUp(to: scratch.copy)
    #expect(scratch.names(in: ".") == ["copy", "store"])
    let copy = try openCopy(scratch)
    #expect(try copy.cache().get("a") == bytes("a"))
    try await copy.close()
    try await tier.close()
  }

  @Test func `two backups do not write to one place at the same time`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let work = scratch.copy + ".incomplete"
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
    let other = unsafe open(work, O_RDONLY | O_CLOEXEC)
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    let error = await #expect(throws: CisternError.self) { try await tier.backUp(to: scratch.copy) }
    #expect(error?.code == .storeInUse)
    close(other)
    try await tier.backUp(to: scratch.copy)
    try await tier.close()
  }

  // The keys of records in extents are not in the tree.
  @Test(.enabled(if: DiskLayout.tested == .ordered))
  func `a data file with a damaged tree is not copied`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 300)
    let tier = try openTier(scratch)
    // The changed keys are in the wrong place of the key order. A copy of the pages would be silent about this.
    try scratch.replaceInDataFile(bytes("k150"), with: bytes("zzzz"))
    let error = await #expect(throws: CisternError.self) { try await tier.backUp(to: scratch.copy) }
    #expect(error?.code == .diskFailed && error?.message.contains("damaged") == true)
    #expect(scratch.names(in: ".") == ["store"])
    try await tier.close()
  }
}
