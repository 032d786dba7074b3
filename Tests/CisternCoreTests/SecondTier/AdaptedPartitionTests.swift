import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A partition of a custom tier, as a cache sees it.
@Suite struct AdaptedPartitionTests {
  private let tier = SmallTier()
  private let key: [UInt8] = [7]

  private func open() throws -> any TransactionalPartition { try tier.transactionalPartition(named: "p") }

  private func write(_ number: UInt8) -> StagedWrite {
    .record(
      key: [number], RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, schemaVersion: 3),
      bytes: [number])
  }

  @Test func `a user's partition is adapted, and a transactional one is used as it is`() throws {
    #expect(try open() is AdaptedPartition)
    #expect(try !(FaultInjectingTier().transactionalPartition(named: "p") is AdaptedPartition))
  }

  @Test func `presence and schema version are those of the record`() throws {
    let partition = try open()
    let before = (partition.presence(of: key.rawSpan), partition.schemaVersion(of: key.rawSpan))
    _ = partition.stage(write(7))
    let after = (partition.presence(of: key.rawSpan), partition.schemaVersion(of: key.rawSpan))
    #expect(before == (false, nil) && after == (true, 3))
  }

  @Test func `a failing tier does not say that a key is absent, and keeps the removal of the key`() throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    cache["a"] = 1
    store.trimMemory(to: .bytes(0))
    tier.state.withLock { $0.mode = .degraded }
    let presence = try open().presence(of: Array("a".utf8).rawSpan)
    #expect(presence == nil)
    cache.removeValue(forKey: "a")
    tier.state.withLock { $0.mode = .active }
    #expect(cache["a"] == nil)
  }

  @Test func `a batch ends with the ticket of its newest write, and a caller waits for it`() async throws {
    let partition = try open()
    let batch = partition.beginBatch()
    for number in 1...3 { _ = partition.stage(write(UInt8(number)), in: batch) }
    #expect(partition.endBatch(batch) == CommitTicket(number: 3))
    try await tier.openCache().commitBatch { batch in
      batch.setValue(1, forKey: "a")
      batch.setValue(2, forKey: "b")
    }
    #expect(tier.state.withLock { $0.waitedFor } == [CommitTicket(number: 5)])
  }

  @Test func `invalidation versions rise, and a tier without invalidations removes all records`() throws {
    let partition = try open()
    _ = partition.stage(write(7))
    let before = partition.invalidationVersion
    let version = partition.stageInvalidation(.tag("red")).version
    #expect(before > 0 && version > before && partition.invalidationVersion >= version)
    let isThere = partition.contains(key.rawSpan)
    #expect(!isThere)
  }

  @Test(arguments: [false, true])
  func `the loss of a record must be reported, unless the key was written since`(isWritten: Bool) throws {
    let partition = try open()
    _ = partition.stage(write(7))
    tier.lose(key)
    if isWritten { _ = partition.stage(write(7)) }
    let (isLost, mustBeReported) = (partition.isLost(key.rawSpan), partition.acknowledgeLoss(of: key.rawSpan))
    #expect(partition.hasLostKeys && isLost == !isWritten && mustBeReported == !isWritten)
  }

  @Test func `a loss that the tier reports removes the value of a cache`() throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    cache["a"] = 1
    store.trimMemory(to: .bytes(0))
    #expect(cache["a"] == 1)
    store.trimMemory(to: .bytes(0))
    tier.lose(Array("a".utf8))
    #expect(cache["a"] == nil)
    #expect(cache.statistics.diskEvictions == 1)
  }

  @Test(arguments: [false, true])
  func `a write that names an older record leaves the record that has replaced it`(isRemoval: Bool) throws {
    let partition = try open()
    func record(_ byte: UInt8) -> StagedWrite {
      .record(key: key, RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: [byte])
    }
    func bytes() -> [UInt8]? { partition.withRecord(forKey: key.rawSpan) { _, bytes in bytes.copiedBytes() } }
    func identity() -> RecordIdentity? {
      partition.withRecord(forKey: key.rawSpan) { RecordIdentity($0, bytes: $1) }
    }
    _ = partition.stage(record(1))
    let older = try #require(identity())
    _ = partition.stage(record(2))
    let newer = try #require(identity())
    let write: StagedWrite = isRemoval ? .removal(key: key) : record(3)
    guard case .dropped = partition.stage(write, if: .identity(older)) else {
      Issue.record("the write was staged")
      return
    }
    #expect(bytes() == [2])
    guard case .staged = partition.stage(write, if: .identity(newer)) else {
      Issue.record("the write was dropped")
      return
    }
    #expect(bytes() == (isRemoval ? nil : [3]))
  }

  @Test func `a rewritten record does not return after another writer has removed it`() throws {
    let partition = try open()
    _ = partition.stage(write(7))
    let former = try #require(partition.withRecord(forKey: key.rawSpan) { RecordIdentity($0, bytes: $1) })
    _ = partition.stage(.removal(key: key))
    _ = partition.stage(write(7), if: .identity(former))
    let isThere = partition.contains(key.rawSpan)
    #expect(!isThere)
  }

  @Test(arguments: [false, true])
  func `a copy in memory that expires leaves the newer record of another store of the tier`(
    isObserved: Bool
  ) async throws {
    let clock = ManualClock()
    func open() throws -> Cache<String, Int> {
      try tier.openCache(
        of: Store(
          secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock)))
    }
    let (cache, other) = (try open(), try open())
    let changes = Recorder<String>()
    let token = isObserved ? cache.observe { changes.record("\($0.event)") } : nil
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(1)))
    other["a"] = 2
    clock.advance(by: .seconds(2))
    #expect(cache["a"] == 2)
    for cache in [cache, other] {
      cache.trim(toCost: 0)
      #expect(cache["a"] == 2)
    }
    if isObserved {
      // The observer receives this change after all earlier ones.
      cache["marker"] = 3
      while !changes.elements.contains(where: { $0.contains("marker") }) { await Task.yield() }
    }
    token?.cancel()
    #expect(changes.elements.allSatisfy { !$0.contains("removed") })
  }

  @Test func `a closed tier gives a cache that works in memory`() async throws {
    let cache = try tier.openCache()
    cache["a"] = 1
    try await tier.close()
    cache["b"] = 2
    #expect(cache["a"] == 1 && cache["b"] == 2)
    #expect(cache.statistics.disk?.mode == .closed)
  }

  @Test func `a record that a working tier refuses is too large for it, which is thrown and reported`() async throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    tier.state.withLock { $0.refuses = { if case .record = $0 { true } else { false } } }
    for isBatch in [false, true] {
      let alone = await #expect(throws: CisternError.self) {
        if isBatch {
          try await cache.commitBatch { $0.setValue(1, forKey: "a") }
        } else {
          try await cache.commitValue(1, forKey: "a")
        }
      }
      let remedy = "Store a smaller value, or raise the limit of the tier"
      #expect(alone?.code == .tooLarge && alone?.recoverySuggestion == remedy)
      let several = await #expect(throws: CisternError.self) {
        try await store.commitBatch { $0.setValue(1, forKey: "a", in: cache) }
      }
      #expect(several?.code == .tooLarge && several?.recoverySuggestion == remedy)
    }
    cache["a"] = 2
    try cache.batch { $0.setValue(3, forKey: "a") }
    #expect(cache["a"] == 3 && store.reports.map(\.code) == Array(repeating: .refused, count: 6))
    try await cache.commitRemoval(forKey: "a")
    #expect(store.reports.count == 6)
  }

  @Test func `a tier that fails, and one that refuses a removal, have refused nothing for its size`() async throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    cache["a"] = 1
    tier.state.withLock { $0.refuses = { _ in true } }
    let removal = await #expect(throws: CisternError.self) { try await cache.commitRemoval(forKey: "a") }
    tier.state.withLock { $0.mode = .degraded }
    let write = await #expect(throws: CisternError.self) { try await cache.commitValue(1, forKey: "a") }
    let batch = await #expect(throws: CisternError.self) { try await cache.commitBatch { $0.setValue(1, forKey: "a") } }
    #expect([removal, write, batch].allSatisfy { $0?.code == .diskFailed } && store.reports.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a removal that the tier widens removes all keys from both tiers, and observers and counts agree`(
    isOfStore: Bool
  ) async throws {
    let store = try tier.openStore()
    let cache = try tier.openCache(of: store)
    cache.setValue(1, forKey: "a", tags: ["red"])
    cache["b"] = 2
    var sets = cache.changeSets().makeAsyncIterator()
    if isOfStore { store.removeAll(tagged: "red") } else { cache.removeAll(withPrefix: "a") }
    // No tier has the other key either, so that a look-up does not depend on memory.
    #expect(cache["a"] == nil && cache["b"] == nil)
    let set = await sets.next()
    #expect(set?.isCleared == true && set?.isWidened == true)
    cache.removeAll()
    let other = await sets.next()
    #expect(other?.isCleared == true && other?.isWidened == false)
    #expect(cache.statistics.widenedRemovals == 1)
    #expect(cache.checkInvariants() == [])
  }
}
