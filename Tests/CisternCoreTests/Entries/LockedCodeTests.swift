import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// No user code runs under a lock, except a key's `hash(into:)` and `==`. The code in these tests uses the cache, and
/// would deadlock under a lock.
struct LockedCodeTests {
  private static func configuration(_ policy: EvictionPolicyKind = .s3FIFO) -> Store.Configuration {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = 1
    configuration.evictionPolicy = policy
    return configuration
  }

  @Test func `the priority escalation handler of a fetch can use the cache`() async throws {
    let cache = try Cache<Int, Int>(costLimit: 10, configuration: Self.configuration())
    let gate = Gate()
    let escalations = Recorder<TaskPriority>()
    let first = Task(priority: .low) {
      try await cache.value(forKey: 1) { _ in
        await withTaskPriorityEscalationHandler {
          await gate.passUncancelled()
          return 1
        } onPriorityEscalated: { _, priority in
          _ = cache[2]
          escalations.record(priority)
        }
      }
    }
    await gate.arrivals(atLeast: 1)
    let second = Task(priority: .high) { try await cache.value(forKey: 1) { _ in 2 } }
    while cache.statistics.joins == 0 { await Task.yield() }
    while escalations.count == 0 { await Task.yield() }
    gate.open()
    #expect(try await first.value == 1)
    #expect(try await second.value == 1)
    #expect(escalations.elements.first == .high)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a value can use the cache when it is released, for every cause of its release`(policy: EvictionPolicyKind)
    async throws
  {
    let clock = ManualClock()
    var configuration = Self.configuration(policy)
    configuration.clock = clock
    let cache = try Cache<Int, Visitor>(costLimit: 5, configuration: configuration)
    let gone = Recorder<Bool>()
    @Sendable func visitor() -> Visitor {
      Visitor { [weak cache] in
        _ = cache?.contains(1)
        gone.record(true)
      }
    }
    func expect(_ count: Int, _ way: Comment) { #expect(gone.count == count, way) }
    cache[1] = visitor()
    cache[1] = visitor()
    expect(1, "replaced")
    cache[1] = nil
    expect(2, "removed")
    for key in 0..<6 { cache[key] = visitor() }
    expect(3, "evicted")
    cache.trim(toCost: 4)
    expect(4, "trimmed")
    cache.removeAll()
    expect(8, "cleared")
    cache.setValue(visitor(), forKey: 1, expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    #expect(cache[1] == nil)
    expect(9, "expired")
    cache.setValue(visitor(), forKey: 1, expiry: .after(.zero))
    expect(10, "refused")
    _ = try await cache.value(forKey: 1, expiry: .after(.seconds(1))) { _ in visitor() }
    clock.advance(by: .seconds(2))
    _ = try await cache.value(forKey: 1) { _ in visitor() }
    cache.removeValue(forKey: 1)
    while gone.count < 12 { await Task.yield() }
    expect(12, "loaded, expired and removed")
  }

  /// The end of an announced value in a flight.
  enum AnnouncementEnd: CaseIterable, Sendable { case withdrawal, completion, completionWithWaiter }

  @Test(arguments: AnnouncementEnd.allCases)
  func `an announced value is released outside the lock of its flight`(end: AnnouncementEnd) async {
    let flight = Flight<Visitor>(priority: .medium)
    let isLocked = Recorder<Bool>()
    func announce() {
      let visitor = Visitor { [unowned flight] in
        isLocked.record(!flight.lock.withLockIfAvailable { _ in })
      }
      #expect(flight.announce(visitor))
    }
    announce()
    #expect(isLocked.count == 0)
    switch end {
    case .withdrawal:
      flight.withdrawAnnouncement()
    case .completion:
      flight.complete(.lookAgain)
    case .completionWithWaiter:
      guard case .joined(let waiter, _) = flight.join(Urgency(.medium)) else {
        Issue.record("the flight takes no waiter")
        return
      }
      flight.complete(.lookAgain)
      flight.withdraw(waiter)
    }
    #expect(isLocked.elements == [false])
  }

  @Test func `an announced value can load its key when an invalidation ends the announcement`() async throws {
    let cache = try Cache<Int, Visitor>(costLimit: 10, configuration: Self.configuration())
    let (announced, end) = (Gate(), Gate())
    let gone = Recorder<Bool>()
    let first = Task {
      _ = try await cache.load(1) { context in
        context.announce(
          Visitor { [weak cache] in
            // A load that joins the flight takes the shard's lock, and then the flight's.
            _ = cache?.refresh(1) { _ in .absent() }
            gone.record(true)
          })
        try await announced.pass()
        try await end.pass()
        return .store(Visitor {})
      }
    }
    await announced.arrivals(atLeast: 1)
    try await first.value
    cache.removeAll(tagged: "news")
    let second = Task { _ = try await cache.value(forKey: 1) { _ in Visitor {} } }
    while gone.count == 0 { await Task.yield() }
    announced.open()
    end.open()
    try await second.value
    #expect(gone.count == 1)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a key can use the cache when it is released, for every cause of its release`(policy: EvictionPolicyKind)
    async throws
  {
    let cache = try Cache<CarryingKey, Int>(costLimit: 2, configuration: Self.configuration(policy))
    let gone = Recorder<Bool>()
    @Sendable func set(_ number: Int) {
      let visitor = Visitor { [weak cache] in
        _ = cache?.contains(CarryingKey(number: 1))
        gone.record(true)
      }
      cache[CarryingKey(number: number, carried: visitor)] = number
    }
    set(1)
    cache[CarryingKey(number: 1)] = nil
    #expect(gone.count == 1, "removed")
    for number in 1...3 { set(number) }
    #expect(gone.count == 2, "evicted")
    cache.trim(toCost: 1)
    #expect(gone.count == 3, "trimmed")
    cache.removeAll()
    #expect(gone.count == 4, "cleared")
  }

  @Test func `a key can use the cache when it is released after its last watch`() throws {
    let cache = try Cache<CarryingKey, Int>(costLimit: 2, configuration: Self.configuration())
    let gone = Recorder<Bool>()
    cache[CarryingKey(number: 1)] = 1
    let (first, second) = (cache.draft(), cache.draft())
    do {
      let visitor = Visitor { [weak cache] in
        _ = cache?.contains(CarryingKey(number: 1))
        gone.record(true)
      }
      _ = first.value(forKey: CarryingKey(number: 1, carried: visitor))
    }
    _ = second.value(forKey: CarryingKey(number: 1))
    first.discard()
    #expect(gone.count == 0)
    second.discard()
    #expect(gone.count == 1)
  }

  @Test func `a key is released outside the lock of a draft when its nested drafts no longer use it`() throws {
    let cache = try Cache<CarryingKey, Int>(costLimit: 2, configuration: Self.configuration())
    // The cache has the key of this draft, so that the draft below the nested ones has the last copy of theirs.
    let other = cache.draft()
    _ = other.value(forKey: CarryingKey(number: 1))
    let outer = cache.draft()
    let (first, second) = (outer.draft(), outer.draft())
    let isUnlocked = Recorder<Bool>()
    do {
      let visitor = Visitor { [unowned outer] in isUnlocked.record(outer.state.withLockIfAvailable { _ in }) }
      _ = first.value(forKey: CarryingKey(number: 1, carried: visitor))
    }
    _ = second.value(forKey: CarryingKey(number: 1))
    first.discard()
    #expect(isUnlocked.count == 0)
    second.discard()
    #expect(isUnlocked.elements == [true])
    withExtendedLifetime((other, outer)) {}
  }

  @Test func `a key is released outside the lock of a draft when a removal follows merged values`() throws {
    let cache = try Cache<CarryingKey, Int>(
      settings: CacheConfiguration(merge: { $0 + $1 }), configuration: Self.configuration())
    let draft = cache.draft()
    let isUnlocked = Recorder<Bool>()
    draft[CarryingKey(number: 1)] = 1
    do {
      let visitor = Visitor { [unowned draft] in isUnlocked.record(draft.state.withLockIfAvailable { _ in }) }
      draft[CarryingKey(number: 1, carried: visitor)] = 2
    }
    #expect(isUnlocked.count == 0 && draft[CarryingKey(number: 1)] == 3)
    draft[CarryingKey(number: 1)] = nil
    #expect(isUnlocked.elements == [true])
  }

  @Test func `the edits of a key return its last copy when they are removed in its critical section`() {
    let edits = EditedKeys<CarryingKey, Int>()
    let gone = Recorder<Bool>()
    let edited = EditedKeys<CarryingKey, Int>.Edited(queue: EditQueue(base: 1), timing: .plain(until: .distantFuture))
    do {
      let key = CarryingKey(number: 1, carried: Visitor { gone.record(true) })
      _ = edits.set(edited, for: key)
    }
    do {
      let replaced = edits.set(edited, for: CarryingKey(number: 1))
      let removed = edits.set(nil, for: CarryingKey(number: 1))
      #expect(gone.count == 0)
      withExtendedLifetime((replaced, removed)) {}
    }
    #expect(gone.count == 1 && edits.isEmpty)
  }

  @Test func `a key can use the cache when it is released after its last unconfirmed edit`() async throws {
    let cache = try Cache<CarryingKey, Int>(costLimit: 2, configuration: Self.configuration())
    let (gone, gate) = (Recorder<Bool>(), Gate())
    let later = Recorder<Task<Void, any Error>>()
    // The cache has the keys of this value and this draft, so that the edits have the last copy of theirs.
    cache[CarryingKey(number: 1)] = 1
    let draft = cache.draft()
    _ = draft.value(forKey: CarryingKey(number: 1))
    @Sendable func editLater() async throws {
      _ = try await cache.editValue(forKey: CarryingKey(number: 1)) { value in
        (value ?? 0) + 1
      } confirmedBy: {
        await gate.passUncancelled()
        return nil
      }
    }
    do {
      let visitor = Visitor { [weak cache] in
        _ = cache?.contains(CarryingKey(number: 1))
        gone.record(true)
      }
      let key = CarryingKey(number: 1, carried: visitor)
      _ = try await cache.editValue(forKey: key) { value in
        (value ?? 0) + 1
      } confirmedBy: {
        later.record(Task { try await editLater() })
        await gate.arrivals(atLeast: 1)
        return nil
      }
    }
    #expect(gone.count == 0)
    gate.open()
    for task in later.elements { try await task.value }
    #expect(gone.count == 1 && cache[CarryingKey(number: 1)] == 3)
    withExtendedLifetime(draft) {}
  }
}
