import CisternTestSupport
import Foundation
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Interruptions of backups and verifications.
@Suite struct DiskLongReadTests {
  /// The operations that read all records in one snapshot.
  enum LongOperation: CaseIterable, Sendable {
    case backup
    case verification

    func run(on tier: DiskTier, copyingTo copy: String) async throws {
      switch self {
      case .backup: try await tier.backUp(to: copy)
      case .verification: _ = try await tier.verification()
      }
    }
  }

  /// Starts a read that keeps its snapshot until it is interrupted. Returns when the snapshot exists.
  private func hold(_ tier: DiskTier) async -> Task<LongRead.Interruption?, any Error> {
    let hasBegun = Switch<Bool>()
    let task = Task.detached(executorPreference: ThreadPerJob()) {
      try await tier.readLong("hold") { engine, read in
        try engine.file?.environment.withRead { (transaction) throws(LMDBError) in
          hasBegun.set(true)
          // A long read asks between its steps whether it must end. The pause leaves the processor to the other
          // threads.
          while read.interruption == nil { usleep(1000) }
        }
        return read.interruption
      }
    }
    while hasBegun.peek() != true { await Task.yield() }
    return task
  }

  @Test func `a long read ends when the writes of the store need its pages`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    var options = DiskOptions(
      limit: .mebibytes(1), layout: .tested, durability: .processCrash, commitInterval: .milliseconds(1))
    options.readerPatience = .unreachable
    let tier = try DiskTier(directory: scratch.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
    let cache = try tier.cache(delivered: delivered)
    cache.put("first", bytes("first"))
    try await tier.flush()
    let held = await hold(tier)
    for number in 0..<2000 {
      cache.put("k\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(try await held.value == .roomNeeded)
    #expect(delivered.reportCodes == [])
    #expect(tier.engine.mode == .active)
    #expect(cache.get("k1999") == value(1999, size: 1000))
    try await tier.close()
  }

  @Test(arguments: LongOperation.allCases)
  func `closing a store ends its long reads`(operation: LongOperation) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let held = await hold(tier)
    try await tier.close()
    #expect(try await held.value == .closed)
    let error = await #expect(throws: CisternError.self) {
      try await operation.run(on: tier, copyingTo: scratch.copy)
    }
    #expect(error?.code == .storeClosed)
    #expect(scratch.names(in: ".") == ["store"])
  }

  @Test func `a long read ends when the writer thread replaces the file`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache()
    cache.put("a", bytes("a"))
    try await tier.flush()
    let held = await hold(tier)
    try FileManager.default.removeItem(at: scratch.dataFile)
    cache.put("b", bytes("b"))
    try await tier.flush()
    #expect(try await held.value == .fileReplaced)
    try await tier.close()
  }

  /// Opens a store of 1000 committed records.
  private func openFilled(_ scratch: TemporaryDirectory) async throws -> DiskTier {
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<1000 { cache.put("k\(number)", value(number, size: 700)) }
    try await tier.flush()
    return tier
  }

  @Test(arguments: LongOperation.allCases)
  func `a cancelled backup or verification throws and leaves nothing`(operation: LongOperation) async throws {
    let scratch = TemporaryDirectory()
    let tier = try await openFilled(scratch)
    let copy = scratch.copy
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await operation.run(on: tier, copyingTo: copy)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(scratch.names(in: ".") == ["store"])
    try await tier.close()
  }

  @Test func `a backup that is cancelled at any time leaves the complete copy or none`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try await openFilled(scratch)
    let copy = scratch.copy
    for round in 0..<20 {
      let target = "\(copy)-\(round)"
      let task = Task { try await tier.backUp(to: target) }
      for _ in 0..<round * 20 { await Task.yield() }
      task.cancel()
      let result = await task.result
      #expect(scratch.names(in: ".").contains("copy-\(round)") == ((try? result.get()) != nil))
      guard case .success = result else { continue }
      let opened = try openCopy(scratch, "copy-\(round)")
      #expect(try opened.cache().keys().count == 1000)
      try await opened.close()
    }
    #expect(!scratch.names(in: ".").contains { $0.hasSuffix(".incomplete") })
    try await tier.close()
  }
}
