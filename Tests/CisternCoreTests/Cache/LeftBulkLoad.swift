import CisternCore
import CisternTestSupport
import CisternTesting

/// A bulk load of the keys "a" and "bb" whose caller left, while another caller waits for "bb".
struct LeftBulkLoad: Sendable {
  typealias Contexts = [FetchContext<String, Int>]

  /// The form of the bulk load, and of its fetch.
  struct Form: Sendable {
    var policy: LoadPolicy?
    var tags: [String] = []
    /// Whether the fetch ends only when the gate opens, even if it is cancelled.
    var ignoresCancellation = false
    /// Whether the caller leaves at a timeout of ten seconds, and not because it is cancelled.
    var timesOut = false
    /// The number of the first attempts that fail.
    var failures = 0
    /// The end of the fetch, after the gate.
    var ending: @Sendable () async throws -> Void = {}
  }

  let subject: Subject
  /// The gate at which the fetch waits.
  let gate: Gate
  /// The keys of each call of the fetch.
  let calls: Recorder<Set<String>>
  /// Whether the fetch was cancelled when it ended.
  let cancellations: Recorder<Bool>
  /// The contexts of the fetch.
  let contexts: Recorder<FetchContext<String, Int>>
  /// The caller that waits for "bb".
  let other: Task<Int, any Error>

  /// Starts the loads, and returns after the caller of the bulk load left.
  init(_ subject: Subject, _ form: Form = Form()) async throws {
    let (gate, calls, cancellations) = (Gate(), Recorder<Set<String>>(), Recorder<Bool>())
    let contexts = Recorder<FetchContext<String, Int>>()
    let policy = (form.policy ?? .cachedOrFetch).timingOut(after: form.timesOut ? .seconds(10) : .seconds(3_600))
    let bulk = Task(executorPreference: subject.executor) {
      try await subject.cache.load(keys: ["a", "bb"], policy: policy) { fetched in
        calls.record(Set(fetched.map(\.key)))
        for context in fetched { contexts.record(context) }
        defer { cancellations.record(Task.isCancelled) }
        if form.ignoresCancellation { await gate.passUncancelled() } else { try await gate.pass() }
        if fetched[0].attempt <= form.failures { throw Broken() }
        try await form.ending()
        return Dictionary(
          uniqueKeysWithValues: fetched.map { ($0.key, .store($0.key.count * 100, tags: form.tags)) })
      }
    }
    await gate.arrivals(atLeast: 1)
    let joins = subject.cache.statistics.joins
    other = subject.load("bb", policy: form.policy) { _ in -2 }
    while subject.cache.statistics.joins == joins { await Task.yield() }
    if form.timesOut {
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(10))
    } else {
      bulk.cancel()
    }
    _ = await bulk.result
    (self.subject, self.gate, self.calls, self.cancellations) = (subject, gate, calls, cancellations)
    self.contexts = contexts
  }

  /// The context of a key.
  func context(of key: String) -> FetchContext<String, Int>? { contexts.elements.first { $0.key == key } }

  /// Starts a load of "a" that must not fetch, in one of several forms, and waits until it has joined.
  func joinA(_ form: JoinForm) async -> Task<Int?, any Error> {
    let cache = subject.cache
    let joins = cache.statistics.joins
    let task = Task(executorPreference: subject.executor) { () async throws -> Int? in
      switch form {
      case .plain: try await cache.value(forKey: "a") { _ in -1 }
      case .reload: try await cache.value(forKey: "a", policy: .reload) { _ in -1 }
      case .withContext: try await cache.load("a") { _ in .store(-1) }?.value
      case .bulk: try await cache.values(forKeys: ["a"]) { _ in ["a": -1] }["a"]
      case .bulkWithContexts: try await cache.load(keys: ["a"]) { _ in ["a": .store(-1)] }["a"]
      case .withTimeout:
        try await cache.value(forKey: "a", policy: .cachedOrFetch.timingOut(after: .seconds(1_000))) { _ in -1 }
      }
    }
    while cache.statistics.joins == joins { await Task.yield() }
    return task
  }

  enum JoinForm: CaseIterable, Sendable {
    case plain, reload, withContext, bulk, bulkWithContexts, withTimeout
  }
}
