import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Open stores whose files another program removes or replaces.
@Suite struct DiskReplacedFilesTests {
  /// A change by another program.
  enum Change: String, CaseIterable, Sendable {
    case directoryRemoved, directoryEmptied, directoryRenamed, dataRemoved, dataEmptied, dataOfAnotherStore, olderData
    case markRemoved, lockRemoved

    /// Whether the values that were committed earlier are still readable.
    var keepsValues: Bool { [.olderData, .markRemoved, .lockRemoved].contains(self) }

    var report: StoreReport.Code {
      switch self {
      case .dataOfAnotherStore, .dataEmptied: .setAside
      case .olderData: .rolledBack
      default: .filesReplaced
      }
    }

    func perform(in scratch: TemporaryDirectory, older: Data) async throws {
      let files = FileManager.default
      switch self {
      case .directoryRemoved: try files.removeItem(atPath: scratch.store)
      case .directoryEmptied:
        for name in scratch.names() { try files.removeItem(at: scratch.url("store/\(name)")) }
      case .directoryRenamed: try files.moveItem(atPath: scratch.store, toPath: scratch.path + "/renamed")
      case .dataRemoved: try files.removeItem(at: scratch.dataFile)
      // The file is emptied in place, so the store still has the same file open.
      case .dataEmptied: try Data().write(to: scratch.dataFile)
      case .dataOfAnotherStore:
        let other = TemporaryDirectory()
        try await fill(other, count: 20)
        try Data(contentsOf: other.dataFile).write(to: scratch.dataFile, options: .atomic)
      case .olderData: try older.write(to: scratch.dataFile, options: .atomic)
      case .markRemoved: try files.removeItem(at: scratch.url("store/cistern.mark"))
      case .lockRemoved: try files.removeItem(at: scratch.url("store/lock.mdb"))
      }
    }
  }

  private func tierWithRecord(
    in scratch: TemporaryDirectory
  ) async throws -> (DiskTier, any TransactionalPartition, DeliveredReports) {
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache()
    cache.put("before", bytes("before"))
    try await tier.flush()
    return (tier, cache, delivered)
  }

  @Test(arguments: Change.allCases)
  func `files removed or replaced under an open store are reported, and later writes reach the disk`(
    change: Change
  ) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, delivered) = try await tierWithRecord(in: scratch)
    let older = try Data(contentsOf: scratch.dataFile)
    cache.put("more", bytes("more"))
    try await tier.flush()
    try await change.perform(in: scratch, older: older)
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(delivered.reportCodes == [change.report])
    #expect(cache.get("after") == bytes("after"))
    #expect((cache.get("before") != nil) == change.keepsValues)
    #expect(tier.checkInvariants() == [])
    // Other processes see that the store is open.
    let claim = try DirectoryClaim(directory: scratch.store, isReadOnly: true)
    #expect(!claim.isAlone())
    try await tier.close()
    #expect(delivered.reportCodes == [change.report])
    let toldAgain = DeliveredReports()
    let again = try openTier(scratch, delivered: toldAgain)
    #expect(try again.cache().get("after") == bytes("after"))
    try await again.close()
    #expect(toldAgain.reportCodes == [])
  }

  @Test(arguments: [Change.dataRemoved, .lockRemoved, .markRemoved, .directoryRenamed])
  func `files removed long after the last check of the directory are also reported`(
    change: Change
  ) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, delivered) = try await tierWithRecord(in: scratch)
    let long = Date(timeIntervalSinceNow: -100)
    try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: scratch.store)
    // The first of these commits checks the file names, and the second relies on that check.
    for number in 0..<2 {
      cache.put("old-\(number)", bytes("old"))
      try await tier.flush()
    }
    #expect(delivered.reportCodes == [])
    try await change.perform(in: scratch, older: Data())
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(delivered.reportCodes == [.filesReplaced])
    #expect(cache.get("after") == bytes("after"))
    try await tier.close()
  }

  @Test(arguments: [BootMark.State.unreadable, .failed, .unsynchronized], [Durability.powerCut, .processCrash])
  func `a new file in place of a distrusted one is trusted when it is opened again`(
    state: BootMark.State, durability: Durability
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, durability: durability, delivered: delivered)
    let cache = try tier.cache()
    cache.put("before", bytes("before"))
    try await tier.flush()
    // In place, because the open store has a claim on the file. The mark is one of another boot session.
    let distrusted = BootMark(state: state, boot: "another", limit: 0)
    let handle = try FileHandle(forWritingTo: scratch.url("store/cistern.mark"))
    try handle.write(contentsOf: state == .unreadable ? bytes("damaged") : distrusted.bytes)
    try handle.close()
    var reports: [StoreReport.Code] = []
    for (key, expected) in [("after", [.filesReplaced, .setAside]), ("later", [.filesReplaced])]
      as [(String, [StoreReport.Code])]
    {
      try FileManager.default.removeItem(at: scratch.url("store/lock.mdb"))
      cache.put(key, bytes(key))
      try await tier.flush()
      reports += expected
      #expect(delivered.reportCodes == reports)
      let mark = try #require(try tier.engine.claim.readMark())
      #expect(mark.state == (durability == .powerCut ? .sound : .unsynchronized))
      // Other processes compare their limit with this one.
      #expect(mark.limit == 16 << 20)
    }
    #expect(cache.get("before") == nil && cache.get("after") == bytes("after"))
    try await tier.close()
  }

  @Test func `a flush without staged writes also reports removed files`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, delivered) = try await tierWithRecord(in: scratch)
    try FileManager.default.removeItem(atPath: scratch.store)
    try await tier.flush()
    #expect(await delivered.reportCodes(atLeast: 1) == [.filesReplaced])
    #expect(cache.get("before") == nil)
    try await tier.close()
    #expect(delivered.reportCodes == [.filesReplaced])
  }

  @Test(arguments: [false, true])
  func `closing a store reports a removed directory and does not create it again`(
    isReadOnly: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, isReadOnly: isReadOnly)
    #expect(try tier.cache().get("k1") == value(1, size: 700))
    try FileManager.default.removeItem(atPath: scratch.store)
    try await tier.close()
    #expect(delivered.reportCodes == [.filesReplaced])
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func `a store that recreated its directory is shared by later openings in the process`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    try FileManager.default.removeItem(atPath: scratch.store)
    cache.put("after", bytes("after"))
    try await tier.flush()
    let other = try openTier(scratch)
    #expect(other.engine === tier.engine)
    try await other.close()
    try await tier.close()
  }

  /// A tier whose disk fails until the switch is cleared, so that it cannot follow its path.
  private func failingTier(_ failing: Switch<DiskFaults.Fault>) async throws -> (TemporaryDirectory, DiskTier) {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    cache.put("before", bytes("before"))
    try await tier.flush()
    failing.set(.inputOutput)
    cache.put("lost", bytes("lost"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    return (scratch, tier)
  }

  @Test func `an opening shares a store that moves to its directory, also while the disk fails`() async throws {
    let failing = Switch<DiskFaults.Fault>()
    let (scratch, tier) = try await failingTier(failing)
    try FileManager.default.removeItem(atPath: scratch.store)
    let other = try openTier(scratch, interval: .unreachable)
    #expect(other.engine === tier.engine)
    failing.set(nil)
    _ = try? await tier.flush()
    try tier.cache().put("after", bytes("after"))
    try await tier.flush()
    #expect(try other.cache().get("after") == bytes("after"))
    let third = try openTier(scratch, interval: .unreachable)
    #expect(third.engine === tier.engine)
    for tier in [tier, other, third] { try await tier.close() }
  }

  @Test func `a renamed directory is refused until the store that has it open can leave it`() async throws {
    let failing = Switch<DiskFaults.Fault>()
    let (scratch, tier) = try await failingTier(failing)
    let renamed = scratch.path + "/renamed"
    try FileManager.default.moveItem(atPath: scratch.store, toPath: renamed)
    let options = tier.engine.options
    let error = #expect(throws: CisternError.self) { _ = try DiskTier(directory: renamed, options: options) }
    #expect(error?.code == .storeInUse)
    failing.set(nil)
    let other = try DiskTier(directory: renamed, options: options)
    #expect(other.engine !== tier.engine)
    #expect(try other.cache().get("before") == bytes("before") && tier.cache().get("before") == nil)
    try await other.close()
    try await tier.close()
  }

  @Test func `a key counts as absent only after the generation is read from the file`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, _) = try await tierWithRecord(in: scratch)
    let (engine, key) = (tier.engine, bytes("before"))
    let partition = engine.partition(named: "cache")
    _ = partition.forgetFile()
    #expect(engine.presence(of: key.rawSpan, in: partition) == nil)
    #expect(!engine.listRecords(of: partition) { _, _, _ in true })
    #expect(throws: CisternError.self) { _ = try engine.records(of: partition, in: RecordRange(after: nil, limit: 10)) }
    engine.learnGeneration(of: partition)
    #expect(engine.presence(of: key.rawSpan, in: partition) == true)
    #expect(cache.keys() == ["before"])
    try await tier.close()
  }

  @Test func `a partition that was read from a replaced file is read again`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache, _) = try await tierWithRecord(in: scratch)
    let other = try tier.cache("other")
    other.put("k", bytes("other"))
    try await tier.flush()
    let engine = tier.engine
    let former = engine.newPartition(named: "late")
    try FileManager.default.removeItem(at: scratch.dataFile)
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(engine.enter(former, named: "late") == nil)
    let late = try tier.cache("late")
    late.put("k", bytes("late"))
    try await tier.flush()
    #expect(late.get("k") == bytes("late"))
    #expect(other.get("k") == nil && cache.get("after") == bytes("after"))
    try await tier.close()
  }

  @Test func `a file that another process set aside is not reported as removed`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 20)
    let claim = try DirectoryClaim(directory: scratch.store, isReadOnly: false)
    claim.forgetDataFile()
    _ = try DiskDirectory.setAside(in: scratch.store)
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    try await tier.close()
    #expect(delivered.reportCodes == [])
  }

  @Test func `a checked directory detects changed names, and trusts only a checked state that is old enough`() throws {
    let scratch = TemporaryDirectory()
    var checked = CheckedDirectory()
    // The directory stays young, regardless of the time until it is set as checked.
    let later = Date(timeIntervalSinceNow: 100_000)
    try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: scratch.path)
    let young = try #require(CheckedDirectory.fingerprint(of: scratch.path))
    checked.setChecked(young)
    #expect(!checked.isChecked(young))
    let long = Date(timeIntervalSinceNow: -100)
    try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: scratch.path)
    let old = try #require(CheckedDirectory.fingerprint(of: scratch.path))
    checked.setChecked(old)
    #expect(checked.isChecked(old))
    try Data().write(to: scratch.url("new"))
    #expect(!checked.isChecked(try #require(CheckedDirectory.fingerprint(of: scratch.path))))
    #expect(CheckedDirectory.fingerprint(of: scratch.path + "/missing") == nil)
  }
}
