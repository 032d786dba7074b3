import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Synchronization
import Testing

/// Observation on real threads. The work is bounded and uses no clock.
@Suite struct ObservingThreadsTests {
  /// Reports its deinitialization. If it is freed under a lock, the test deadlocks, because `onDeinit` takes that
  /// lock.
  private final class Witness: Sendable {
    let number: Int
    let onDeinit: @Sendable () -> Void

    init(_ number: Int, onDeinit: @escaping @Sendable () -> Void) {
      self.number = number
      self.onDeinit = onDeinit
    }

    deinit { onDeinit() }
  }

  @Test func `with many writers and a lock per key, each observer receives its keys' changes in order`() async {
    let registry = ObserverRegistry<Int, Int>(taskExecutor: nil)
    let shards = Shards(count: 4)
    let heard = (0..<3).map { _ in Recorder<Change<Int, Int>>() }
    let tokens = Observations()
    let (ends, end) = AsyncStream<Void>.makeStream()
    for (index, scope) in [ObservationScope<Int>.all, .keys([0, 2]), .key(3)].enumerated() {
      registry.observe(scope) { change in
        heard[index].record(change)
        if change.key == nil { end.yield() }
      }.store(in: tokens)
    }
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for step in 0..<2_000 { shards.increment(step % 4, registry) }
        }
      }
    }
    registry.change(.cleared)
    var finished = ends.makeAsyncIterator()
    for _ in 0..<3 { await finished.next() }

    for (index, keys) in [[0, 1, 2, 3], [0, 2], [3]].enumerated() {
      let changes = heard[index].elements
      #expect(changes.count == keys.count * 2_000 + 1)
      for key in keys {
        let own = changes.filter { $0.key == key }
        #expect(own.compactMap(\.value) == Array(1...2_000))
        #expect(zip(own, own.dropFirst()).allSatisfy { $0.number < $1.number })
      }
    }
  }

  @Test func `concurrent registrations, cancellations and writes neither lose nor invent changes`() async {
    let registry = ObserverRegistry<Int, Int>(taskExecutor: nil)
    let shards = Shards(count: 2)
    let roundsWithChanges = Recorder<Int>()
    await withTaskGroup { group in
      for key in 0..<2 {
        group.addTask { for _ in 0..<3_000 { shards.increment(key, registry) } }
      }
      for _ in 0..<2 {
        group.addTask {
          for round in 0..<200 {
            let heard = Recorder<Int>()
            let token = registry.observe(round.isMultiple(of: 2) ? .all : .key(1)) { change in
              if change.key == 1, let value = change.value { heard.record(value) }
            }
            await Task.yield()
            if round.isMultiple(of: 5) {
              // The writers may have ended.
              shards.increment(1, registry)
              while heard.count == 0 { await Task.yield() }
            }
            token.cancel()
            let values = heard.elements
            #expect(values.isEmpty || values == Array(values[0]...(values[0] + values.count - 1)))
            if !values.isEmpty { roundsWithChanges.record(round) }
          }
        }
      }
    }
    #expect(roundsWithChanges.count > 0)
    #expect(!registry.isObserved)
  }

  @Test func `consumers that are cancelled at random instants all end, and saw no gap before`() async {
    let registry = ObserverRegistry<Int, Int>(taskExecutor: nil)
    let shards = Shards(count: 1)
    let roundsWithChanges = Recorder<Int>()
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for round in 0..<150 {
            let updates = registry.updates(.all, buffering: .bounded(1_000_000))
            let received = Recorder<Int>()
            let consumer = Task {
              for await change in updates {
                if let value = change.value { received.record(value) }
              }
            }
            for _ in 0..<10 { shards.increment(0, registry) }
            // In the other rounds, the cancellation may precede the first change.
            if round.isMultiple(of: 5) {
              while received.count == 0 { await Task.yield() }
            }
            consumer.cancel()
            await consumer.value
            let values = received.elements
            #expect(values.isEmpty || values == Array(values[0]...(values[0] + values.count - 1)))
            if !values.isEmpty { roundsWithChanges.record(round) }
          }
        }
      }
    }
    #expect(roundsWithChanges.count > 0)
    #expect(!registry.isObserved)
  }

  @Test func `no value is freed under a lock, and each is freed exactly once`() async {
    let registry = ObserverRegistry<Int, Witness>(taskExecutor: nil)
    let freed = Atomic<Int>(0)
    func change(_ number: Int) {
      // The deinitializer takes the lock of the registry and of each mailbox.
      let witness = Witness(number) { [weak registry] in
        freed.add(1, ordering: .relaxed)
        registry?.record(.removed(-1, .explicit))
        registry?.deliver()
      }
      registry.record(.updated(number % 3, witness))
    }
    do {
      let token = registry.observe(.keys([0, 1, 2])) { _ in }
      let newest = registry.updates(.keys([0, 1, 2]), buffering: .newestPerKey)
      let bounded = registry.updates(.keys([0, 1, 2]), buffering: .bounded(3))
      for number in 0..<300 {
        change(number)
        registry.deliver()
      }
      for await change in bounded where change.value?.number == 299 { break }
      _ = newest
      token.cancel()
    }
    #expect(!registry.isObserved)
    // The handler's task may still hold the last delivered value.
    #expect(freed.load(ordering: .relaxed) >= 299)
  }
}

/// Counters, each behind its lock like the shards of a cache: a change is recorded inside the lock and delivered
/// outside it.
private final class Shards: Sendable {
  private final class Shard: Sendable {
    let value = Guarded(0)
  }

  private let shards: [Shard]

  init(count: Int) {
    shards = (0..<count).map { _ in Shard() }
  }

  func increment(_ key: Int, _ registry: ObserverRegistry<Int, Int>) {
    shards[key].value.withLock { value in
      value += 1
      registry.record(value == 1 ? .inserted(key, value) : .updated(key, value))
    }
    registry.deliver()
  }
}
