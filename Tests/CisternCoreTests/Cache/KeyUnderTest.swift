import CisternCore
import CisternTesting
import CisternTestSupport

/// One key of a cache to which events happen, with a record of all observations. All values are odd, and have the tag
/// "odd".
struct KeyUnderTest: Sendable {
  static let key = "a"
  static let lifetime = Duration.seconds(10)

  let subject: Subject
  let recorder = HistoryRecorder()
  let audit = ChangeAudit()
  private let fetches = Recorder<Int>()

  init(_ kind: SubjectKind, on executor: SeededExecutor) throws {
    var settings = CacheConfiguration<Int>()
    settings.tagsOfValue = { _ in ["odd"] }
    subject = try Subject(
      kind, on: executor, completesAbandonedFlights: executor.seed % 2 == 0,
      expiry: .after(Self.lifetime, graceStale: Self.lifetime), settings: settings)
  }

  private var cache: Cache<String, Int> { subject.cache }

  /// Brings the key into a state.
  func enter(_ state: KeyState) async {
    switch state {
    case .absent: break
    case .inProgress: await beginLoad()
    case .fresh: set()
    case .onDiskOnly:
      set()
      cache.trim(toCost: 0)
    case .stale:
      set()
      advance()
    case .refreshing:
      set()
      advance()
      await beginLoad()
    }
  }

  /// Begins a load, and returns once its fetch runs. The load records its result.
  private func beginLoad() async {
    Task(executorPreference: subject.executor) { await load(.cachedOrFetch) }
    while fetches.count == 0 { await Task.yield() }
  }

  /// Performs an event.
  func happen(_ event: KeyEvent, _ generator: inout SeededGenerator) async {
    let called = recorder.tick()
    switch event {
    case .lookUp: lookUp()
    case .load: await load(.cachedOrFetch)
    case .staleLoad: await load(.freshElseStale)
    case .reload: await load(.reload)
    case .cancelledLoad:
      let task = Task(executorPreference: subject.executor) { await load(.cachedOrFetch) }
      await pause(&generator)
      task.cancel()
      await task.value
    case .bulkLoad:
      let loaded = try? await cache.values(forKeys: [Self.key]) { _ in [Self.key: try await fetch(calledAt: called)] }
      if let value = loaded?[Self.key] { recorder.record(.read(value), on: Self.key, called: called) }
    case .set: set()
    case .commitlessUpdate: write { value in cache.updateValue(forKey: Self.key) { $0 = value } }
    case .asynchronousUpdate:
      let value = newValue()
      recorder.recordPossibleWrite(of: value, on: Self.key, called: called)
      try? await cache.updateValue(forKey: Self.key) { stored async in
        await Task.yield()
        stored = value
      }
    case .batch: write { value in try? cache.batch { $0.setValue(value, forKey: Self.key) } }
    case .draft:
      write { value in
        let draft = cache.draft()
        draft.setValue(value, forKey: Self.key)
        try? draft.save(onConflict: .mine)
      }
    case .edit:
      let value = newValue()
      recorder.recordPossibleWrite(of: value, on: Self.key, called: called)
      _ = try? await cache.editValue(forKey: Self.key) { _ in
        value
      } confirmedBy: {
        nil
      }
    case .batchedRemoval: remove { try? cache.batch { $0.removeValue(forKey: Self.key) } }
    case .remove: remove { cache.removeValue(forKey: Self.key) }
    case .removeAll: remove { cache.removeAll() }
    case .removeByTag: remove { cache.removeAll(tagged: "odd") }
    case .removeByPrefix: remove { cache.removeAll(withPrefix: "a") }
    case .trim: cache.trim(toCost: 0)
    case .becomeStale: advance()
    case .expire:
      advance()
      advance()
    case .commitBehind: subject.tier?.commit(1 + generator.next(below: 3))
    case .loseRecord: if let tier = subject.tier { _ = tier.evict(Self.key, from: cache.name) }
    }
  }

  /// Returns findings after all flights have ended.
  func findings() async -> [String] {
    while subject.inProgressCount > 0 { await Task.yield() }
    for _ in 0..<2 {
      lookUp()
      cache.trim(toCost: 0)
    }
    return recorder.violations + subject.findings + audit.findings
  }

  /// A lookup of a fresh value may miss while a stale value is present, so both are read.
  private func lookUp() {
    let called = recorder.tick()
    let value = cache[Self.key] ?? cache.value(forKey: Self.key, staleUpTo: Self.lifetime)
    recorder.record(value.map { .read($0) } ?? .miss, on: Self.key, called: called)
  }

  private func advance() { subject.clock.advance(by: Self.lifetime + .nanoseconds(1)) }

  private func newValue() -> Int { 2 * recorder.newValue() + 1 }

  private func set() { write { cache[Self.key] = $0 } }

  private func write(_ body: (Int) -> Void) {
    let (called, value) = (recorder.tick(), newValue())
    body(value)
    recorder.record(.write(value), on: Self.key, called: called)
  }

  private func remove(_ body: () -> Void) {
    let called = recorder.tick()
    body()
    recorder.record(.removal, on: Self.key, called: called)
  }

  private func load(_ policy: LoadPolicy) async {
    let called = recorder.tick()
    let value = try? await subject.value(Self.key, policy: policy) { _ in try await fetch(calledAt: called) }
    if let value { recorder.record(.read(value), on: Self.key, called: called) }
  }

  /// Returns a new value. Its possible write begins with the load that leads the flight.
  private func fetch(calledAt called: UInt64) async throws -> Int {
    let value = newValue()
    recorder.recordPossibleWrite(of: value, on: Self.key, called: called)
    fetches.record(value)
    await Task.yield()
    if value % 7 == 0 { throw Broken(number: value) }
    await Task.yield()
    return value
  }
}
