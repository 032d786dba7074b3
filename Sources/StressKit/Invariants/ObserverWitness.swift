import Cistern
import Locking

/// Observes a whole cache for as long as it is open, and checks what it is told: per key, numbers that rise; never an
/// insertion of what is there, nor an update or removal of what is not; each write of each client exactly once; and,
/// when all is quiet, that the last event of each key is what a read finds.
final class ObserverWitness: Sendable {
  private struct KeyState {
    var lastNumber: UInt64 = 0
    /// Nil until the first event: what was on disk before is not announced.
    var isPresent: Bool?
    var lastVersion: Version?
    /// The last event, for people.
    var lastEvent = "nothing"
    var written: Set<UInt64> = []
    var announced: Set<UInt64> = []
    /// Writes that need not be announced.
    var optional: Set<UInt64> = []
  }

  private struct State {
    var keys: [String: KeyState] = [:]
    var changes = 0
    var writes = 0
    var announcedWrites = 0
    /// The number of the last event that removed many keys, by what it removed.
    var lastClearings: [ClearingScope: UInt64] = [:]
  }

  private let state = Guarded(State())
  private let run: UInt64
  private let keys: KeySpace
  /// The keys' numbers by their names.
  private let numbers: [String: Int]
  private let violations: ViolationLog

  init(run: UInt64, keys: KeySpace, violations: ViolationLog) {
    self.run = run
    self.keys = keys
    numbers = Dictionary(zip(keys.names, keys.names.indices)) { first, _ in first }
    self.violations = violations
  }

  /// A client's write has returned; it must be announced, once.
  func wrote(_ name: String, _ version: Version) {
    guard case .written(let number) = version else { return }
    state.withLock { state in
      state.writes += 1
      state.keys[name, default: KeyState()].written.insert(number)
    }
  }

  /// A client is about to write a value that no tier need take; it may be announced, at most once.
  func mayAnnounce(_ name: String, _ version: Version) {
    guard case .written(let number) = version else { return }
    state.withLock { _ = $0.keys[name, default: KeyState()].optional.insert(number) }
  }

  /// Changes received.
  var changeCount: Int { state.withLock { $0.changes } }

  /// An event.
  func receive(_ change: Change<String, [UInt8]>) {
    let version = change.value.map { Stamp(of: $0.rawSpan, run: run)?.version }
    let wrong: String? = state.withLock { state in
      state.changes += 1
      guard let name = change.key else { return clear(&state, change) }
      var key = state.keys[name] ?? KeyState()
      defer { state.keys[name] = key }
      if case .some(.some(.written(let number))) = version {
        guard key.announced.insert(number).inserted else { return "\(name): write w\(number) was announced twice" }
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
    case .invalidated(let what):
      guard let known = ClearingScope(what) else { return "change \(change.number) invalidates \(what)" }
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
      return "\(name): change \(change.number) was delivered after it was removed with others by change \(lastClearing)"
    }
    let before = key.isPresent
    key.lastNumber = change.number
    key.lastVersion = version
    let last = key.lastEvent
    key.lastEvent = "\(change.number): \(ObserverWitness.name(of: change.event))"
    switch change.event {
    case .inserted:
      key.isPresent = true
      if before == true { return "\(name): change \(change.number) inserts what was there, after \(last)" }
    case .updated:
      key.isPresent = true
      if before == false { return "\(name): change \(change.number) updates what was not there, after \(last)" }
    case .removed(_, let cause):
      key.isPresent = false
      if before == false {
        return "\(name): change \(change.number) removes (\(cause)) what was not there, after \(last)"
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
    case .invalidated(let what): "invalidated (\(what))"
    }
  }

  /// Waits until everything that was written has been announced, and compares with what the cache holds. Nobody may be
  /// using the cache meanwhile.
  func settle(with cache: Cache<String, [UInt8]>) async {
    await wait { self.state.withLock { $0.announcedWrites >= $0.writes } }
    for name in state.withLock({ state in
      state.keys.filter { !$0.value.written.subtracting($0.value.announced).isEmpty }
    })
    .keys.sorted().prefix(10) {
      let missing = state.withLock { state in
        state.keys[name].map { $0.written.subtracting($0.announced).sorted().map(String.init) } ?? []
      }
      violations.report(.observed, "\(name): writes \(missing.joined(separator: ", ")) were never announced")
    }
    for name in state.withLock({ Array($0.keys.keys) }) { await compare(name, with: cache) }
  }

  private func compare(_ name: String, with cache: Cache<String, [UInt8]>) async {
    guard let wrong = disagreement(name, with: cache) else { return }
    // A last event may still be on its way.
    var lasting: String? = wrong
    await wait {
      lasting = self.disagreement(name, with: cache)
      return lasting == nil
    }
    if let lasting { violations.report(.observed, lasting) }
  }

  private func disagreement(_ name: String, with cache: Cache<String, [UInt8]>) -> String? {
    // In grace, a value is there.
    let value = cache.value(forKey: name, staleUpTo: .seconds(1_000_000))
    let found = value.flatMap { Stamp(of: $0.rawSpan, run: run)?.version }
    let (isPresent, last) = state.withLock { ($0.keys[name]?.isPresent, $0.keys[name]?.lastVersion) }
    switch (isPresent, value) {
    case (nil, _), (false, nil): return nil
    case (true, nil): return "\(name): its last event says that it is there, and it is not"
    case (false, _): return "\(name): its last event says that it has gone, and it is there"
    case (true, _):
      return found == last ? nil : "\(name): the last event brought \(describe(last)), a read finds \(describe(found))"
    }
  }

  private func describe(_ version: Version?) -> String { version.map(\.description) ?? "nothing" }

  /// Waits for a condition that is about to hold, for at most five seconds.
  private func wait(until condition: () -> Bool) async {
    let deadline = Ticks.now() + 5_000_000_000
    while !condition(), Ticks.now() < deadline {
      // A cancelled sleep is a shorter one.
      do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
    }
  }
}
