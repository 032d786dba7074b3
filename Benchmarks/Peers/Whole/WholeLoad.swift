import Foundation
import Workloads

/// The workloads. The comparison uses the cost of each subject under them.
struct WholeLoad<Subject: WholeSubject> {
  let origin: Origin
  let keys = Keys(count: 20_000)
  /// The number of concurrent requests in workloads at full speed.
  let tasks: Int
  /// The number of requests per second in workloads at a steady rate.
  let rate = 2_000.0

  /// Requests each key once, so that the subject holds as many values as it may.
  func fill(_ subject: Subject) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for index in stride(from: task, to: keys.all.count, by: tasks) { _ = try await ask(subject, keys.all[index]) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Runs tasks that request one key after the other for a given time. One removal follows every hundred requests.
  /// Removed keys are drawn evenly, because the removal of a popular key would make all tasks wait for the origin.
  func closed(_ subject: Subject, seconds: Double, seed: UInt64, removes: Bool = true) async throws -> WorkloadCost {
    let drawn = keys.drawn(1 << 17, seed: seed)
    let removed = keys.evenlyDrawn(1 << 17, seed: seed)
    return try await counted { start, cost in
      let end = start + UInt64(seconds * 1e9)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<tasks {
          group.addTask {
            var asked = 0
            while nanoseconds() < end {
              let place = (task * (drawn.count / tasks) + asked) % drawn.count
              _ = try await ask(subject, drawn[place])
              asked += 1
              if removes, asked % 100 == 0 { try await subject.removeValue(forKey: removed[place]) }
            }
            return asked
          }
        }
        cost.requests = try await group.reduce(0, +)
      }
    }
  }

  /// Runs requests that begin at random times, whether or not earlier ones have completed.
  func open(_ subject: Subject, seconds: Double, seed: UInt64) async throws -> WorkloadCost {
    let drawn = keys.drawn(Int(rate * seconds), seed: seed)
    let removed = keys.evenlyDrawn(drawn.count / 100 + 1, seed: seed)
    return try await counted { start, cost in
      try await withThrowingTaskGroup(of: UInt64.self) { group in
        var randomness = Randomness(seed: seed)
        var due = start
        for (index, key) in drawn.enumerated() {
          due += UInt64(-log(1 - Double.random(in: 0..<1, using: &randomness)) / rate * 1e9)
          let now = nanoseconds()
          if due > now { try await Task.sleep(for: .nanoseconds(Int64(due - now)), tolerance: .zero) }
          if index % 100 == 99 { try await subject.removeValue(forKey: removed[index / 100]) }
          let start = nanoseconds()
          group.addTask { try await ask(subject, key) - start }
        }
        cost.latencies = try await group.reduce(into: []) { $0.append($1) }
      }
      cost.requests = drawn.count
    }
  }

  /// Runs fifty concurrent callers for each of twenty keys that were never requested before.
  func burst(_ subject: Subject, number: Int) async throws -> WorkloadCost {
    let asked = (0..<20).map { keys.beyond(number * 20 + $0) }
    return try await counted { start, cost in
      try await withThrowingTaskGroup(of: UInt64.self) { group in
        // Latencies begin at the common start, so that they include the wait for a thread.
        for caller in 0..<1_000 { group.addTask { try await ask(subject, asked[caller % asked.count]) - start } }
        cost.latencies = try await group.reduce(into: []) { $0.append($1) }
      }
      cost.requests = cost.latencies.count
    }
  }

  /// Requests a key, and returns the time at which its value was available.
  private func ask(_ subject: Subject, _ key: String) async throws -> UInt64 {
    let value = try await subject.value(forKey: key, fetch: origin.value)
    let time = nanoseconds()
    Payload.check(value, ofKey: key)
    return time
  }

  /// Measures the time and the origin's requests of `body`, which receives its start time.
  private func counted(_ body: (UInt64, inout WorkloadCost) async throws -> Void) async throws -> WorkloadCost {
    var cost = WorkloadCost()
    let before = try await origin.requestCount()
    let start = nanoseconds()
    try await body(start, &cost)
    cost.nanoseconds = nanoseconds() - start
    cost.originRequests = try await origin.requestCount() - before
    return cost
  }
}
