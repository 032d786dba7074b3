import Cistern
import CisternTesting
import CisternTestSupport
import Synchronization
import Testing

/// A count that orders nothing.
private final class Tally: Sendable {
  private let number = Atomic<Int>(0)
  var count: Int { number.load(ordering: .relaxed) }
  func add() { number.add(1, ordering: .relaxed) }
}

/// Real threads, for ThreadSanitizer, and for races between two instructions that no schedule of tasks reaches.
@Suite(.serialized)
struct CacheThreadsTests {
  private static let taskCount = 4
  private static let operationCount = 15_000

  @Test(arguments: [
    (100_000, EvictionPolicyKind.leastHitDensity), (30, .leastHitDensity), (30, .s3FIFO), (30, .lru),
    (1, .leastHitDensity),
  ])
  func `in memory no read is stale, limits hold, and nothing is left over`(
    limit: Int, policy: EvictionPolicyKind
  ) async throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.evictionPolicy = policy
    let cache = try Cache<Int, Int>(costLimit: limit, configuration: configuration)
    #expect(try await hammer(cache, tier: nil) == [])
    #expect(cache.statistics.memory.peakCost <= limit)
  }

  @Test(arguments: [(100_000, nil), (400, nil), (400, 40)] as [(Int, Int?)])
  func `over a second tier no read is stale, limits hold, and nothing is left over`(
    limit: Int, recordLimit: Int?
  ) async throws {
    let tier = FaultInjectingTier()
    tier.setRecordLimit(recordLimit)
    let store = try Store(secondTier: tier, memoryLimit: .bytes(limit))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    let faults = try await hammer(cache, tier: tier, operations: Self.operationCount / 2)
    #expect(faults == [])
    #expect(cache.statistics.memory.peakCost <= limit)
  }

  @Test func `over a disk no read is stale, limits hold, and nothing is left over`() async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.path, memoryLimit: .bytes(400), diskLimit: .mebibytes(8))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    #expect(try await hammer(cache, tier: nil, operations: Self.operationCount / 2) == [])
    #expect(cache.statistics.memory.peakCost <= 400)
    try await store.close()
  }

  @Test func `of many loads at the same instant one fetches, round after round`() async throws {
    let cache = try Cache<Int, Int>(costLimit: 1_000_000)
    let coalescer = Coalescer<Int, Int>()
    let fetches = Tally()
    let rounds = 4_000
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for round in 0..<rounds {
            let value = try await cache.value(forKey: round) { key in
              fetches.add()
              return key * 2
            }
            guard value == round * 2 else { throw Broken(number: round) }
            guard try await coalescer.value(forKey: round % 3, fetch: { $0 }) == round % 3 else {
              throw Broken(number: round)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(fetches.count == rounds)
    #expect(coalescer.flightCount == 0)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a retry from a catch block never meets the flight that failed`() async throws {
    let cache = try Cache<Int, Int>(costLimit: 1_000_000)
    let coalescer = Coalescer<Int, Int>()
    let lastError = Tally()
    try await withThrowingTaskGroup { group in
      for index in 0..<8 {
        group.addTask {
          let load: @Sendable () async throws -> Void = {
            let fetch: @Sendable (Int) async throws -> Int = { _ in
              await Task.yield()
              lastError.add()
              throw Broken(number: lastError.count)
            }
            if index % 2 == 0 {
              _ = try await cache.value(forKey: 1, fetch: fetch)
            } else {
              _ = try await coalescer.value(forKey: 1, fetch: fetch)
            }
          }
          var newest = 0
          for _ in 0..<4_000 {
            do { try await load() } catch let error as Broken {
              // The same one again would come from the flight that brought it before.
              guard error.number > newest else { throw error }
              newest = error.number
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(coalescer.flightCount == 0)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `cancelling waiters on other threads leaves no waiter and no flight`() async throws {
    let coalescer = Coalescer<Int, Int>()
    await withTaskGroup { group in
      for index in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(index))
          for _ in 0..<6_000 {
            let key = generator.next(below: 3)
            let load = Task {
              try await coalescer.value(forKey: key) { key in
                await Task.yield()
                return key
              }
            }
            if generator.next(below: 2) == 0 { await Task.yield() }
            if generator.next(below: 3) > 0 { load.cancel() }
            switch await outcome(load) {
            case .value(key), .cancelled: break
            case let other: Issue.record("\(other)")
            }
          }
        }
      }
    }
    // A cancelled flight may still be on its way out.
    while coalescer.flightCount > 0 { await Task.yield() }
    #expect(coalescer.flightCount == 0)
  }

  /// Performs random operations in several tasks. Returns the findings afterwards.
  private func hammer(
    _ cache: Cache<Int, Int>, tier: FaultInjectingTier?, operations: Int = operationCount
  ) async throws -> [String] {
    let history = ThreadHistory()
    let logs = await withTaskGroup(of: ThreadHistory.Log.self) { group in
      for index in 0..<Self.taskCount {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(index))
          var log = ThreadHistory.Log()
          for _ in 0..<operations {
            await Self.operate(on: cache, tier, history, &log, &generator)
          }
          return log
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
    return ThreadHistory.violations(in: logs) + cache.checkInvariants()
  }

  private static func operate(
    on cache: Cache<Int, Int>, _ tier: FaultInjectingTier?, _ history: ThreadHistory, _ log: inout ThreadHistory.Log,
    _ generator: inout SeededGenerator
  ) async {
    let key = generator.next(below: generator.next(below: 4) == 0 ? 500 : 20)
    let choice = generator.next(below: 1_000)
    let value = history.newValue()
    let called = history.tick()
    switch choice {
    case ..<150:
      cache[key] = value
      log.operations[key, default: []].append(.init(.write(value), called: called, returned: history.tick()))
    case ..<220:
      cache[key] = nil
      log.operations[key, default: []].append(.init(.removal, called: called, returned: history.tick()))
    case ..<222:
      cache.removeAll()
      let returned = history.tick()
      for key in 0..<500 {
        log.operations[key, default: []].append(.init(.removal, called: called, returned: returned))
      }
    case ..<400:
      // Whether it fetched, and whether that was stored, does not matter: the write may have happened.
      log.operations[key, default: []].append(.init(.write(value), called: called))
      let load = Task { try await cache.value(forKey: key) { _ in value } }
      if choice < 250 { load.cancel() }
      if case .value(let value) = await outcome(load) {
        log.operations[key, default: []].append(.init(.read(value), called: called, returned: history.tick()))
      }
    case ..<420:
      cache.trim(toCost: generator.next(below: 500))
    case ..<430:
      _ = cache.statistics
    case ..<440:
      tier?.evict(key, from: "numbers")
    default:
      let value = cache[key]
      log.operations[key, default: []].append(
        .init(value.map { .read($0) } ?? .miss, called: called, returned: history.tick()))
    }
  }
}
