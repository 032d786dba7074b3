import Cistern
import CisternTesting
import CisternTestSupport
import Testing

/// Records of another process, while this process ends, removes or rewrites the older ones that it has read.
@Suite(.serialized) struct OtherProcessRecordTests {
  /// A cache with a record of `key-0`. Only flushes commit.
  private struct Subject {
    let scratch = TemporaryDirectory()
    let clock = ManualClock()
    let store: Store
    let cache: Cache<String, [UInt8]>

    init(expiry: Expiry = .never, schema: CacheSchema<[UInt8]>? = nil) async throws {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.durability = .processCrash
      configuration.commitInterval = .seconds(3600)
      configuration.clock = clock
      let open = { [scratch] in
        try Store(
          directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16), configuration: configuration)
      }
      if schema != nil {
        let unversioned = try open()
        let cache = try unversioned.cache("cache", of: [UInt8].self, keyedBy: String.self, expiry: expiry)
        cache["key-0"] = [0]
        try await unversioned.close()
      }
      store = try open()
      var settings = CacheConfiguration<[UInt8]>()
      settings.schema = schema
      cache = try store.cache(
        "cache", of: [UInt8].self, keyedBy: String.self, expiry: expiry, configuration: settings)
      if schema == nil { cache["key-0"] = [0] }
      try await store.flush()
    }

    /// Replaces the record in another process, by one without a lifetime and with the value 7.
    func replaceElsewhere() throws {
      let child = try ChildProcess("replace", scratch.store, "\(16 << 20)", "processCrash")
      #expect(child.readLine() == "replaced")
      _ = child.kill()
    }

    /// Commits, and expects the other process's record on disk.
    func expectRecord(_ value: [UInt8] = [7], _ comment: Comment? = nil) async throws {
      try await store.flush()
      cache.trim(toCost: 0)
      #expect(cache["key-0"] == value, comment)
      try await store.close()
    }
  }

  /// A way in which a copy in memory is found to have expired.
  enum Way: CaseIterable, Sendable {
    case lookUp, load, cachedOnly, bulkLoad

    func value(of cache: Cache<String, [UInt8]>) async throws -> [UInt8]? {
      switch self {
      case .lookUp: return cache["key-0"]
      case .load: return try await cache.value(forKey: "key-0") { _ in [1] }
      case .cachedOnly: return try cache.cachedValue(forKey: "key-0").value
      case .bulkLoad: return try await cache.values(forKeys: ["key-0"]) { _ in ["key-0": [1]] }.values["key-0"]
      }
    }
  }

  @Test(arguments: Way.allCases, [false, true])
  func `a copy in memory that expires leaves the newer record of another process`(
    way: Way, isObserved: Bool
  ) async throws {
    let subject = try await Subject(expiry: .after(.seconds(60)))
    let changes = Recorder<String>()
    let token = isObserved ? subject.cache.observe { changes.record("\($0.event)") } : nil
    try subject.replaceElsewhere()
    #expect(subject.cache["key-0"] == [0])
    subject.clock.advance(by: .seconds(61))
    #expect(try await way.value(of: subject.cache) == [7])
    subject.cache["end"] = [1]
    while isObserved, changes.elements.last?.contains("end") != true { await Task.yield() }
    #expect(changes.count == (isObserved ? 1 : 0), "\(changes.elements)")
    try await subject.expectRecord()
    token?.cancel()
  }

  @Test(arguments: [false, true])
  func `a check for a key agrees with its look-up after the copy in memory expires`(isReplaced: Bool) async throws {
    let subject = try await Subject(expiry: .after(.seconds(60), graceStale: .seconds(60)))
    if isReplaced { try subject.replaceElsewhere() }
    #expect(subject.cache.contains("key-0"))
    subject.clock.advance(by: .seconds(61))
    #expect(!subject.cache.contains("key-0"))
    #expect(subject.cache["key-0"] == nil)
    subject.clock.advance(by: .seconds(60))
    #expect(subject.cache.contains("key-0") == isReplaced)
    #expect(subject.cache["key-0"] == (isReplaced ? [7] : nil))
    #expect(subject.cache.contains("key-0") == isReplaced)
    try await subject.store.close()
  }

  @Test(arguments: [false, true])
  func `an update after the copy in memory expires begins with the newer record of another process`(
    isObserved: Bool
  ) async throws {
    let subject = try await Subject(expiry: .after(.seconds(60)))
    let token = isObserved ? subject.cache.observe { _ in } : nil
    try subject.replaceElsewhere()
    #expect(subject.cache["key-0"] == [0])
    subject.clock.advance(by: .seconds(61))
    subject.cache.updateValue(forKey: "key-0") { $0 = ($0 ?? []) + [1] }
    #expect(subject.cache["key-0"] == [7, 1])
    try await subject.expectRecord([7, 1])
    token?.cancel()
  }

  @Test func `the staged removal of an expired record leaves the newer record of another process`() async throws {
    let subject = try await Subject(expiry: .after(.seconds(60)))
    subject.clock.advance(by: .seconds(61))
    #expect(subject.cache["key-0"] == nil)
    try subject.replaceElsewhere()
    #expect(subject.cache["key-0"] == [7])
    try await subject.expectRecord()
  }

  @Test(arguments: [false, true])
  func `an edit that fails over an expired value leaves the newer record of another process`(isEarly: Bool)
    async throws
  {
    let subject = try await Subject(expiry: .after(.seconds(60)))
    let cache = subject.cache
    let gate = Gate()
    let changes = Recorder<String>()
    let token = cache.observe { changes.record("\($0.event)") }
    let edit = Task {
      try await cache.editValue(forKey: "key-0") { _ in
        [1]
      } confirmedBy: {
        await gate.passUncancelled()
        throw CancellationError()
      }
    }
    await gate.arrivals(atLeast: 1)
    subject.clock.advance(by: .seconds(61))
    if isEarly { try subject.replaceElsewhere() }
    gate.open()
    _ = await edit.result
    if !isEarly {
      #expect(cache["key-0"] == nil)
      try subject.replaceElsewhere()
    }
    #expect(cache["key-0"] == [7])
    cache["end"] = [1]
    while changes.elements.last?.contains("end") != true { await Task.yield() }
    #expect(changes.elements.count { $0.contains("removed") } == (isEarly ? 0 : 1), "\(changes.elements)")
    try await subject.expectRecord()
    token.cancel()
  }

  @Test func `the removal of a record that cannot be migrated leaves the newer record of another process`()
    async throws
  {
    let schema = CacheSchema<[UInt8]>(version: 1) { bytes, _ in
      if bytes == [0] { throw CancellationError() }
      return bytes + [1]
    }
    let subject = try await Subject(schema: schema)
    #expect(subject.cache["key-0"] == nil)
    try subject.replaceElsewhere()
    try await subject.expectRecord([7, 1])
  }

  @Test(arguments: [false, true])
  func `a use that is written leaves the newer record of another process`(isInMemory: Bool) async throws {
    let subject = try await Subject(expiry: .idle(.seconds(100)))
    subject.clock.advance(by: .seconds(30))
    if !isInMemory { subject.cache.trim(toCost: 0) }
    #expect(subject.cache["key-0"] == [0])
    try subject.replaceElsewhere()
    try await subject.expectRecord()
  }
}
