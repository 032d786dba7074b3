import Cistern
import Locking

/// An exercise in which clients increment counters concurrently, with every kind of update. No increment may be
/// lost or counted twice.
final class CountingExercise: Exercise {
  private static let keys = (0..<8).map { "counter\($0)" }

  private let room = Room<String, Int>()
  private let histories = Guarded(Array(repeating: CounterHistory(), count: keys.count))
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    room.move(to: try store.cache("counters", of: Int.self, keyedBy: String.self))
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let key = client.index(below: Self.keys.count)
    let way = client.index(below: 20)
    let yields = client.index(below: 4)
    if way < 5 { return read(key, client) }
    await client.measure {
      let before = histories.withLock { $0[key].begin() }
      let value: Int
      do {
        value = try await increment(Self.keys[key], way: way, yields: yields)
      } catch {
        return violations.judge(error, of: "\(Self.keys[key]): an increment")
      }
      histories.withLock { $0[key].end() }
      report(histories.withLock { $0[key].judgeIncrement(to: value, endedBefore: before) }, key)
      return .updated
    }
  }

  private func increment(_ key: String, way: Int, yields: Int) async throws -> Int {
    let cache = room.cache
    switch way {
    case ..<11:
      return cache.updateValue(forKey: key, Self.incremented)
    case ..<16:
      return try await cache.updateValue(forKey: key) { value in
        for _ in 0..<yields { await Task.yield() }
        return Self.incremented(&value)
      }
    case 16:
      return try await cache.commitUpdate(forKey: key, Self.incremented)
    default:
      return try await cache.updateValueInBackground(forKey: key) { value in _ = Self.incremented(&value) }.value ?? 0
    }
  }

  private static func incremented(_ value: inout Int?) -> Int {
    let next = (value ?? 0) + 1
    value = next
    return next
  }

  private func read(_ key: Int, _ client: Performer) {
    let before = histories.withLock { $0[key].ended }
    let start = Ticks.now()
    let value = room.cache.value(forKey: Self.keys[key])
    client.tally.record(value == nil ? .missed : .memory, from: start, to: Ticks.now())
    report(histories.withLock { $0[key].judgeRead(value ?? 0, endedBefore: before) }, key)
  }

  func settle() async {
    for key in Self.keys.indices {
      let value = room.cache.value(forKey: Self.keys[key]) ?? 0
      report(histories.withLock { $0[key].judgeRest(value) }, key)
    }
  }

  private func report(_ wrong: String?, _ key: Int) {
    if let wrong { violations.report(.lostUpdate, "\(Self.keys[key]): \(wrong)") }
  }
}
