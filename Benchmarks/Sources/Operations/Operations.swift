import Cistern
import CisternService
import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Repeats one operation, for counts of its instructions. See `scripts/bench --instructions`.
@main
enum Operations {
  /// The operations by name, with the number of repetitions that a count needs.
  static let all: [(name: String, about: String, repetitions: Int, run: @Sendable (Int) async throws -> Void)] = [
    ("hit", "hit in memory, 64-bit keys", 50_000, { try memoryHits(Int.self, $0) }),
    ("hit-string", "hit in memory, strings of 20 bytes", 50_000, { try memoryHits(String.self, $0) }),
    ("miss", "miss in both tiers, 64-bit keys", 4_000, misses),
    ("set", "set over a value of equal cost, 64-bit keys", 50_000, { try sets(keys: 1_000, $0) }),
    ("set-evicting", "set of a new key in a full cache of 16,000 entries", 20_000, setsOfNewKeys),
    ("clear", "set of a tagged value, and a clear", 4_000, clears),
    ("remove-tagged", "set of a tagged value, and its removal by tag", 4_000, removalsByTag),
    ("load-hit", "load that hits in memory, 64-bit keys", 50_000, loadHits),
    ("instrumented-hit", "load that hits in memory, through `InstrumentedCache`", 50_000, instrumentedHits),
    ("load", "load of a new key, in memory", 4_000, loads),
    ("load-context", "load of a new key with a context, in memory", 4_000, contextLoads),
    ("coalescer", "load of a new key by a coalescer", 4_000, coalescerLoads),
    ("task", "a task and its value, to compare with loads", 4_000, tasks),
    ("join", "join of a coalescer's flight", 20_000, joins),
    ("cache-join", "join of a cache's flight", 20_000, cacheJoins),
    ("disk-hit", "hit on disk, `[UInt8]` of 1 KiB", 10_000, diskHits),
    ("disk-bytes", "hit on disk, `withBytes` of 1 KiB", 10_000, diskBytes),
    ("disk-json", "hit on disk, JSON of 60 bytes", 2_000, jsonHits),
    ("write", "write of 1 KiB, flushed after each 1,000", 10_000, writes),
  ]

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let count = Int(arguments[2]), count > 0,
      let operation = all.first(where: { $0.name == arguments[1] })
    else {
      if arguments.count > 1 { print("usage: Operations [OPERATION COUNT], with a COUNT above 0; the operations are:") }
      for (name, about, repetitions, _) in all { print("\(name)\t\(repetitions)\t\(about)") }
      exit(arguments.count == 1 ? 0 : 2)
    }
    // The task runs on the pool, because the main thread is blocked below.
    Task.detached {
      do {
        try await operation.run(count)
        // Exit handlers do not run. Their instructions would be counted.
        _exit(0)
      } catch {
        print("\(error)")
        _exit(1)
      }
    }
    // A waiting thread counts no instructions.
    while true { pause() }
  }

  // MARK: Memory

  private static func memoryHits<Key: BenchmarkKey>(_: Key.Type, _ count: Int) throws {
    let cache = try Cache<Key, Int>(costLimit: 1 << 20)
    let keys = (0..<1_000).map(Key.key)
    for (number, key) in keys.enumerated() { cache[key] = number + 1 }
    var sum = 0
    for turn in 0..<count { sum &+= cache[keys[turn % keys.count]] ?? 0 }
    precondition(sum > 0)
  }

  private static func misses(_ count: Int) async throws {
    let disk = try await StockedDisk(entries: 1_000, size: 100)
    for number in 0..<count { precondition(disk.cache[Int.key(1_000_000 + number)] == nil) }
  }

  private static func sets(keys: Int, _ count: Int) throws {
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    let keys = (0..<keys).map(Int.key)
    for turn in 0..<count { cache[keys[turn % keys.count]] = turn }
  }

  @Sendable private static func setsOfNewKeys(_ count: Int) throws {
    let cache = try Cache<Int, Int>(costLimit: 16_000)
    for number in 0..<20_000 { cache[Int.key(number)] = number }
    for number in 0..<count { cache[Int.key(20_000 + number)] = number }
  }

  @Sendable private static func clears(_ count: Int) throws {
    try removals(count) { $0.removeAll() }
  }

  @Sendable private static func removalsByTag(_ count: Int) throws {
    try removals(count) { $0.removeAll(tagged: "all") }
  }

  @inline(__always)
  private static func removals(_ count: Int, _ remove: (Cache<Int, Int>) -> Void) throws {
    var configuration = Store.Configuration()
    configuration.taskExecutor = DiscardingExecutor()
    let cache = try Cache<Int, Int>(configuration: configuration)
    for number in 0..<count {
      cache.setValue(number, forKey: 1, tags: ["all"])
      remove(cache)
    }
  }

  /// Runs no task, so that only the caller's part of an operation is counted. The number of sweeps would depend on the
  /// threads.
  private final class DiscardingExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {}
  }

  // MARK: Loading

  @Sendable private static func loadHits(_ count: Int) async throws {
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    let keys = (0..<1_000).map(Int.key)
    for key in keys { cache[key] = key }
    for turn in 0..<count { _ = try await cache.value(forKey: keys[turn % keys.count]) { $0 } }
  }

  @Sendable private static func instrumentedHits(_ count: Int) async throws {
    let instruments = CacheInstruments(logger: .init(label: "operations"))
    let cache = InstrumentedCache(try Cache<Int, Int>(costLimit: 1 << 20), instruments: instruments)
    let keys = (0..<1_000).map(Int.key)
    for key in keys { cache.cache[key] = key }
    for turn in 0..<count { _ = try await cache.value(forKey: keys[turn % keys.count]) { $0 } }
  }

  @Sendable private static func loads(_ count: Int) async throws {
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    for number in 0..<count { _ = try await cache.value(forKey: number) { $0 } }
  }

  @Sendable private static func contextLoads(_ count: Int) async throws {
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    for number in 0..<count { _ = try await cache.load(number) { .store($0.key) } }
  }

  @Sendable private static func tasks(_ count: Int) async throws {
    for number in 0..<count { _ = await Task { number }.value }
  }

  @Sendable private static func coalescerLoads(_ count: Int) async throws {
    let coalescer = Coalescer<Int, Int>()
    for number in 0..<count { _ = try await coalescer.value(forKey: number) { $0 } }
  }

  // Each load is written out as in user code, because a closure in between would be counted too.

  @Sendable private static func joins(_ count: Int) async throws {
    let coalescer = Coalescer<Int, Int>()
    precondition(count >= 1_000, "a flight has 1,000 joins")
    for number in 0..<count / 1_000 {
      let gate = SingleWaiterGate()
      _ = try await Joining.cost(
        tasks: 1_000,
        ask: { _ in
          _ = try await coalescer.value(forKey: number) { key in
            await gate.wait()
            return key
          }
        }, open: { gate.open() })
    }
  }

  @Sendable private static func cacheJoins(_ count: Int) async throws {
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    precondition(count >= 1_000, "a flight has 1,000 joins")
    for number in 0..<count / 1_000 {
      let gate = SingleWaiterGate()
      _ = try await Joining.cost(
        tasks: 1_000,
        ask: { _ in
          _ = try await cache.value(forKey: number) { key in
            await gate.wait()
            return key
          }
        }, open: { gate.open() })
    }
  }

  // MARK: Disk

  @Sendable private static func diskHits(_ count: Int) async throws {
    let disk = try await StockedDisk(entries: 2_000, size: 1024)
    for turn in 0..<count { precondition(disk.cache.value(forKey: disk.keys[turn % disk.keys.count]) != nil) }
  }

  @Sendable private static func diskBytes(_ count: Int) async throws {
    let disk = try await StockedDisk(entries: 2_000, size: 1024)
    for turn in 0..<count {
      let size: Int? = disk.cache.withBytes(forKey: disk.keys[turn % disk.keys.count]) { $0.byteCount }
      precondition(size == 1024)
    }
  }

  private struct Forecast: Codable, Sendable {
    var city: String
    var degrees: Int
    var isRaining: Bool
  }

  @Sendable private static func jsonHits(_ count: Int) async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: .mebibytes(64))
    let cache = try store.cache("forecasts", of: Forecast.self, keyedBy: Int.self)
    for number in 0..<500 { cache[number] = Forecast(city: "a city of the north", degrees: number, isRaining: true) }
    try await store.flush()
    for turn in 0..<count { precondition(cache[turn % 500] != nil) }
    scratch.remove()
  }

  @Sendable private static func writes(_ count: Int) async throws {
    let disk = try await StockedDisk(entries: 10_000, size: 1024, durability: .processCrash)
    let value = [UInt8](repeating: 9, count: 1024)
    for turn in 0..<count {
      disk.cache.setValue(value, forKey: disk.keys[turn % disk.keys.count])
      if (turn + 1).isMultiple(of: 1_000) { try await disk.store.flush() }
    }
  }
}
