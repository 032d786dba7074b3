import CisternTesting
import CisternTestSupport
import Locking
import Testing

@testable import CisternCore

/// A write during the migration of a record wins over the migrated value.
@Suite struct MigrationRaceTests {
  enum Interruption: CaseIterable, Sendable {
    case set, removal, clear, setAndRemoval, setAndTrim

    func apply(to cache: Cache<String, String>) {
      switch self {
      case .set: cache["a"] = "set"
      case .removal: cache.removeValue(forKey: "a")
      case .clear: cache.removeAll()
      case .setAndRemoval:
        cache["a"] = "set"
        cache.removeValue(forKey: "a")
      case .setAndTrim:
        cache["a"] = "set"
        cache.trim(toCost: 0)
      }
    }

    /// The value of the key afterwards.
    var left: String? {
      switch self {
      case .set, .setAndTrim: "set"
      case .removal, .clear, .setAndRemoval: nil
      }
    }
  }

  /// The operation that reads the old record.
  enum Reading: CaseIterable, Sendable {
    case lookUp, load, bytes

    func apply(to cache: Cache<String, String>) async throws {
      switch self {
      case .lookUp: _ = cache["a"]
      case .load: _ = try await cache.value(forKey: "a", policy: .cachedOrFetch) { _ in "fetched" }
      case .bytes: _ = cache.withBytes(forKey: "a") { _ in true }
      }
    }
  }

  @Test(arguments: Interruption.allCases, Reading.allCases)
  func `a write during a migration wins in both tiers`(interruption: Interruption, reading: Reading) async throws {
    for outcome in ["migrated", nil] as [String?] {
      let caches = VersionedCaches()
      try caches.open(version: 1)["a"] = "text"
      let target = Switch<Cache<String, String>>()
      let cache = try caches.open(version: 2) { _, _ in
        if let cache = target.take() { interruption.apply(to: cache) }
        return outcome
      }
      target.set(cache)
      let token = cache.observe { _ in }
      try await reading.apply(to: cache)
      // A load may have fetched the value after its removal.
      let left = cache["a"]
      #expect(left == interruption.left || (reading == .load && interruption.left == nil && left == "fetched"))
      cache.trim(toCost: 0)
      #expect(cache["a"] == left)
      #expect(cache.statistics.migrated == 0)
      #expect(cache.checkInvariants() == [])
      token.cancel()
      #expect(try caches.open(version: 2)["a"] == left)
    }
  }

  @Test func `readers and writers of old records in any order end with the last written value`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let tier = FaultInjectingTier(commits: executor.seed % 2 == 0 ? .immediate : .onDemand, taskExecutor: executor)
      let caches = VersionedCaches(tier: tier, executor: executor)
      let first = try caches.open(version: 1)
      for key in ["a", "b", "c"] { first[key] = "text" }
      try await tier.flush()
      let cache = try caches.open(version: 2, migrate: marking)
      let audit = ChangeRecord(present: ["a": "text of 1", "b": "text of 1", "c": "text of 1"])
      let token = cache.observe { audit.take($0) }
      var generator = SeededGenerator(seed: executor.seed)
      let plans = (0..<4).map { _ in (0..<6).map { _ in (generator.next(below: 7), generator.next(below: 3)) } }
      let written = WrittenTexts()
      let tasks = plans.enumerated().map { number, plan in
        Task(executorPreference: executor) {
          for (step, (action, which)) in plan.enumerated() {
            let key = ["a", "b", "c"][which]
            switch action {
            case 0 where number == 0:
              cache[key] = "\(number)-\(step)"
              written.set("\(number)-\(step)", for: key)
            case 1 where number == 0:
              cache.removeValue(forKey: key)
              written.set(nil, for: key)
            case 2: cache.trim(toCost: 0)
            case 3: tier.commit(1)
            case 4: _ = cache.withBytes(forKey: key) { _ in true }
            case 5: _ = try await cache.values(forKeys: [key]) { _ in [:] }
            default:
              let value = cache[key]
              let expected = written[key] ?? "text of 1"
              try #require(value == expected)
            }
            await Task.yield()
          }
        }
      }
      for task in tasks { try await task.value }
      for key in ["a", "b", "c"] {
        let expected = written[key] ?? "text of 1"
        try #require(cache[key] == expected)
        cache.trim(toCost: 0)
        try #require(cache[key] == expected)
      }
      try #require(cache.checkInvariants() == [])
      for _ in 0..<20 { await Task.yield() }
      try #require(audit.findings == [])
      token.cancel()
    }
  }
}

/// The last text of each key, or nil for a key that was not written.
private final class WrittenTexts: Sendable {
  private let texts = Guarded<[String: String?]>([:])

  func set(_ text: String?, for key: String) { texts.withLock { $0[key] = .some(text) } }
  subscript(key: String) -> String?? { texts.withLock { $0[key] } }
}

/// Follows the changes that an observer of texts receives, and records contradictions.
final class ChangeRecord: Sendable {
  private struct State {
    var values: [String: String]
    var findings: [String] = []
  }

  private let state: Guarded<State>

  init(present: [String: String] = [:]) {
    state = Guarded(State(values: present))
  }

  func take(_ change: Change<String, String>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, let value):
        if state.values.updateValue(value, forKey: key) != nil { state.findings.append("\(key) inserted twice") }
      case .updated(let key, let value):
        if state.values.updateValue(value, forKey: key) == nil { state.findings.append("\(key) updated while absent") }
      case .removed(let key, let cause):
        if state.values.removeValue(forKey: key) == nil { state.findings.append("\(key) removed twice: \(cause)") }
      case .cleared, .invalidated:
        state.values = [:]
      }
    }
  }

  var findings: [String] { state.withLock { $0.findings } }
}
