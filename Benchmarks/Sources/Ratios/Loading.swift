import Cistern
import Synchronization
import Workloads

/// Callers that join one flight, compared with tasks that wait for a bare continuation.
struct Loading {
  let tasks = 1_000
  /// The number of repetitions in a round, so that it is long enough to measure.
  let repetitions = 100

  func rows() async throws -> [Row] {
    let coalescer = Coalescer<Int, Int>()
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    return [
      try await joining("a coalescer's flight") { round in
        { _ in _ = try await coalescer.value(forKey: round.key) { key in await round.fetch(key) } }
      },
      try await joining("a cache's flight") { round in
        { _ in _ = try await cache.value(forKey: round.key + 1_000_000) { key in await round.fetch(key) } }
      },
    ]
  }

  /// One key that all tasks request, and the gate that its only fetch waits for.
  private struct Round: Sendable {
    let key: Int
    let gate = SingleWaiterGate()
    let fetches = Counter()

    func fetch(_ key: Int) async -> Int {
      fetches.increment()
      await gate.wait()
      return key
    }
  }

  /// - Parameters:
  ///   - title: The title of the row.
  ///   - asking: Returns the work of each task in a round. The call is written out there as in user code, because a
  ///     closure in between would be measured too, and the reference has none.
  /// - Returns: The row.
  /// - Throws: An error of a task.
  private func joining(
    _ title: String, asking: @escaping (Round) -> @Sendable (Int) async throws -> Void
  ) async throws -> Row {
    let nextKey = Atomic(0)
    return try await Pair(
      title: "joining \(title), \(tasks) tasks on one key",
      reference: "a continuation and a cancellation handler each", target: 1.2,
      measure: {
        var sum = 0.0
        for _ in 0..<repetitions {
          let round = Round(key: nextKey.add(1, ordering: .relaxed).newValue)
          sum += try await Joining.cost(tasks: tasks, ask: asking(round), open: { round.gate.open() })
          // A task that was delayed before its call can start another fetch after the flight has completed.
          precondition(round.fetches.value <= 1 + tasks / 100, "\(round.fetches.value) fetches of one key")
        }
        return sum / Double(repetitions)
      },
      measureReference: {
        var sum = 0.0
        for _ in 0..<repetitions {
          let waiting = BareWaiting(capacity: tasks)
          sum += try await Joining.cost(
            tasks: tasks, ask: { number in try await waiting.wait(as: number) }, open: { waiting.open() })
        }
        return sum / Double(repetitions)
      }
    ).run(rounds: 9)
  }
}
