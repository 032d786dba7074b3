import Cistern
import CisternTesting
import Locking
import Synchronization

/// An exercise with observers of contents, and with enumerations, of a cache that clients write.
///
/// The contents have no gap and no duplicate, and lead to the values of the cache. Memory holds only a part of the
/// values.
final class ContentsExercise: Exercise {
  /// The keys that no client removes.
  private static let steadyKeys = (0..<8).map { "steady/\($0)" }
  private static let otherKeys = (0..<12).flatMap { ["left/\($0)", "right/\($0)"] }
  private static let tags = ["even", "odd"]
  private static let prefixes = ["", "left/", "steady/"]

  private let room = Room<String, UInt64>()
  private let numbers = Atomic<UInt64>(0)
  private let witnesses = Guarded<[ContentsWitness]>([])
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    let cache = try store.cache("contents", of: UInt64.self, keyedBy: String.self)
    room.move(to: cache)
    if isFirst { cache.removeAll() }
    try cache.batch { batch in
      for key in Self.steadyKeys { batch.setValue(nextNumber(), forKey: key) }
    }
    let opened = Self.prefixes.map { ContentsWitness(prefix: $0, violations: violations) }
    for witness in opened { witness.observe(cache) }
    witnesses.withLock { $0 = opened }
  }

  func perform(by client: Performer) async {
    let key = Self.otherKeys[client.index(below: Self.otherKeys.count)]
    switch client.index(below: 80) {
    case ..<36: write(key, tags: [Self.tags[client.index(below: Self.tags.count)]], client)
    case ..<44: write(Self.steadyKeys[client.index(below: Self.steadyKeys.count)], tags: [], client)
    case ..<60: remove(key, client)
    case ..<68: await client.measure { writeSeveral(client) }
    case 68: await invalidate(client) { $0.removeAll(withPrefix: "left/") }
    case 69: await invalidate(client) { $0.removeAll(tagged: Self.tags[client.index(below: Self.tags.count)]) }
    case ..<72: room.cache.trim(toCost: 0)
    case ..<76: await client.measure { await enumerate() }
    default: await client.measure { await readContents(client) }
    }
  }

  private func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

  private func write(_ key: String, tags: [String], _ client: Performer) {
    let start = Ticks.now()
    room.cache.setValue(nextNumber(), forKey: key, tags: tags)
    client.tally.record(.written, from: start, to: Ticks.now())
  }

  private func remove(_ key: String, _ client: Performer) {
    let start = Ticks.now()
    room.cache.removeValue(forKey: key)
    client.tally.record(.removed, from: start, to: Ticks.now())
  }

  private func writeSeveral(_ client: Performer) -> Outcome {
    let first = client.index(below: Self.otherKeys.count)
    let keys = (0..<3).map { Self.otherKeys[(first + $0 * 7) % Self.otherKeys.count] }
    do {
      try room.cache.batch { batch in
        batch.removeValue(forKey: keys[0])
        for key in keys.dropFirst() { batch.setValue(nextNumber(), forKey: key) }
      }
      return .batched
    } catch {
      return violations.judge(error, of: "\(keys[0]): a batch")
    }
  }

  private func invalidate(_ client: Performer, _ invalidate: (Cache<String, UInt64>) -> Void) async {
    await client.measure {
      invalidate(room.cache)
      return .invalidated
    }
  }

  /// Enumerates the keys while others write them.
  private func enumerate() async -> Outcome {
    do {
      var keys: [String] = []
      for try await key in room.cache.keys() { keys.append(key) }
      if let wrong = EnumerationRule.judge(keys, required: Self.steadyKeys) { violations.report(.observed, wrong) }
      return .listed
    } catch {
      return violations.judge(error, of: "an enumeration")
    }
  }

  /// Reads the initial entries while others write them.
  private func readContents(_ client: Performer) async -> Outcome {
    let prefix = Self.prefixes[client.index(below: Self.prefixes.count)]
    var history = ContentsHistory<String, UInt64>()
    for await update in room.cache.contentUpdates(.prefix(prefix)) {
      if let wrong = history.take(update) { violations.report(.observed, wrong.description) }
      if history.isComplete { break }
    }
    // The contents of a cancelled task end early.
    guard history.isComplete else { return .cancelled }
    let required = Self.steadyKeys.filter { $0.hasPrefix(prefix) }
    if let wrong = EnumerationRule.judge(Array(history.contents.keys), required: required) {
      violations.report(.observed, wrong)
    }
    return .listed
  }

  func settle() async {
    let keys = Self.steadyKeys + Self.otherKeys
    let values = Dictionary(uniqueKeysWithValues: keys.map { ($0, room.cache.value(forKey: $0)) }).compactMapValues {
      $0
    }
    // Before the store closes: the contents of a closed store end with an error.
    let settled = witnesses.withLock { witnesses in
      defer { witnesses = [] }
      return witnesses
    }
    for witness in settled { await witness.settle(with: values) }
    for finding in await restingFindings(of: room.cache) { violations.report(.unsound, finding) }
  }
}
