import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Losses of all records beside other operations, on real threads.
@Suite(.serialized) struct LostPartitionThreadsTests {
  private static func step(_ cache: Cache<String, Int>, _ seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    let key = "k\(Int.random(in: 0..<200, using: &generator))"
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: cache.removeValue(forKey: key)
    case 1: _ = cache[key]
    case 2: _ = try? await cache.value(forKey: key) { _ in 1 }
    case 3: cache.trim(toCost: 50)
    case 4: cache.updateValue(forKey: key) { $0 = ($0 ?? 0) + 1 }
    default: cache.setValue(Int(truncatingIfNeeded: seed), forKey: key)
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `changes lead to the contents while a failing disk gives up removals`(seed: UInt64) async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    var options = DiskOptions(
      limit: .mebibytes(16), durability: .processCrash, commitInterval: .milliseconds(1))
    options.retryInterval = .milliseconds(1)
    options.faults = DiskFaults { failing.peek() }
    options.removalLimit = 20
    let tier = try DiskTier(directory: scratch.store, options: options)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
    let cache = try store.cache("values", of: Int.self, keyedBy: String.self)
    let log = ChangeFold()
    let token = cache.observe { log.add($0) }
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<3 as Range<UInt64> {
        group.addTask {
          for number in 0..<1500 as Range<UInt64> { await Self.step(cache, seed << 40 | writer << 32 | number) }
        }
      }
      group.addTask {
        for number in 0..<60 {
          failing.set(number % 3 == 2 ? nil : .inputOutput)
          try? await store.flush()
          await Task.yield()
        }
      }
    }
    failing.set(nil)
    try? await store.flush()
    try await store.flush()
    cache["end"] = 0
    while log.contents["end"] == nil { await Task.yield() }
    var contents: [String: Int] = [:]
    for try await entry in cache.entries() { contents[entry.key] = entry.value() }
    #expect(log.contents == contents)
    #expect(log.clears > 0)
    try await store.flush()
    #expect(cache.checkInvariants() == [])
    #expect(tier.checkInvariants() == [])
    token.cancel()
    try await store.close()
  }
}
