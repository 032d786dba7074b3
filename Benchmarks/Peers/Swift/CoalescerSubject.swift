import Cistern
import Workloads

/// A subject that is compared as a coalescer. A leader runs `load`.
protocol CoalescerSubject: Sendable {
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String
}

// Inlined, so that the measured call is a user's call. A function in between would be measured too.
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

/// The solution of tutorials: an actor that keeps the running tasks. It supports neither cancellation nor removal.
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

/// The reference: each caller runs its own load, without any lookup.
struct TasksAlone: CoalescerSubject {
  func value(forKey key: String, load: @escaping @Sendable (String) async throws -> String) async throws -> String {
    try await load(key)
  }
}
