import Cistern
import CisternTesting
import CisternTestSupport
import Testing

/// The main operations of a cache, in plain code. Other suites test each property in detail.
@Suite struct CacheStoryTests {
  struct StringBytes: Codec {
    func encode(_ value: String) throws -> [UInt8] { Array(value.utf8) }
    func decode(_ bytes: [UInt8]) throws -> String { String(decoding: bytes, as: UTF8.self) }
  }

  func makeCache(_ tier: FaultInjectingTier? = nil) throws -> Cache<String, String> {
    try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
      .cache("texts", codec: StringBytes())
  }

  @Test func `a miss is fetched once and cached`() async throws {
    let cache = try makeCache()
    #expect(cache["a"] == nil)
    #expect(try await cache.value(forKey: "a") { "fetched \($0)" } == "fetched a")
    #expect(try await cache.value(forKey: "a") { _ in "never called" } == "fetched a")
    #expect(cache["a"] == "fetched a")
    cache["a"] = "set"
    #expect(cache["a"] == "set")
    cache["a"] = nil
    #expect(cache["a"] == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `concurrent callers share one fetch`() async throws {
    let cache = try makeCache()
    let gate = Gate()
    let origin = ScriptedOrigin<String, String> { _, _ in .gated(gate, .value("x")) }
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await cache.value(forKey: "a", fetch: origin.fetch) } }
      await gate.arrivals(atLeast: 1)
      gate.open()
      for try await value in group { #expect(value == "x") }
    }
    #expect(origin.callCount(for: "a") == 1)
    #expect(cache.checkInvariants() == [])
    #expect(cache.statistics.flights == 1)
    #expect(cache.statistics.waiterCount == 0)
  }

  @Test func `the second tier returns values that memory evicted`() async throws {
    let cache = try makeCache(FaultInjectingTier())
    for number in 0..<100 { cache["\(number)"] = "value \(number)" }
    cache.trim(toCost: 0)
    #expect(cache.statistics.memory.entryCount == 0)
    for number in 0..<100 { #expect(cache["\(number)"] == "value \(number)") }
    #expect(cache.statistics.memory.entryCount == 100)
    #expect(cache.withBytes(forKey: "7") { $0.byteCount } == 7)
    cache.removeAll()
    #expect(cache["7"] == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a value larger than the memory limit is returned but not stored`() async throws {
    let cache = try Cache<Int, String>(costLimit: 10, weigher: { $0.utf8.count })
    cache[1] = "12345"
    #expect(try await cache.value(forKey: 2) { _ in "much too long for it" } == "much too long for it")
    #expect(cache[2] == nil)
    #expect(cache[1] == "12345")
    cache[1] = "also much too long"
    #expect(cache[1] == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `memory is within its limit when each write returns`(_ policy: EvictionPolicyKind) throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.evictionPolicy = policy
    let cache = try Cache<Int, Int>(costLimit: 1000, weigher: { $0 }, configuration: configuration)
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<20_000 {
      cache[Int.random(in: 0..<500, using: &generator)] = Int.random(in: 1...120, using: &generator)
      #expect(cache.statistics.memory.cost <= 1000)
      if Bool.random(using: &generator) { _ = cache[Int.random(in: 0..<500, using: &generator)] }
    }
    #expect(cache.checkInvariants() == [])
    #expect(cache.statistics.memory.peakCost <= 1000)
  }
}
