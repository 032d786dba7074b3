import Cistern
import InputFormats
import Locking

/// An observer of a whole cache that checks the changes that it receives.
///
/// - The numbers of a key's changes increase.
/// - No insertion reports a present key, and no update or removal reports an absent key.
/// - Each write of a client is reported exactly once.
/// - When the cache is idle, the last event of each key agrees with a read.
final class ObserverWitness: Sendable {
  private struct KeyState {
    var lastNumber: UInt64 = 0
    /// Nil before the first event: values that were on disk before the run are not reported.
    var isPresent: Bool?
    var lastVersion: Version?
    /// A description of the last event, for messages.
    var lastEvent = "nothing"
    var written: Set<UInt64> = []
    var announced: Set<UInt64> = []
    /// The writes that need not be reported.
    var optional: Set<UInt64> = []
  }

  private struct State {
    var keys: [String: KeyState] = [:]
    var changes = 0
    var writes = 0
    var announcedWrites = 0
    /// The number of the last event that removed many keys, by scope.
    var lastClearings: [ClearingScope: UInt64] = [:]
  }

  private let state = Guarded(State())
  private let run: UInt64
  private let keys: KeySpace
  /// The number of each key, by its name.
  private let numbers: [String: Int]
  private let violations: ViolationLog

  init(run: UInt64, keys: KeySpace, violations: ViolationLog) {
    self.run = run
    self.keys = keys
    numbers = Dictionary(zip(keys.names, keys.names.indices)) { first, _ in first }
    self.violations = violations
  }

  /// Records a client's write that has returned. It must be reported exactly once.
  func wrote(_ name: String, _ version: Version) {
    guard case .written(let number) = version else { return }
    state.withLock { state in
      state.writes += 1
      state.keys[name, default: KeyState()].written.insert(number)
    }
  }

  /// Records a write that every tier may refuse. It may be reported at most once.
  func notePossibleAnnouncement(_ name: String, _ version: Version) {
    guard case .written(let number) = version else { return }
    state.withLock { _ = $0.keys[name, default: KeyState()].optional.insert(number) }
  }

  /// The number of received changes.
  var changeCount: Int { state.withLock { $0.changes } }

  /// Checks a change.
  func receive(_ change: Change<String, [UInt8]>) {
    let version = change.value.map { Stamp(of: $0.rawSpan, run: run)?.version }
    let wrong: String? = state.withLock { state in
      state.changes += 1
      guard let name = change.key else { return clear(&state, change) }
      var key = state.keys[name] ?? KeyState()
      defer { state.keys[name] = key }
      if case .some(.some(.written(let number))) = version {
        guard key.announced.insert(number).inserted else { return "\(name): write w\(number) was reported twice" }
        if !key.optional.contains(number) { state.announcedWrites += 1 }
      }
      let lastClearing = state.lastClearings.isEmpty ? 0 : scopes(of: name).compactMap { state.lastClearings[$0] }.max()
      return ObserverWitness.advance(&key, change, to: version ?? nil, name: name, lastClearing: lastClearing ?? 0)
    }
    if let wrong { violations.report(.observed, wrong) }
  }

  private func scopes(of name: String) -> [ClearingScope] { numbers[name].map { keys.scopes(of: $0) } ?? [] }

  private func clear(_ state: inout State, _ change: Change<String, [UInt8]>) -> String? {
    let scope: ClearingScope
    switch change.event {
    case .invalidated(let invalidation):
      guard let known = ClearingScope(invalidation) else {
        return "change \(change.number) has an unknown scope: \(invalidation)"
      }
      scope = known
    default:
      scope = .all
    }
    state.lastClearings[scope] = max(state.lastClearings[scope] ?? 0, change.number)
    for (name, key) in state.keys where key.lastNumber < change.number {
      guard scope == .all || scopes(of: name).contains(scope) else { continue }
      state.keys[name]?.isPresent = false
      state.keys[name]?.lastEvent = "\(change.number): \(ObserverWitness.name(of: change.event))"
    }
    return nil
  }

  private static func advance(
    _ key: inout KeyState, _ change: Change<String, [UInt8]>, to version: Version?, name: String, lastClearing: UInt64
  ) -> String? {
    guard change.number > key.lastNumber else {
      return "\(name): change \(change.number) was delivered after change \(key.lastNumber)"
    }
    guard change.number > lastClearing else {
      return "\(name): change \(change.number) was delivered after change \(lastClearing), which removed many keys"
    }
    let before = key.isPresent
    key.lastNumber = change.number
    key.lastVersion = version
    let last = key.lastEvent
    key.lastEvent = "\(change.number): \(ObserverWitness.name(of: change.event))"
    switch change.event {
    case .inserted:
      key.isPresent = true
      if before == true { return "\(name): change \(change.number) inserts a present key; the last event was \(last)" }
    case .updated:
      key.isPresent = true
      if before == false { return "\(name): change \(change.number) updates an absent key; the last event was \(last)" }
    case .removed(_, let cause):
      key.isPresent = false
      if before == false {
        return "\(name): change \(change.number) removes (\(cause)) an absent key; the last event was \(last)"
      }
    case .cleared, .invalidated:
      break
    }
    return nil
  }
}

extension ObserverWitness {
  private static func name(of event: Change<String, [UInt8]>.Event) -> String {
    switch event {
    case .inserted: "inserted"
    case .updated: "updated"
    case .removed(_, let cause): "removed (\(cause))"
    case .cleared: "cleared"
    case .invalidated(let invalidation): "invalidated (\(invalidation))"
    }
  }

  /// Waits until all writes have been reported, and compares the events with the cache. The cache must be idle.
  ///
  /// Late events have the time `patience`. After the first event that does not come in time, the method waits no more.
  /// With a time for each key, the check of a cache that lost many values would take hours.
  func settle(with cache: Cache<String, [UInt8]>, patience: Duration = .seconds(60)) async {
    await wait(patience.nanoseconds) { self.state.withLock { $0.announcedWrites >= $0.writes } }
    let unannounced = state.withLock { state in
      state.keys.filter { !$0.value.written.subtracting($0.value.announced).isEmpty }.keys.sorted()
    }
    for name in unannounced.prefix(10) {
      let missing = state.withLock { state in
        state.keys[name].map { $0.written.subtracting($0.announced).sorted().map(String.init) } ?? []
      }
      violations.report(.observed, "\(name): writes \(missing.joined(separator: ", ")) were never reported")
    }
    var patience = patience.nanoseconds
    for name in state.withLock({ Array($0.keys.keys) }) {
      guard let wrong = await lastingDisagreement(name, with: cache, after: patience) else { continue }
      violations.report(.observed, wrong)
      patience = 0
    }
  }

  private func lastingDisagreement(
    _ name: String, with cache: Cache<String, [UInt8]>, after patience: UInt64
  ) async -> String? {
    var wrong = disagreement(name, with: cache)
    if wrong == nil { return nil }
    // The last event may not be delivered yet. The read itself can remove a value that expired.
    await wait(patience) {
      wrong = self.disagreement(name, with: cache)
      return wrong == nil
    }
    return wrong
  }

  private func disagreement(_ name: String, with cache: Cache<String, [UInt8]>) -> String? {
    // A value in its grace counts as present.
    let value = cache.value(forKey: name, staleUpTo: .seconds(1_000_000))
    let found = value.flatMap { Stamp(of: $0.rawSpan, run: run)?.version }
    let (isPresent, last) = state.withLock { ($0.keys[name]?.isPresent, $0.keys[name]?.lastVersion) }
    switch (isPresent, value) {
    case (nil, _), (false, nil): return nil
    case (true, nil): return "\(name): its last event reports a value, but a read finds none"
    case (false, _): return "\(name): its last event reports a removal, but a read finds a value"
    case (true, _):
      return found == last ? nil : "\(name): its last event has \(describe(last)), but a read finds \(describe(found))"
    }
  }

  private func describe(_ version: Version?) -> String { version.map(\.description) ?? "nothing" }

  /// Waits for a condition, but at most this number of nanoseconds.
  private func wait(_ nanoseconds: UInt64, until condition: () -> Bool) async {
    let deadline = Ticks.now() + nanoseconds
    while !condition(), Ticks.now() < deadline {
      // A cancelled sleep returns early, so the loop yields instead of spinning.
      do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
    }
  }
}
