import Locking

/// The histories of all keys of a run. It records every call of every client, and checks every value that is read.
final class VersionRegister: Sendable {
  /// The result of a write: a value, or no value.
  enum WriteKind: Sendable {
    case value
    case nothing
  }

  private final class Shard: Sendable {
    let histories: Guarded<[KeyHistory]>

    init(count: Int) {
      histories = Guarded(Array(repeating: KeyHistory(), count: count))
    }
  }

  private static let shardCount = 64
  private static let keptClearings = 8

  private let shards: [Shard]
  private let clearings = Guarded<[ClearingScope: [Clearing]]>([:])
  private let scopes: @Sendable (Int) -> [ClearingScope]
  private let sample: HistorySample
  private let violations: ViolationLog

  /// - Parameters:
  ///   - keyCount: The number of keys.
  ///   - sample: The kept history.
  ///   - violations: Receives violations.
  ///   - scopes: The closure that returns the scopes that contain a key.
  init(
    keyCount: Int, sample: HistorySample, violations: ViolationLog,
    scopes: @escaping @Sendable (Int) -> [ClearingScope] = { _ in [.all] }
  ) {
    self.sample = sample
    self.scopes = scopes
    let perShard = keyCount / VersionRegister.shardCount + 1
    shards = (0..<VersionRegister.shardCount).map { _ in Shard(count: perShard) }
    self.violations = violations
  }

  /// Runs a write or a removal of `key`, with the version for its value.
  func write<Result>(_ key: Int, _ kind: WriteKind, _ body: (Version) throws -> Result) rethrows -> Result {
    let write = begin(key, kind)
    defer { end(key, write) }
    return try body(write.version)
  }

  /// Runs an asynchronous write or removal of `key`. Its effect must not depend on cancellation.
  func write<Result>(_ key: Int, _ kind: WriteKind, _ body: (Version) async throws -> Result) async rethrows -> Result {
    let write = begin(key, kind)
    defer { end(key, write) }
    return try await body(write.version)
  }

  /// Runs a removal of many keys.
  func clear(_ scope: ClearingScope = .all, _ body: () throws -> Void) rethrows {
    let call = beginClearing(scope)
    defer { endClearing(scope, call) }
    try body()
  }

  /// Runs an asynchronous removal of many keys.
  func clear(_ scope: ClearingScope, _ body: () async throws -> Void) async rethrows {
    let call = beginClearing(scope)
    defer { endClearing(scope, call) }
    try await body()
  }

  private func beginClearing(_ scope: ClearingScope) -> UInt64 {
    let call = Ticks.now()
    // Until the removal returns, it can be the reason for a new fetch.
    clearings.withLock { $0[scope, default: []].append(Clearing(call: call, return: .max)) }
    return call
  }

  private func endClearing(_ scope: ClearingScope, _ call: UInt64) {
    let end = Ticks.now()
    clearings.withLock { all in
      var clearings = all[scope] ?? []
      if let index = clearings.lastIndex(of: Clearing(call: call, return: .max)) { clearings[index].return = end }
      if clearings.count > VersionRegister.keptClearings { clearings.removeFirst() }
      all[scope] = clearings
    }
    sample.recordClearing(Clearing(call: call, return: end)) { scopes($0).contains(scope) }
  }

  /// Returns the version for the next value of `key` from the origin.
  func nextFetchedVersion(_ key: Int) -> Version {
    withHistory(key) { .fetched($0.nextNumber()) }
  }

  /// Records a fetched value. The leader called at `call`, and the fetch began at `start`.
  func fetched(_ key: Int, _ version: Version, calledAt call: UInt64, startedAt start: UInt64) {
    withHistory(key) { $0.fetched(version, calledAt: call, startedAt: start) }
    // The time of publication, if the value is published at all, is not visible from outside.
    sample.record(key, .write(version), from: call, to: .max)
  }

  /// Checks a read that was called at `start` and has just returned a value.
  func read(_ key: Int, name: String, _ version: Version, from start: UInt64, to end: UInt64) {
    let last = clearings(of: key) { clearings in clearings.filter { $0.return < start }.max { $0.call < $1.call } }
      .max { $0.call < $1.call }
    let wrong = withHistory(key) { $0.read(version, from: start, to: end, lastClearing: last) }
    if let wrong { violations.report(.stale, "\(name): \(wrong)") }
    if case .foreign = version { return }
    sample.record(key, .read(version), from: start, to: end)
  }

  /// The number of keys with at least one operation.
  var distinctKeys: Int {
    shards.reduce(0) { sum, shard in sum + shard.histories.withLock { $0.count { $0.isTouched } } }
  }

  /// Returns whether a write or removal that covers the key was in progress at some time since `time`.
  func wasWritten(_ key: Int, since time: UInt64) -> Bool {
    withHistory(key) { $0.wasWritten(since: time) }
      || !clearings(of: key) { clearings in clearings.last { $0.return >= time } }.isEmpty
  }

  /// Returns the removal that `choose` selects in each scope that contains the key.
  private func clearings(of key: Int, _ choose: @Sendable ([Clearing]) -> Clearing?) -> [Clearing] {
    clearings.withLock { all in
      if all.isEmpty { return [] }
      return scopes(key).compactMap { scope in all[scope].flatMap(choose) }
    }
  }

  private struct Write {
    let version: Version
    let kind: WriteKind
    let call: UInt64
  }

  private func begin(_ key: Int, _ kind: WriteKind) -> Write {
    withHistory(key) { history in
      let version = Version.written(history.nextNumber())
      // The critical section of the history also orders the times of the calls.
      let call = Ticks.now()
      history.writeBegins(version, at: call)
      return Write(version: version, kind: kind, call: call)
    }
  }

  private func end(_ key: Int, _ write: Write) {
    let now = Ticks.now()
    withHistory(key) { $0.writeEnds(write.version, at: now) }
    sample.record(key, write.kind == .value ? .write(write.version) : .removal, from: write.call, to: now)
  }

  private func withHistory<Result: Sendable>(_ key: Int, _ body: (inout KeyHistory) -> Result) -> Result {
    shards[key % VersionRegister.shardCount].histories.withLock { body(&$0[key / VersionRegister.shardCount]) }
  }
}
