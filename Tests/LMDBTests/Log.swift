import Locking

/// Lines that several threads append.
final class Log: Sendable {
  // Guarded by its own lock.
  private let lines = Guarded<[String]>([])

  func append(_ line: String) { lines.withLock { $0.append(line) } }

  var all: [String] { lines.withLock { $0 } }
}
