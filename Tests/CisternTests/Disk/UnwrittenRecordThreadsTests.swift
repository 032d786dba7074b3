import Cistern
import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A clock that runs a closure once, when the time of day is read.
private final class InterruptedClock: CacheClock {
  let clock = ManualClock()
  let interruption = Switch<@Sendable () -> Void>()

  func now() -> MonotonicTime { clock.now() }

  func wallTime() -> WallTime {
    interruption.take()?()
    return clock.wallTime()
  }
}

/// Records that could not be written, and that readers find at the same time.
@Suite(.serialized) struct UnwrittenRecordThreadsTests {
  private enum Operation: CaseIterable, Sendable { case nothing, set, removal, update }

  /// A reader finds an expired record among the staged writes. Then its commit fails, and a lock keeps the report of
  /// the loss back.
  @Test func `observers receive one removal of an expired record that could not be written`() async throws {
    var reached = 0
    for round in 0..<24 {
      let scratch = TemporaryDirectory()
      let failing = Switch<DiskFaults.Fault>()
      var options = DiskOptions(limit: .mebibytes(4), durability: .processCrash, commitInterval: .seconds(3600))
      options.retryInterval = .milliseconds(1)
      options.faults = DiskFaults { failing.take() }
      let tier = try DiskTier(directory: scratch.store, options: options)
      let (isReporting, mayReport) = (Monitor(false), Monitor(false))
      // The tier commits its partitions in an order of its own, and reports their losses in this order.
      for name in ["one", "two"] { _ = try tier.diskPartition(named: name) }
      let names = tier.engine.partitions.map(\.name)
      try #require(names.count == 2)
      let other = try tier.diskPartition(named: names[0]) { _ in
        isReporting.change { $0 = true }
        mayReport.wait { $0 ? () : nil }
      }
      let clock = InterruptedClock()
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
      let cache = try store.cache(names[1], of: [UInt8].self, keyedBy: Int.self)
      let findings = Findings()
      let removals = Recorder<String>()
      let token = cache.observe { change in
        findings.add(change)
        if case .removed(7, let cause) = change.event { removals.record("\(cause)") }
      }
      cache.setValue([1], forKey: 7, expiry: .after(.seconds(1)))
      other.put("other", [1])
      cache.trim(toCost: 0)
      clock.clock.advance(by: .seconds(2))
      failing.set(.inputOutput)
      clock.interruption.set {
        Task { try? await store.flush() }
        isReporting.wait { $0 ? () : nil }
      }
      let isDone = Monitor(false)
      let operation = Operation.allCases[round % 4]
      try SystemThread.start {
        _ = cache[7]
        perform(operation, on: cache)
        isDone.change { $0 = true }
      }
      while !isDone.change({ $0 }) { await Task.yield() }
      if cache.statistics.expirations > 0 { reached += 1 }
      mayReport.change { $0 = true }
      try? await store.flush()
      await findings.settle(cache: cache)
      #expect(removals.count == 1, "\(round): \(removals.elements)")
      #expect(findings.wrong == [], "\(round)")
      #expect(cache.checkInvariants() == [])
      token.cancel()
      try? await store.close()
    }
    // In these rounds, the reader continued before the loss of its record was reported.
    #expect(reached > 0)
  }

  /// A reader finds the expired record while its commit is under way. The disk still has an older record of the key.
  @Test(arguments: DiskLayout.both)
  func `an older record does not return after the removal of a record that could not be written`(
    layout: DiskLayout
  ) async throws {
    for operation in Operation.allCases {
      let scratch = TemporaryDirectory()
      let atCommit = Switch<@Sendable () -> DiskFaults.Fault?>()
      var options = DiskOptions(
        limit: .mebibytes(4), layout: layout, durability: .processCrash, commitInterval: .seconds(3600))
      options.retryInterval = .milliseconds(1)
      options.faults = DiskFaults { atCommit.take()?() }
      let tier = try DiskTier(directory: scratch.store, options: options)
      let clock = ManualClock()
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
      let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
      let findings = Findings()
      let token = cache.observe { findings.add($0) }
      cache[7] = [1]
      try await store.flush()
      cache.setValue([2], forKey: 7, expiry: .after(.seconds(1)))
      cache.trim(toCost: 0)
      clock.advance(by: .seconds(2))
      atCommit.set {
        let isRead = Monitor(false)
        // The writer thread has a transaction, so another thread reads.
        try? SystemThread.start {
          _ = cache[7]
          isRead.change { $0 = true }
        }
        isRead.wait { $0 ? () : nil }
        return .inputOutput
      }
      await #expect(throws: CisternError.self) { try await store.flush() }
      #expect(cache[7] == nil)
      perform(operation, on: cache)
      try? await store.flush()
      await findings.settle(cache: cache)
      #expect(cache[7] == nil || cache[7]?.last ?? 0 > 1)
      #expect(cache.statistics.expirations == 1)
      #expect(findings.wrong == [], "\(operation)")
      #expect(cache.checkInvariants() == [])
      token.cancel()
      try? await store.close()
    }
  }

  private func perform(_ operation: Operation, on cache: Cache<Int, [UInt8]>) {
    switch operation {
    case .nothing: break
    case .set: cache[7] = [2]
    case .removal: cache.removeValue(forKey: 7)
    case .update: cache.updateValue(forKey: 7) { $0 = ($0 ?? []) + [3] }
    }
  }
}
