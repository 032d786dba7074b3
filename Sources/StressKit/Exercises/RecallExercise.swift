import Cistern
import Foundation
import Locking
import Synchronization

/// An exercise with negative results, and with a new schema version after each reopening of the store.
///
/// A known value or a known absence is never fetched again before its removal. Loads of one key and of several keys
/// together never exceed the limit of concurrent fetches.
final class RecallExercise: Exercise {
  /// The value of the keys that exist in the origin.
  private struct Reply: Codable, Equatable, Sendable {
    var key: Int
    /// The version of the schema in which the value was encoded.
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
    if isKnown, Self.exists(key) { violations.report(.corrupt, "\(Self.names[key]) exists, but is known as absent") }
  }

  private func load(_ key: Int, yields: Int) async -> Outcome {
    do {
      let loaded = try await room.cache.loadedValue(forKey: Self.names[key]) { [self] _ in
        await fetch([key], yields: yields)[key] ?? nil
      }
      check(loaded.value, key)
      return Outcome(of: loaded, anew: false)
    } catch {
      return violations.judge(error, of: "\(Self.names[key]): a load")
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
          violations.report(.failed, "\(Self.names[key]) is missing in the result of a load of several keys")
          continue
        }
        check(reply, key)
      }
      return .bulk
    } catch {
      return violations.judge(error, of: "a load of several keys")
    }
  }

  /// Fetches keys from the origin. Every second key exists.
  private func fetch(_ keys: [Int], yields: Int) async -> [Int: Reply?] {
    for key in keys {
      if let wrong = histories.withLock({ $0[key].noteFetch() }) {
        violations.report(.fetchedTwice, "\(Self.names[key]): \(wrong)")
      }
    }
    guard let load = load.withLock({ $0 }) else { preconditionFailure("the exercise was not opened") }
    return await load.run {
      for _ in 0..<yields { await Task.yield() }
      let version = schema.load(ordering: .relaxed)
      return Dictionary(
        uniqueKeysWithValues: keys.map { ($0, Self.exists($0) ? Reply(key: $0, schema: version) : nil) })
    }
  }

  private func remove(_ key: Int, _ client: Performer) {
    histories.withLock { $0[key].noteRemoval() }
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
        "\(Self.names[key]): a read with schema version \(version) returned \(reply.map { "\($0)" } ?? "nothing")")
    }
  }
}
