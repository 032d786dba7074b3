import Cistern
import Synchronization
import Workloads

/// Callers that join one flight, against tasks that wait for a bare continuation; and loads that nobody joins.
struct Loading {
  let tasks = 1_000
  /// Times that a round repeats, to be long enough to measure.
  let repetitions = 100

  func rows() async throws -> [Row] {
    let coalescer = Coalescer<Int, Int>()
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    let nextKey = Atomic(0)
    return [
      try await joining("a coalescer's flight") { key, fetch in try await coalescer.value(forKey: key, fetch: fetch) },
      try await joining("a cache's flight") { key, fetch in
        try await cache.value(forKey: key + 1_000_000, fetch: fetch)
      },
      try await Pair(
        title: "load of a key, alone, in memory", yardstick: "`Task` and its value", target: nil, rounds: 9,
        measure: {
          let start = nanoseconds()
          for _ in 0..<10_000 {
            _ = try await cache.value(forKey: nextKey.add(1, ordering: .relaxed).newValue) { $0 }
          }
          return Double(nanoseconds() - start) / 10_000
        },
        measureYardstick: {
          let start = nanoseconds()
          for number in 0..<10_000 { _ = await Task { number }.value }
          return Double(nanoseconds() - start) / 10_000
        }
      ).run(),
    ]
  }

  private func joining(
    _ title: String,
    load: @escaping @Sendable (Int, @escaping @Sendable (Int) async throws -> Int) async throws -> Int
  ) async throws -> Row {
    let nextKey = Atomic(0)
    return try await Pair(
      title: "joining \(title), \(tasks) tasks on one key",
      yardstick: "a continuation and a cancellation handler each", target: 1.2, rounds: 9,
      measure: {
        var sum = 0.0
        for _ in 0..<repetitions {
          let key = nextKey.add(1, ordering: .relaxed).newValue
          let door = Door()
          let fetches = Counter()
          sum += try await Joining.cost(
            tasks: tasks,
            ask: { _ in
              _ = try await load(key) { key in
                fetches.increment()
                await door.wait()
                return key
              }
            },
            open: { door.open() })
          // One that was overtaken by the door's opening may come when the flight has landed.
          precondition(fetches.value <= 2, "\(fetches.value) fetches of one key")
        }
        return sum / Double(repetitions)
      },
      measureYardstick: {
        var sum = 0.0
        for _ in 0..<repetitions {
          let waiting = BareWaiting(capacity: tasks)
          sum += try await Joining.cost(
            tasks: tasks, ask: { number in try await waiting.wait(as: number) }, open: { waiting.open() })
        }
        return sum / Double(repetitions)
      }
    ).run()
  }
}
