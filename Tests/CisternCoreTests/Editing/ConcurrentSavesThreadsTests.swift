import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Saves of one draft on several threads.
struct ConcurrentSavesThreadsTests {
  /// A cache whose merges run an action of another thread once.
  private struct Subject {
    let store: Store
    let cache: Cache<String, Fields>
    let meanwhile: Recorder<@Sendable () -> Void>

    init() throws {
      let meanwhile = Recorder<@Sendable () -> Void>()
      let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        meanwhile.removeAll().forEach { $0() }
        return try mergeFields(cached, incoming)
      })
      self.meanwhile = meanwhile
      store = try Store(secondTier: FaultInjectingTier(commits: .immediate), memoryLimit: .mebibytes(1))
      cache = try store.cache("fields", of: Fields.self, keyedBy: String.self, configuration: configuration)
      cache["a"] = ["base": 1]
    }
  }

  /// Runs a save on another thread, and returns when it waits or has ended.
  private static func save(
    _ succeeded: Recorder<Bool>, orUntil isWaiting: () -> Bool, _ save: @escaping @Sendable () throws -> Void
  ) {
    do {
      try SystemThread.start {
        do {
          try save()
          succeeded.record(true)
        } catch {
          succeeded.record(false)
        }
      }
    } catch {
      fatalError("a thread could not be started: \(error)")
    }
    while succeeded.count == 0, !isWaiting() { sched_yield() }
  }

  /// Saves a draft twice: the second save is on another thread, and begins during a merge of the first one.
  private func checkConcurrentSaves(
    of subject: Subject, writesAgain: Bool, write: @escaping @Sendable (Fields) -> Void,
    save: @escaping @Sendable () throws -> Void, isWaiting: @escaping @Sendable () -> Bool
  ) async throws {
    let succeeded = Recorder<Bool>()
    write(["first": 1])
    subject.meanwhile.record {
      Self.save(succeeded, orUntil: isWaiting) {
        if writesAgain { write(["second": 1]) }
        try save()
      }
    }
    try save()
    while succeeded.count == 0 { await Task.yield() }
    #expect(succeeded.elements == [true] && subject.meanwhile.count == 0)
    let cache = subject.cache
    #expect(cache["a"] == (writesAgain ? ["base": 1, "first": 1, "second": 1] : ["base": 1, "first": 1]))
    #expect(cache.checkInvariants() == [] && cache.watchFindings == [])
  }

  @Test(arguments: [false, true])
  func `a save during another save of the same draft is no conflict`(writesAgain: Bool) async throws {
    let subject = try Subject()
    let draft = subject.cache.draft()
    try await checkConcurrentSaves(of: subject, writesAgain: writesAgain) {
      draft["a"] = $0
    } save: {
      try draft.save()
    } isWaiting: {
      draft.saves.waitingCount > 0
    }
    #expect(draft.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a save during another save of the same draft over several caches is no conflict`(
    writesAgain: Bool
  ) async throws {
    let subject = try Subject()
    let (cache, draft) = (subject.cache, subject.store.draft())
    try await checkConcurrentSaves(of: subject, writesAgain: writesAgain) {
      draft["a", in: cache] = $0
    } save: {
      try draft.save()
    } isWaiting: {
      draft.saves.waitingCount > 0
    }
    #expect(draft.isEmpty)
  }

  @Test func `a save in a closure of a save of the same draft does not wait for itself`() throws {
    let subject = try Subject()
    let draft = subject.cache.draft()
    draft["a"] = ["first": 1]
    subject.meanwhile.record { #expect(throws: Never.self) { try draft.save() } }
    // The outer save finds the value of the inner one.
    let error = #expect(throws: CisternError.self) { try draft.save() }
    #expect(error?.code == .conflict && draft.isEmpty)
    #expect(subject.cache["a"] == ["base": 1, "first": 1])
    #expect(subject.cache.watchFindings == [])
  }
}
