import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Writes during a fetch that has ended before its caller begins to wait.
extension ElapsedTimeoutTests {
  /// The write of the key during its fetch.
  enum Write: CaseIterable, Sendable {
    case none, set, removal, clear, removalByTag

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .none: break
      case .set: cache["a"] = 5
      case .removal: cache["a"] = nil
      case .clear: cache.removeAll()
      case .removalByTag: cache.removeAll(tagged: "tag")
      }
    }

    /// The value of a caller whose time is up; nil if the load throws.
    var value: Int? {
      switch self {
      case .none: -1
      case .set: 5
      case .removal, .clear, .removalByTag: nil
      }
    }
  }

  /// The end of the fetch.
  enum Ending: CaseIterable, Sendable {
    case value, values, outcome, keptStored, returnedOnly, absent, returnedAndRemoved, omitted, failure

    /// Loads a key, and writes it at the end of the fetch.
    func load(_ cache: Cache<String, Int>, policy: LoadPolicy, _ write: @escaping @Sendable () -> Void) async throws
      -> Int?
    {
      func load(_ outcome: FetchOutcome<Int>) async throws -> Int? {
        try await cache.load("a", policy: policy) { _ in
          write()
          return outcome
        }?.value
      }
      switch self {
      case .value, .failure:
        return try await cache.value(forKey: "a", policy: policy) { _ in
          write()
          if self == .failure { throw Broken() }
          return 1
        }
      case .values, .omitted:
        let loaded = try await cache.values(forKeys: ["a"], policy: policy) { _ in
          write()
          return self == .omitted ? [:] : ["a": 1]
        }
        if let error = loaded.failures["a"] { throw error }
        return loaded["a"]
      case .outcome: return try await load(.store(1))
      case .keptStored: return try await load(.keepStored())
      case .returnedOnly: return try await load(.returnOnly(1))
      case .absent: return try await load(.absent())
      case .returnedAndRemoved: return try await load(.returnAndRemove(1))
      }
    }
  }

  /// Returns a store whose fetches end before their callers wait.
  private func store(_ kind: SubjectKind, clock: ManualClock) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.taskExecutor = BlockingExecutor()
    configuration.clock = clock
    let tier = kind == .memory ? nil : FaultInjectingTier(commits: kind == .staging ? .onDemand : .immediate)
    return try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: configuration)
  }

  @Test(arguments: Ending.allCases, Write.allCases)
  func `a caller whose time is up gets no older value that was removed or replaced during a fetch that has ended`(
    ending: Ending, write: Write
  ) async throws {
    let policies = [
      LoadPolicy.freshElseStale.timingOut(after: .zero),
      .freshElseStale.returningStale(after: .zero).timingOut(after: .zero),
    ]
    for (policy, kind) in policies.flatMap({ policy in SubjectKind.caches.map { (policy, $0) } }) {
      let clock = ManualClock()
      let cache = try store(kind, clock: clock).cache("numbers", of: Int.self, keyedBy: String.self, expiry: .minute)
      cache.setValue(-1, forKey: "a", tags: ["tag"])
      clock.advance(by: .seconds(61))
      let load = Task { try await ending.load(cache, policy: policy) { write.apply(to: cache) } }
      if let expected = write.value {
        #expect(try await load.value == expected, "\(kind)")
      } else {
        let error = await #expect(throws: CisternError.self) { try await load.value }
        #expect(error?.code == .timedOut, "\(kind)")
      }
      #expect(cache.checkInvariants() == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a caller whose time is up gets the set value with the fetched one merged under it`(
    kind: SubjectKind
  ) async throws {
    let clock = ManualClock()
    let cache = try store(kind, clock: clock).cache(
      "fields", of: Fields.self, keyedBy: String.self, expiry: .minute,
      configuration: CacheConfiguration(merge: mergeFields))
    cache["a"] = ["old": 1]
    clock.advance(by: .seconds(61))
    let policy = LoadPolicy.freshElseStale.timingOut(after: .zero)
    let value = try await cache.value(forKey: "a", policy: policy) { _ in
      cache["a"] = ["set": 2]
      return ["fetched": 3]
    }
    #expect(value == ["old": 1, "set": 2, "fetched": 3] && value == cache["a"])
    #expect(cache.checkInvariants() == [])
  }
}
