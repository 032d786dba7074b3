import Cistern
import Foundation
import Locking
import Synchronization

/// A cache that knows of some keys that the origin has nothing for, and whose schema has another version each time that the
/// store is opened. What is known, of either kind, is never asked for again before it is removed; loads of one key and of
/// several together never ask for more at a time than the limit says.
final class RecallExercise: Exercise {
  /// What the origin has for every other key.
  private struct Reply: Codable, Equatable, Sendable {
    var key: Int
    /// The schema's version that it was encoded in.
    var schema: UInt32
  }

  private static let names = (0..<32).map { "recall\($0)" }
  private static let flightLimit = 3

  private let room = Room<String, Reply?>()
  private let schema = Atomic<UInt32>(0)
  private let histories = Guarded(Array(repeating: RecallHistory(), count: names.count))
  private let load = Guarded<OriginLoad?>(nil)
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    let version = schema.add(1, ordering: .relaxed).newValue
    var configuration = CacheConfiguration<Reply?>()
    configuration.flightLimit = Self.flightLimit
    configuration.schema = CacheSchema(version: version) { bytes, written in
      var reply = try JSONDecoder().decode(Reply.self, from: Data(bytes))
      guard reply.schema == written, written < version else { return nil }
      reply.schema = version
      return reply
    }
    room.move(to: try store.cache("replies", of: Reply?.self, keyedBy: String.self, configuration: configuration))
    load.withLock { $0 = OriginLoad(limit: Self.flightLimit, violations: violations) }
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let key = client.index(below: Self.names.count)
    switch client.index(below: 40) {
    case ..<14: lookUp(key, client)
    case ..<17: askForAbsence(key, client)
    case ..<34: await client.measure { await load(key, yields: client.index(below: 4)) }
    case ..<38: await client.measure { await loadSeveral(from: key, client) }
    default: remove(key, client)
    }
  }

  private func lookUp(_ key: Int, _ client: Performer) {
    let start = Ticks.now()
    let known = room.cache.value(forKey: Self.names[key])
    client.tally.record(known == nil ? .missed : .memory, from: start, to: Ticks.now())
    if case .some(let reply) = known { check(reply, key) }
  }

  private func askForAbsence(_ key: Int, _ client: Performer) {
    let start = Ticks.now()
    let isKnown = room.cache.isKnownAbsent(Self.names[key])
    client.tally.record(isKnown ? .memory : .missed, from: start, to: Ticks.now())
    if isKnown, Self.exists(key) { violations.report(.corrupt, "\(Self.names[key]) is there, and was said not to be") }
  }

  private func load(_ key: Int, yields: Int) async -> Outcome {
    do {
      let loaded = try await room.cache.loadedValue(forKey: Self.names[key]) { [self] _ in
        await fetch([key], yields: yields)[key] ?? nil
      }
      check(loaded.value, key)
      return Outcome(of: loaded, anew: false)
    } catch is CancellationError {
      return .cancelled
    } catch {
      violations.report(.failed, "\(Self.names[key]): a load failed: \(error)")
      return .failed
    }
  }

  private func loadSeveral(from first: Int, _ client: Performer) async -> Outcome {
    let keys = (0..<4).map { (first + $0 * 5) % Self.names.count }
    let yields = client.index(below: 4)
    do {
      let loaded = try await room.cache.values(forKeys: keys.map { Self.names[$0] }) { [self] names in
        let replies = await fetch(keys.filter { names.contains(Self.names[$0]) }, yields: yields)
        return Dictionary(uniqueKeysWithValues: replies.map { (Self.names[$0], $1) })
      }
      for key in keys {
        guard let reply = loaded.values[Self.names[key]] else {
          violations.report(.failed, "\(Self.names[key]) is missing from what was loaded together")
          continue
        }
        check(reply, key)
      }
      return .bulk
    } catch is CancellationError {
      return .cancelled
    } catch {
      violations.report(.failed, "a load of several keys failed: \(error)")
      return .failed
    }
  }

  /// The origin, which has something for every other key.
  private func fetch(_ keys: [Int], yields: Int) async -> [Int: Reply?] {
    for key in keys {
      if let wrong = histories.withLock({ $0[key].fetches() }) {
        violations.report(.fetchedTwice, "\(Self.names[key]): \(wrong)")
      }
    }
    guard let load = load.withLock({ $0 }) else { preconditionFailure("an exercise is opened before it performs") }
    return await load.run {
      for _ in 0..<yields { await Task.yield() }
      let version = schema.load(ordering: .relaxed)
      return Dictionary(
        uniqueKeysWithValues: keys.map { ($0, Self.exists($0) ? Reply(key: $0, schema: version) : nil) })
    }
  }

  private func remove(_ key: Int, _ client: Performer) {
    histories.withLock { $0[key].isRemoved() }
    let start = Ticks.now()
    room.cache.removeValue(forKey: Self.names[key])
    client.tally.record(.removed, from: start, to: Ticks.now())
  }

  func settle() async {
    for key in Self.names.indices {
      if case .some(let reply) = room.cache.value(forKey: Self.names[key]) { check(reply, key) }
    }
    for finding in await restingFindings(of: room.cache) { violations.report(.unsound, finding) }
  }

  private static func exists(_ key: Int) -> Bool { key % 2 == 1 }

  private func check(_ reply: Reply?, _ key: Int) {
    let version = schema.load(ordering: .relaxed)
    let expected = Self.exists(key) ? Reply(key: key, schema: version) : nil
    if reply != expected {
      violations.report(
        .corrupt,
        "\(Self.names[key]): \(reply.map { "\($0)" } ?? "nothing") was returned in version \(version) of the schema")
    }
  }
}
