import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Confirmed edits whose value no tier takes.
struct RefusedEditsTests {
  enum Refusal: CaseIterable, Sendable { case lifetime, lifetimeOfValue, encoding, size }

  /// Texts. One that begins with "!" cannot be encoded.
  private struct PickyCodec: Codec {
    func encode(_ value: String) throws -> [UInt8] {
      if value.hasPrefix("!") { throw Broken() }
      return Array(value.utf8)
    }

    func decode(_ bytes: [UInt8]) throws -> String { String(decoding: bytes, as: UTF8.self) }
  }

  private static func value(_ refusal: Refusal) -> String {
    switch refusal {
    case .lifetime: "edited"
    case .lifetimeOfValue: "-edited"
    case .encoding: "!edited"
    case .size: String(repeating: "x", count: 2_000)
    }
  }

  @Test(arguments: Refusal.allCases, [false, true])
  func `a confirmed edit that no tier takes removes the key for readers, observers and its caller`(
    refusal: Refusal, hasAnswer: Bool
  ) throws {
    for hasTier in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let tier = hasTier ? FaultInjectingTier(taskExecutor: executor) : nil
        tier?.setSizeLimit(1_000)
        var settings: Store.Configuration = .ignoringMemoryPressure
        settings.taskExecutor = executor
        let store = try Store(secondTier: tier, memoryLimit: .bytes(1_000), configuration: settings)
        var configuration = CacheConfiguration<String>()
        configuration.expiryOfValue = { $0.hasPrefix("-") ? .after(.zero) : nil }
        let cache = try store.cache(
          "texts", codec: PickyCodec(), keyedBy: String.self, configuration: configuration)
        cache["k"] = "old"
        let seen = Recorder<String?>()
        let token = cache.observeValue(forKey: "k") { seen.record($0) }
        let removals = Recorder<RemovalCause>()
        let other = cache.observe { if case .removed(_, let cause) = $0.event { removals.record(cause) } }
        let refused = cache.statistics.refused
        let value = Self.value(refusal)
        let confirmed = try await cache.editValue(
          forKey: "k", options: UpdateOptions(expiry: refusal == .lifetime ? .after(.zero) : nil)
        ) {
          _ in
          hasAnswer ? "shown" : value
        } confirmedBy: {
          try #require(cache["k"] == (hasAnswer ? "shown" : value))
          return hasAnswer ? value : nil
        }
        try #require(confirmed == nil)
        try #require(cache["k"] == nil)
        for _ in 0..<50 { await Task.yield() }
        try #require(seen.elements.first == "old" && seen.elements.last == .some(nil))
        try #require(removals.elements == [.refused])
        try #require(cache.statistics.refused == refused + 1)
        try #require(cache.checkInvariants() == [])
        token.cancel()
        other.cancel()
      }
    }
  }

  @Test func `an edit above a refused one is applied to no value, and observers receive it`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let audit = FieldsAudit(base: ["k": ["base": 1]])
      let token = cache.observe { audit.take($0) }
      let gate = Gate()
      let first = Gate()
      let refused = subject.task {
        try await cache.editValue(forKey: "k", options: UpdateOptions(expiry: .after(.zero))) {
          $0?.merging(["refused": 1]) { $1 }
        } confirmedBy: {
          await first.passUncancelled()
          return nil
        }
      }
      await first.arrivals(atLeast: 1)
      let edit = subject.edit("edited", gate: gate)
      await gate.arrivals(atLeast: 1)
      first.open()
      try #require(try await refused.value == nil)
      try #require(cache["k"] == ["edited": 1])
      for _ in 0..<50 { await Task.yield() }
      try #require(audit.values["k"] == ["edited": 1])
      gate.open()
      try #require(try await edit.value == ["edited": 1])
      for _ in 0..<50 { await Task.yield() }
      try #require(audit.findings == [])
      try #require(subject.findings == [])
      token.cancel()
    }
  }
}
