import Cistern
import Workloads

/// What is compared as a coalescer: calls that ask for a key, and a load for those that lead.
protocol CoalescerSubject: Sendable {
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String
}

// Inlined, so that the call is a user's: a function between would be measured too.
extension Coalescer<String, String>: CoalescerSubject {
  @inline(__always)
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String {
    try await value(forKey: key, fetch: load)
  }
}

extension Cache<String, String>: CoalescerSubject {
  @inline(__always)
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String {
    try await value(forKey: key, fetch: load)
  }
}

/// What tutorials show: an actor that keeps the tasks that are on their way. It knows neither cancellation nor removal.
actor TaskTable: CoalescerSubject {
  private var tasks: [String: Task<String, any Error>] = [:]

  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String {
    if let task = tasks[key] { return try await task.value }
    let task = Task { try await load(key) }
    tasks[key] = task
    defer { tasks[key] = nil }
    return try await task.value
  }
}

/// The yardstick: each caller loads for itself, and nothing is looked up.
struct TasksAlone: CoalescerSubject {
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String {
    try await load(key)
  }
}
