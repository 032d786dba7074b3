import CisternTestSupport
import CisternTesting
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Files that an opening or a close could not write through.
///
/// The system reports that only once. The next write-through succeeds, although the device lacks pages.
@Suite struct FailedSynchronizationTests {
  private let scratch = TemporaryDirectory()

  private func open(
    _ durability: Durability = .processCrash, failing fault: DiskFaults.Fault? = nil,
    _ delivered: DeliveredReports = DeliveredReports()
  ) throws -> DiskTier {
    var faults = DiskFaults()
    faults.atSynchronization = { fault }
    return try openTier(scratch, durability: durability, delivered: delivered, interval: .unreachable, faults: faults)
  }

  /// Opens the store, and returns its reports and the number of its records. Then closes it.
  private func opening() async throws -> (reports: [StoreReport.Code], count: Int) {
    let delivered = DeliveredReports()
    let tier = try open(.processCrash, failing: nil, delivered)
    let count = try tier.cache().keys().count
    try await tier.close()
    return (delivered.reportCodes, count)
  }

  private func changeMark(_ change: (inout BootMark) -> Void) throws {
    let url = scratch.url("store/cistern.mark")
    var mark = BootMark([UInt8](try Data(contentsOf: url))[...])
    change(&mark)
    // In place, because the open store has a claim on the file.
    let handle = try FileHandle(forWritingTo: url)
    try handle.write(contentsOf: mark.bytes)
    try handle.close()
  }

  @Test func `a file that the closing store could not write through is set aside`() async throws {
    let delivered = DeliveredReports()
    let tier = try open(.processCrash, failing: .inputOutput, delivered)
    try tier.cache().put("k", [1])
    try await tier.close()
    #expect(delivered.reportCodes == [.degraded])
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
    #expect(try await opening().reports == [])
  }

  /// Makes the open store unable to read its mark. It can still write it.
  private func hideMark() throws {
    let handle = try FileHandle(forWritingTo: scratch.url("store/cistern.mark"))
    let target = try identity(of: handle.fileDescriptor)
    for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
      guard let descriptor = Int32(name), descriptor != handle.fileDescriptor else { continue }
      // Other tests close their descriptors meanwhile.
      if (try? identity(of: descriptor)) == target { dup2(handle.fileDescriptor, descriptor) }
    }
    try handle.close()
  }

  private func identity(of descriptor: Int32) throws -> [UInt64] {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Broken() }
    return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  private func markState() throws -> BootMark.State {
    BootMark([UInt8](try Data(contentsOf: scratch.url("store/cistern.mark")))[...]).state
  }

  @Test func `a close without the gate leaves a failed write-through to the next close`() async throws {
    let (gate, synchronization) = (Switch<DiskFaults.Fault>(), Switch<DiskFaults.Fault>())
    var faults = DiskFaults()
    faults.atGate = { gate.take() }
    // Once, as the system reports it.
    faults.atSynchronization = { synchronization.take() }
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, interval: .unreachable, faults: faults)
    try tier.cache().put("k", bytes("k"))
    try await tier.flush()
    gate.set(.inputOutput)
    synchronization.set(.inputOutput)
    try await tier.close()
    #expect(delivered.reportCodes == [.degraded])
    #expect(try markState() == .unsynchronized)
    let next = try openTier(scratch, interval: .unreachable, faults: faults)
    #expect(try next.cache().get("k") == bytes("k"))
    try await next.close()
    #expect(synchronization.peek() == nil)
    #expect(try markState() == .failed)
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
  }

  @Test func `a close does not mark a file as sound if it cannot read the mark`() async throws {
    let tier = try open()
    try tier.cache().put("k", bytes("k"))
    try hideMark()
    try await tier.close()
    #expect(try markState() == .unsynchronized)
    let first = try await opening()
    #expect(first.reports == [] && first.count == 1)
    #expect(try markState() == .sound)
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a close does not mark a file as sound if the mark is damaged`(durability: Durability) async throws {
    let tier = try open(durability)
    try tier.cache().put("k", bytes("k"))
    // In place, because the open store has a claim on the file.
    let handle = try FileHandle(forWritingTo: scratch.url("store/cistern.mark"))
    try handle.write(contentsOf: bytes("damaged"))
    try handle.close()
    try await tier.close()
    #expect(try markState() == .unreadable)
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
    #expect(try markState() == .sound)
    #expect(try await opening().reports == [])
  }

  @Test func `a file that an opening for synchronized commits could not write through is set aside`() async throws {
    try await fill(scratch, count: 10)
    try changeMark { ($0.state, $0.boot) = (.unsynchronized, currentBoot()) }
    #expect(throws: CisternError.self) { _ = try open(.powerCut, failing: .inputOutput) }
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
  }

  /// Removes the identity from the file and the mark, as a version without identities would have left them.
  private func removeIdentity() throws {
    let opening = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: ""))
    let file = try DiskFile.open(
      directory: scratch.store, options: opening.environmentOptions(), layout: .only(.tested))
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      let isRemoved = try transaction.remove(MetaTable.identity, in: file.meta)
      #expect(isRemoved)
    }
    try file.close()
    try changeMark { $0.file = MarkedFile(fingerprint: DataFileFingerprint(of: scratch.dataFile.path)) }
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a file whose new identity an opening could not write through is set aside or checked`(
    durability: Durability
  ) async throws {
    try await fill(scratch, count: 10)
    try removeIdentity()
    #expect(throws: CisternError.self) { _ = try open(durability, failing: .inputOutput) }
    let mark = BootMark([UInt8](try Data(contentsOf: scratch.url("store/cistern.mark")))[...])
    #expect(mark.state == (durability == .powerCut ? .sound : .failed) && mark.file.fingerprint == nil)
    let first = try await opening()
    #expect(first.reports == (durability == .powerCut ? [] : [.setAside]))
    #expect(first.count == (durability == .powerCut ? 10 : 0))
  }

  @Test func `the next opening checks a file in which an opening could not commit the names of caches`() async throws {
    let (transactionFault, transactions) = (Switch<DiskFaults.Fault>(), Recorder<Void>())
    let faults = DiskFaults {
      transactions.record(())
      return transactionFault.peek()
    }
    func openSynchronized() throws -> DiskTier {
      try openTier(scratch, durability: .powerCut, interval: .unreachable, faults: faults)
    }
    var tier = try openSynchronized()
    // As earlier versions did, with the name in another Unicode form.
    let partition = tier.engine.partition(named: "cafe\u{301}")
    _ = tier.engine.stage(.record(key: bytes("k"), DiskPartition.metadata(), bytes: [1]), in: partition)
    try await tier.flush()
    try await tier.close()
    transactionFault.set(.inputOutput)
    tier = try openSynchronized()
    transactionFault.set(nil)
    // A write-through confirms nothing without a new commit.
    let count = transactions.count
    _ = tier.engine.nextTicket()
    try await tier.flush()
    #expect(transactions.count == count + 1)
    try await tier.close()
    tier = try openSynchronized()
    #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) > 0)
    #expect(try tier.cache("caf\u{e9}").get("k") == [1])
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `a close keeps the distrust of another process in the file, but not in a new one`(isNew: Bool) async throws {
    try await fill(scratch, count: 10)
    let tier = try open()
    try changeMark { $0.state = .failed }
    if isNew {
      try FileManager.default.removeItem(at: scratch.dataFile)
      try tier.cache().put("new", [1])
      try await tier.flush()
    }
    try await tier.close()
    let first = try await opening()
    #expect(first.reports == (isNew ? [] : [.setAside]) && first.count == (isNew ? 1 : 0))
  }
}
