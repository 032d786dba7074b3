import Cistern
import Synchronization
import Workloads

/// Loads without joins, compared with tasks, and loads with a context, compared with plain ones.
struct LoadingAlone {
  let loads = 10_000

  /// Keys that no load had before.
  private final class NewKeys: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  func rows() async throws -> [Row] {
    let coalescer = Coalescer<Int, Int>()
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    let keys = NewKeys()
    func task() async -> Double {
      let start = nanoseconds()
      for number in 0..<loads { _ = await Task { number }.value }
      return Double(nanoseconds() - start) / Double(loads)
    }
    func plainLoad() async throws -> Double {
      let start = nanoseconds()
      for _ in 0..<loads { _ = try await cache.value(forKey: keys.next()) { $0 } }
      return Double(nanoseconds() - start) / Double(loads)
    }
    return [
      try await Pair(
        title: "load of a key by a coalescer, alone", reference: "`Task` and its value", target: 1.4,
        measure: {
          let start = nanoseconds()
          for _ in 0..<loads { _ = try await coalescer.value(forKey: keys.next()) { $0 } }
          return Double(nanoseconds() - start) / Double(loads)
        }, measureReference: task
      ).run(rounds: 9),
      try await Pair(
        title: "load of a key by a cache, alone, in memory", reference: "`Task` and its value", target: 1.8,
        measure: plainLoad, measureReference: task
      ).run(rounds: 9),
      try await Pair(
        title: "load of a key with a context, alone, in memory", reference: "the same without", target: 1.1,
        measure: {
          let start = nanoseconds()
          for _ in 0..<loads { _ = try await cache.load(keys.next()) { .store($0.key) } }
          return Double(nanoseconds() - start) / Double(loads)
        }, measureReference: plainLoad
      ).run(rounds: 9),
    ]
  }
}
