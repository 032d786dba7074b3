import CisternTesting
import Testing

@testable import CisternCore

/// Removals by a condition and enumerations in a custom tier, which lists its records for them.
@Suite struct AdaptedPartitionListingTests {
  private let tier = SmallTier()

  @Test func `a removal by a condition removes all records of a tier that cannot list them, and reports that`() throws {
    let reports = Recorder<StoreReport>()
    let store = try tier.openStore { reports.record($0) }
    let cache = try tier.openCache(of: store)
    for (number, key) in ["kept", "chosen", "unknown"].enumerated() { cache[key] = number }
    store.trimMemory(to: .bytes(0))
    _ = (cache["kept"], cache["chosen"])
    tier.state.withLock { $0.mode = .degraded }
    let isRemoved: (String) -> Bool = { $0 != "kept" }
    #expect(cache.removeAll(where: isRemoved) == 1)
    #expect(reports.elements.map(\.code) == [.degraded])
    #expect(cache["kept"] == 0)
    tier.state.withLock { $0.mode = .active }
    #expect(cache["kept"] == 0 && cache["chosen"] == nil && cache["unknown"] == nil)
    // The tier can list its keys again.
    cache["other"] = 3
    cache["chosen"] = 4
    store.trimMemory(to: .bytes(0))
    #expect(cache.removeAll(where: { $0 == "chosen" }) == 1)
    #expect(cache["other"] == 3 && reports.count == 1)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [false, true])
  func `a removal by a condition removes a key that the tier could not read after it listed the keys`(
    recoversAtOnce: Bool
  ) throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    for (number, key) in ["a", "b"].enumerated() { cache[key] = number }
    store.trimMemory(to: .bytes(0))
    var first: String?
    let count = cache.removeAll { [tier] key in
      guard first == nil else { return true }
      first = key
      tier.state.withLock { state in
        state.mode = .degraded
        // The tier works again after both reads of the other key.
        guard recoversAtOnce else { return }
        state.duringRead = { tier.state.withLock { $0.duringRead = { tier.state.withLock { $0.mode = .active } } } }
      }
      return false
    }
    tier.state.withLock { $0.mode = .active }
    // A key whose record could not be read is not counted.
    #expect(count == 0)
    #expect(["a", "b"].filter { cache[$0] != nil } == [first])
  }

  @Test func `an enumeration throws if the tier closes before it lists its records`() async throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    for number in 0..<20 { cache["key \(number)"] = number }
    store.trimMemory(to: .bytes(0))
    tier.state.withLock { $0.closesAtListing = true }
    let error = await #expect(throws: CisternError.self) { for try await _ in cache.entries() {} }
    #expect(error?.code == .storeClosed)
  }

  @Test func `an enumeration lists each key once, also if the tier lists it twice`() async throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    for number in 0..<20 { cache["key \(number)"] = number }
    store.trimMemory(to: .bytes(0))
    tier.state.withLock { $0.listsTwice = true }
    var keys: [String] = []
    for try await entry in cache.entries() { keys.append(entry.key) }
    #expect(keys == Set(keys).sorted() && keys.count == 20)
  }
}
