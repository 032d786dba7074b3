import Cistern
import Locking

/// An exercise in which clients raise counts with concurrent optimistic edits, updates, and partial sets.
///
/// Each client has a separate count in every object. An edit must be visible while it is pending. A confirmed edit
/// counts once, and a rejected edit does not count.
final class EditExercise: Exercise {
  typealias Counts = [String: UInt64]

  private static let keys = (0..<16).map { "edited\($0)" }

  /// The error of an edit that is not confirmed.
  private struct Refused: Error {}

  private let room = Room<String, Counts>()
  /// The expected counts of each key. Only the client that owns a count changes it.
  private let expected = Guarded(Array(repeating: Counts(), count: keys.count))
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    let configuration = CacheConfiguration<Counts>(
      merge: { cached, incoming in cached.merging(incoming) { _, new in new } })
    room.move(to: try store.cache("edited", of: Counts.self, keyedBy: String.self, configuration: configuration))
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let key = client.index(below: Self.keys.count)
    let field = "client\(client.number)"
    let count = expected.withLock { $0[key][field] }
    check(key, field, is: count, "before the operation")
    await client.measure {
      let way = client.index(below: 10)
      let yields = client.index(below: 8)
      let next = (count ?? 0) + 1
      do {
        switch way {
        case 0:
          room.cache.setValue([field: next], forKey: Self.keys[key])
        case 1:
          try await room.cache.updateValue(forKey: Self.keys[key]) { value in
            for _ in 0..<yields { await Task.yield() }
            value = (value ?? [:]).merging([field: next]) { _, new in new }
          }
        default:
          return try await edit(key, field, to: next, way: way, yields: yields)
        }
        return isNow(key, field, next, .updated)
      } catch is Refused {
        check(key, field, is: count, "after a rejected edit")
        return .takenBack
      } catch {
        return violations.judge(error, of: "\(Self.keys[key]): an edit")
      }
    }
  }

  private func edit(_ key: Int, _ field: String, to next: UInt64, way: Int, yields: Int) async throws -> Outcome {
    try await room.cache.editValue(forKey: Self.keys[key]) { value in
      var value = value ?? [:]
      value[field, default: 0] += 1
      return value
    } confirmedBy: {
      check(key, field, is: next, "during a pending edit")
      for _ in 0..<yields { await Task.yield() }
      check(key, field, is: next, "during a pending edit")
      if way < 5 { throw Refused() }
      // The answer of the server is a partial value, or nil.
      return way < 8 ? [field: next] : nil
    }
    return isNow(key, field, next, .edited)
  }

  private func isNow(_ key: Int, _ field: String, _ count: UInt64, _ outcome: Outcome) -> Outcome {
    expected.withLock { $0[key][field] = count }
    check(key, field, is: count, "after a write")
    return outcome
  }

  private func check(_ key: Int, _ field: String, is count: UInt64?, _ occasion: String) {
    let found = room.cache.value(forKey: Self.keys[key])?[field]
    if let wrong = EditRule.judge(found, expected: count) {
      violations.report(.edited, "\(Self.keys[key]), \(field), \(occasion): \(wrong)")
    }
  }

  func settle() async {
    for (key, counts) in expected.withLock({ $0 }).enumerated() {
      for (field, count) in counts { check(key, field, is: count, "while idle") }
    }
  }
}
