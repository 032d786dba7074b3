import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Values that expire while the disk evicts records or refuses commits, on real threads.
@Suite(.serialized) struct ExpiryUnderPressureThreadsTests {
  enum Pressure: CaseIterable, Sendable { case evictions, refusals }

  private static let keyCount = 3_000

  private static func step(
    _ cache: Cache<Int, [UInt8]>, _ clock: ManualClock, _ generator: inout SeededGenerator
  ) async {
    let key = Int.random(in: 0..<keyCount, using: &generator)
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 900)
    let lifetime = Expiry.after(.milliseconds(Int.random(in: 1...20, using: &generator)))
    switch Int.random(in: 0..<16, using: &generator) {
    case 0: cache.removeValue(forKey: key)
    case 1, 2: _ = cache[key]
    case 3: _ = try? await cache.value(forKey: key, expiry: lifetime) { _ in value }
    case 4: _ = try? await cache.load(key, policy: .reload) { _ in .store(value, expiry: lifetime) }
    case 5: cache.updateValue(forKey: key) { $0 = $0 ?? value }
    case 6: cache.trim(toCost: 2_000)
    case 7: clock.advance(by: .milliseconds(1))
    case 8: cache.setValue(value, forKey: key, expiry: .after(.milliseconds(30), graceStale: .milliseconds(10)))
    case 9: cache.setValue(value, forKey: key, expiry: .idle(.milliseconds(10)))
    default: cache.setValue(value, forKey: key, expiry: lifetime)
    }
  }

  @Test(arguments: [DiskLayout.ordered, .dense], Pressure.allCases)
  func `observers receive one removal of each value`(layout: DiskLayout, pressure: Pressure) async throws {
    for seed in 0..<2 as Range<UInt64> {
      let scratch = TemporaryDirectory()
      let failing = Switch<DiskFaults.Fault>()
      var options = DiskOptions(
        limit: .mebibytes(4), layout: layout, durability: .processCrash, commitInterval: .milliseconds(1))
      options.retryInterval = .milliseconds(1)
      options.faults = DiskFaults { failing.peek() }
      let tier = try DiskTier(directory: scratch.store, options: options)
      let clock = ManualClock()
      let store = try Store(
        secondTier: tier, memoryLimit: .kibibytes(64), configuration: .ignoringMemoryPressure(clock: clock))
      let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
      let findings = Findings()
      let token = cache.observe { findings.add($0) }
      // The file is full from the beginning.
      for key in 0..<3 * Self.keyCount / 2 { cache[key] = [UInt8](repeating: 1, count: 900) }
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<3 as Range<UInt64> {
          group.addTask {
            var generator = SeededGenerator(seed: seed << 8 | writer)
            for _ in 0..<2_000 { await Self.step(cache, clock, &generator) }
          }
        }
        if pressure == .refusals {
          group.addTask {
            for number in 0..<60 {
              failing.set(number % 3 == 2 ? nil : .noSpace)
              try? await store.flush()
              await Task.yield()
            }
          }
        }
      }
      failing.set(nil)
      try? await store.flush()
      await findings.settle(cache: cache)
      try? await store.flush()
      #expect(findings.wrong.prefix(5) == [], "\(seed)")
      #expect(cache.checkInvariants() == [])
      if pressure == .evictions { #expect(cache.statistics.disk?.evictions ?? 0 > 0) }
      token.cancel()
      try? await store.close()
    }
  }
}
