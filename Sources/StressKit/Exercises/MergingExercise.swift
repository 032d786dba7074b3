import Cistern
import Locking
import Synchronization

/// An exercise in which the values of clients and of the origin are merged. Each client writes one field of an
/// object, and the origin returns other fields. No field may be lost.
final class MergingExercise: Exercise {
  typealias Fields = [String: UInt64]

  private static let keys = (0..<24).map { "object\($0)" }

  private let room = Room<String, Fields>()
  private let histories = Guarded(Array(repeating: FieldHistory(), count: keys.count))
  /// The last number of a field. Each number is used once, so the numbers of a field increase.
  private let numbers = Atomic<UInt64>(0)
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    let configuration = CacheConfiguration<Fields>(
      merge: { cached, incoming in cached.merging(incoming) { _, new in new } }, isEqual: ==)
    room.move(
      to: try store.cache("objects", of: Fields.self, keyedBy: String.self, configuration: configuration))
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let key = client.index(below: Self.keys.count)
    let way = client.index(below: 20)
    switch way {
    case ..<7: read(key, client)
    case ..<11: await load(key, client, anew: way > 8)
    default: await client.measure { await write(key, client, way: way) }
    }
  }

  private func write(_ key: Int, _ client: Performer, way: Int) async -> Outcome {
    let (cache, name) = (room.cache, Self.keys[key])
    let fields: Fields = ["client\(client.number)": nextNumber()]
    let others = way == 18 ? [(key + 1) % Self.keys.count] : []
    let yields = client.index(below: 3)
    do {
      switch way {
      case 16:
        try await cache.commitValue(fields, forKey: name)
      case 17:
        try await cache.updateValue(forKey: name) { value in
          for _ in 0..<yields { await Task.yield() }
          value = (value ?? [:]).merging(fields) { _, new in new }
        }
      case 18:
        try cache.batch { batch in for key in [key] + others { batch.setValue(fields, forKey: Self.keys[key]) } }
      default:
        cache.setValue(fields, forKey: name)
      }
    } catch {
      return violations.judge(error, of: "\(name): a merging write")
    }
    histories.withLock { histories in for key in [key] + others { histories[key].note(fields) } }
    return way == 17 ? .updated : way == 18 ? .batched : .written
  }

  /// Loads fields that no client writes.
  ///
  /// The result of a load may lack the other fields, if an update took the entry away from the load's flight. Only
  /// later reads are checked.
  private func load(_ key: Int, _ client: Performer, anew: Bool) async {
    let part = client.index(below: 2) == 0 ? "headline" : "body"
    let yields = client.index(below: 6)
    await client.measure {
      do {
        let loaded = try await room.cache.loadedValue(
          forKey: Self.keys[key], policy: anew ? .reload : .cachedOrFetch
        ) { [self] _ in
          for _ in 0..<yields { await Task.yield() }
          return [part: nextNumber()]
        }
        return Outcome(of: loaded, anew: anew)
      } catch {
        return violations.judge(error, of: "\(Self.keys[key]): a merging load")
      }
    }
  }

  private func read(_ key: Int, _ client: Performer) {
    let floor = histories.withLock { $0[key].floor }
    let start = Ticks.now()
    let value = room.cache.value(forKey: Self.keys[key])
    client.tally.record(value == nil ? .missed : .memory, from: start, to: Ticks.now())
    judge(value, key, floor: floor)
    if let value { histories.withLock { $0[key].note(value) } }
  }

  func settle() async {
    for key in Self.keys.indices {
      judge(room.cache.value(forKey: Self.keys[key]), key, floor: histories.withLock { $0[key].floor })
    }
  }

  private func judge(_ value: Fields?, _ key: Int, floor: Fields) {
    if let wrong = FieldHistory.judge(value, floor: floor) {
      violations.report(.lostField, "\(Self.keys[key]): \(wrong)")
    }
  }

  private func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }
}
