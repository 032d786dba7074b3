import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Limits, and writes that they refuse.
struct RefusedWriteTests {
  private func bytes(_ count: Int) -> [UInt8] { Array(repeating: 7, count: count) }

  private func open(
    memoryLimit: Int, tier: FaultInjectingTier?, reports: Recorder<StoreReport>? = nil
  ) throws -> Cache<String, [UInt8]> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.respondsToMemoryPressure = false
    if let reports { configuration.reportHandler = { reports.record($0) } }
    return try Store(secondTier: tier, memoryLimit: .bytes(memoryLimit), configuration: configuration)
      .cache("bytes", of: [UInt8].self, keyedBy: String.self)
  }

  @Test func `a value larger than the memory limit evicts no other, and removes its older value`() throws {
    let cache = try open(memoryLimit: 100, tier: nil)
    cache["a"] = bytes(10)
    cache["b"] = bytes(10)
    cache["a"] = bytes(101)
    #expect(cache["a"] == nil)
    #expect(cache["b"] == bytes(10))
    #expect(cache.statistics.memory.cost == 10)
    #expect(cache.statistics.refused == 1)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [true, false])
  func `a value that neither tier can hold leaves no older value in either`(isCommitted: Bool) throws {
    let tier = FaultInjectingTier(commits: .onDemand)
    tier.setSizeLimit(100)
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["a"] = bytes(10)
    cache["b"] = bytes(10)
    if isCommitted { tier.commit() }
    cache["a"] = bytes(101)
    #expect(cache["a"] == nil)
    tier.commit()
    cache.trim(toCost: 0)
    #expect(cache["a"] == nil)
    #expect(cache["b"] == bytes(10))
    #expect(tier.committedBytes(forKey: "a", in: "bytes") == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a removal while the second tier is unreadable takes effect when it recovers`() throws {
    let tier = FaultInjectingTier()
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["a"] = bytes(10)
    cache["b"] = bytes(10)
    cache.trim(toCost: 0)
    tier.setMode(.degraded)
    #expect(cache["a"] == nil && !cache.contains("a"))
    cache.removeValue(forKey: "a")
    tier.setMode(.active)
    #expect(cache["a"] == nil)
    #expect(cache["b"] == bytes(10))
    #expect(cache.checkInvariants() == [])
  }

  @Test func `the error of a tier that takes no writes points to the reports`() async throws {
    let tier = FaultInjectingTier()
    let cache = try open(memoryLimit: 100, tier: tier)
    tier.setMode(.degraded)
    let value = bytes(10)
    let error = await #expect(throws: CisternError.self) { try await cache.commitValue(value, forKey: "a") }
    #expect(error?.code == .diskFailed && error?.recoverySuggestion?.contains("reports") == true)
    // Its cause can be a long read, or another process.
    #expect(error.map { "\($0)".contains("Check the disk") } == false)
    #expect(cache["a"] == value)
  }

  @Test func `a value that only the disk can hold is stored there, and leaves no older one in memory`() throws {
    let tier = FaultInjectingTier()
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["a"] = bytes(10)
    cache["a"] = bytes(101)
    #expect(cache.statistics.memory.cost == 0)
    #expect(cache["a"] == bytes(101))
    #expect(cache.statistics.memory.cost == 0)
  }

  @Test func `a value that only memory can hold is stored there, and leaves no older one on disk`() async throws {
    let tier = FaultInjectingTier()
    tier.setSizeLimit(50)
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["a"] = bytes(10)
    cache["a"] = bytes(60)
    #expect(cache["a"] == bytes(60))
    #expect(tier.committedBytes(forKey: "a", in: "bytes") == nil)
    cache.trim(toCost: 0)
    #expect(cache["a"] == nil)
    #expect(await CisternError.code { try await cache.commitValue(bytes(60), forKey: "a") } == .tooLarge)
    #expect(cache["a"] == bytes(60))
  }

  @Test func `a write with an expired lifetime leaves no older value in either tier`() throws {
    let tier = FaultInjectingTier()
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["a"] = bytes(10)
    cache.setValue(bytes(11), forKey: "a", expiry: .after(.zero))
    #expect(cache["a"] == nil)
    cache.trim(toCost: 0)
    #expect(cache["a"] == nil)
    #expect(tier.committedBytes(forKey: "a", in: "bytes") == nil)
  }

  @Test(arguments: [true, false])
  func `a fetched value larger than every limit is returned and not stored`(hasTier: Bool) async throws {
    let tier = hasTier ? FaultInjectingTier() : nil
    tier?.setSizeLimit(100)
    let cache = try open(memoryLimit: 100, tier: tier)
    cache["b"] = bytes(60)
    let origin = ScriptedOrigin<String, [UInt8]> { [large = bytes(101)] _, _ in .value(large) }
    #expect(try await cache.value(forKey: "a", fetch: origin.fetch) == bytes(101))
    #expect(cache["a"] == nil)
    #expect(cache["b"] == bytes(60))
    #expect(try await cache.value(forKey: "a", fetch: origin.fetch) == bytes(101))
    #expect(origin.callCount == 2)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `after a failed commit memory keeps the value, and its eviction is announced`() async throws {
    let tier = FaultInjectingTier(commits: .onDemand, losses: .onDemand)
    let cache = try open(memoryLimit: 100, tier: tier)
    let changes = Recorder<String>()
    let token = cache.observe { changes.record("\($0.event)") }
    cache["a"] = bytes(1)
    tier.failCommits()
    await #expect(throws: CisternError.self) { try await tier.flush() }
    tier.deliverLosses()
    #expect(cache["a"] == bytes(1))
    cache.trim(toCost: 0)
    #expect(cache["a"] == nil)
    while changes.count < 2 { await Task.yield() }
    #expect(changes.elements.last == "removed(\"a\", CisternCore.RemovalCause.evicted)")
    token.cancel()
  }

  @Test(arguments: [false, true])
  func `a value that cannot be encoded is reported, stays in memory if weighed, and leaves none on disk`(
    isWeighed: Bool
  ) async throws {
    struct Picky: Codec {
      func encode(_ value: Int) throws -> [UInt8] {
        if value < 0 { throw Broken() }
        return [UInt8(value)]
      }
      func decode(_ bytes: [UInt8]) throws -> Int {
        if bytes[0] > 100 { throw Broken() }
        return Int(bytes[0])
      }
    }
    let reports = Recorder<StoreReport>()
    let tier = FaultInjectingTier()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.reportHandler = { reports.record($0) }
    let store = try Store(secondTier: tier, memoryLimit: .bytes(100), configuration: configuration)
    var settings = CacheConfiguration<Int>()
    if isWeighed { settings.weigher = { _ in 7 } }
    let cache = try store.cache("picky", codec: Picky(), keyedBy: String.self, configuration: settings)
    cache["a"] = 1
    cache["a"] = -1
    let kept: Int? = isWeighed ? -1 : nil
    #expect(cache["a"] == kept)
    #expect(cache.statistics.memory.cost == (isWeighed ? 7 : 0))
    #expect(reports.elements.map(\.code) == [.notEncodable])
    #expect(tier.committedBytes(forKey: "a", in: "picky") == nil)
    await #expect(throws: CisternError.self) { try await cache.commitValue(-2, forKey: "a") }

    // A value that cannot be decoded is a miss, and its record is removed.
    cache["b"] = 2
    cache.trim(toCost: 0)
    tier.corrupt("b", in: "picky") { $0[0] = 200 }
    #expect(cache["b"] == nil)
    #expect(tier.committedBytes(forKey: "b", in: "picky") == nil)
    #expect(cache.statistics.notDecodable == 1)
    #expect(try await cache.value(forKey: "c") { _ in -5 } == -5)
    #expect(try await cache.value(forKey: "b") { _ in 3 } == 3)
    cache.trim(toCost: 0)
    tier.corrupt("b", in: "picky") { $0[0] = 200 }
    #expect(try await cache.value(forKey: "b") { _ in 4 } == 4)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [EvictionPolicyKind.s3FIFO, .lru])
  func `limits of cost and of count hold at every return, in one shard or many`(
    policy: EvictionPolicyKind
  ) throws {
    for seed in SeededSchedule.seeds(100) {
      var generator = SeededGenerator(seed: seed)
      let costLimit = [1, 10, 100, 10_000][generator.next(below: 4)]
      let countLimit = [1, 3, 50, 1_000][generator.next(below: 4)]
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.evictionPolicy = policy
      let cache = try Cache<Int, Int>(
        costLimit: costLimit, countLimit: countLimit, weigher: { $0 }, configuration: configuration)
      for _ in 0..<200 {
        let cost = generator.next(below: 5) == 0 ? generator.next(below: costLimit + 2) : generator.next(below: 5)
        cache[generator.next(below: 100)] = cost
        let memory = cache.statistics.memory
        guard memory.cost <= costLimit, memory.entryCount <= countLimit else {
          Issue.record("seed \(seed): \(memory.cost) of \(costLimit), \(memory.entryCount) of \(countLimit)")
          return
        }
      }
      #expect(cache.checkInvariants() == [], "seed \(seed)")
    }
  }
}
