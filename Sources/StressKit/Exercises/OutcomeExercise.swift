import Cistern
import Synchronization

/// An exercise with fetches that return outcomes: stored and kept values, values for the callers only, and absence.
///
/// Each value says whether the cache may keep it. A look-up must never return a value that was only returned or
/// announced. At rest, both tiers and an enumeration agree.
final class OutcomeExercise: Exercise {
  /// The way in which a value reaches callers.
  enum Way: String, Codable, Sendable {
    /// It is set, or is the result of a fetch that stores it.
    case stored
    /// It is the result of a fetch that does not store it.
    case returned
    /// It is announced during a fetch.
    case announced
  }

  /// A value. No two have the same number.
  struct Reply: Codable, Sendable, Equatable {
    var key: Int
    var number: Int
    var way: Way
  }

  private static let names = (0..<32).map { "outcome/\($0)" }

  private let room = Room<String, Reply>()
  private let lastNumber = Atomic<Int>(0)
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    room.move(
      to: try store.cache(
        "outcomes", of: Reply.self, keyedBy: String.self,
        expiry: .after(.milliseconds(40), staleWhileRevalidate: .seconds(1), staleIfError: .seconds(2))))
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let key = client.index(below: Self.names.count)
    let name = Self.names[key]
    switch client.index(below: 60) {
    case ..<12: lookUp(key, client)
    case 12: write(client) { room.cache.setValue(reply(key, .stored), forKey: name) }
    case 13: write(client) { room.cache.removeValue(forKey: name) }
    case 14: write(client) { room.cache.removeAll(withPrefix: "outcome/\(key % 4)") }
    case 15...17: refresh(key, client)
    case 18, 19: await client.measure { await enumerateAll() }
    case 20...24: await client.measure { await loadSeveral(from: key, FetchPlan(client)) }
    default: await client.measure { await load(key, FetchPlan(client)) }
    }
  }

  func settle() async {
    let cache = room.cache
    for finding in await restingFindings(of: cache) { violations.report(.unsound, finding) }
    let before = Self.names.map { cache.find($0)?.value }
    cache.trim(toCost: 0)
    let enumerated = await enumerate()
    for (key, name) in Self.names.enumerated() {
      let (first, second) = (before[key], cache.find(name)?.value)
      check(second, key)
      // Both are nil, or one is, if the lifetime ended in between.
      if let first, let second, first != second {
        violations.report(.unsound, "\(name): memory had \(first), and the disk has \(second)")
      }
      if first == nil, second != nil { violations.report(.unsound, "\(name): the disk has a value that memory hid") }
      if second != nil, !enumerated.contains(name) {
        violations.report(.unsound, "\(name) has a value, and is missing in an enumeration")
      }
    }
  }

  // MARK: Operations

  private func lookUp(_ key: Int, _ client: Performer) {
    let start = Ticks.now()
    let found = room.cache.find(Self.names[key])
    client.tally.record(found == nil ? .missed : .memory, from: start, to: Ticks.now())
    check(found?.value, key)
  }

  private func write(_ client: Performer, _ body: () -> Void) {
    let start = Ticks.now()
    body()
    client.tally.record(.written, from: start, to: Ticks.now())
  }

  private func refresh(_ key: Int, _ client: Performer) {
    let plan = FetchPlan(client)
    let start = Ticks.now()
    let begins = room.cache.refresh(Self.names[key]) { [self] context in try await fetch(key, context, plan) }
    client.tally.record(begins ? .refreshed : .joined, from: start, to: Ticks.now())
  }

  private func load(_ key: Int, _ plan: FetchPlan) async -> Outcome {
    do {
      let loaded = try await room.cache.load(Self.names[key], policy: plan.policy) { [self] context in
        try await fetch(key, context, plan)
      }
      guard let loaded else { return .missed }
      check(loaded, key)
      return Outcome(of: loaded, anew: plan.policy == .reload)
    } catch is UnsteadyOrigin.Hiccup {
      return .failed
    } catch {
      return violations.judge(error, of: "\(Self.names[key]): a load with a context")
    }
  }

  private func loadSeveral(from first: Int, _ plan: FetchPlan) async -> Outcome {
    let keys = Dictionary(
      uniqueKeysWithValues: (0..<4).map { (first + $0 * 5) % Self.names.count }.map { (Self.names[$0], $0) })
    do {
      let loaded = try await room.cache.load(keys: keys.keys, policy: plan.policy) { [self] contexts in
        var outcomes: [String: FetchOutcome<Reply>] = [:]
        for context in contexts {
          guard let key = keys[context.key] else { continue }
          outcomes[context.key] = try await fetch(key, context, plan)
        }
        return outcomes
      }
      for (name, key) in keys { if let one = loaded.details[name] { check(one, key) } }
      return .bulk
    } catch {
      return violations.judge(error, of: "a load of several keys with contexts")
    }
  }

  private func enumerateAll() async -> Outcome {
    _ = await enumerate()
    return .bulk
  }

  /// Enumerates all keys, and returns them.
  private func enumerate() async -> Set<String> {
    var names: Set<String> = []
    do {
      for try await entry in room.cache.entries() where !names.insert(entry.key).inserted {
        violations.report(.unsound, "\(entry.key) is twice in an enumeration")
      }
    } catch {
      _ = violations.judge(error, of: "an enumeration")
    }
    return names
  }

  // MARK: Fetches

  private func reply(_ key: Int, _ way: Way) -> Reply {
    Reply(key: key, number: lastNumber.add(1, ordering: .relaxed).newValue, way: way)
  }

  private func fetch(
    _ key: Int, _ context: FetchContext<String, Reply>, _ plan: FetchPlan
  ) async throws -> FetchOutcome<Reply> {
    check(context.stored?.value, key)
    for _ in 0..<plan.yields { await Task.yield() }
    let isStorable = context.isStorable
    if plan.announces {
      context.announce(reply(key, .announced))
      if context.announce(reply(key, .announced)) {
        violations.report(.unsound, "\(Self.names[key]): a flight announced two values")
      }
    }
    for _ in 0..<plan.yields { await Task.yield() }
    if !isStorable, context.isStorable {
      violations.report(.unsound, "\(Self.names[key]): a result became storable again")
    }
    switch plan.outcome {
    case .store: return .store(reply(key, .stored))
    case .keep: return context.stored == nil ? .store(reply(key, .stored)) : .keepStored()
    case .returnOnly: return .returnOnly(reply(key, .returned))
    case .returnAndRemove: return .returnAndRemove(reply(key, .returned))
    case .absent: return .absent()
    case .fail: throw UnsteadyOrigin.Hiccup()
    }
  }

  // MARK: Checks

  /// Checks a value that a cache has.
  private func check(_ value: Reply?, _ key: Int) {
    guard let value else { return }
    if value.key != key {
      violations.report(.corrupt, "\(Self.names[key]): a read returned a value of key \(value.key)")
    }
    if value.way != .stored {
      violations.report(.unsound, "\(Self.names[key]): the cache has a value that was only \(value.way.rawValue)")
    }
  }

  /// Checks the result of a load.
  private func check(_ loaded: Loaded<Reply>, _ key: Int) {
    switch loaded.source {
    case .memory, .secondTier: check(loaded.value, key)
    case .joined, .fetched:
      if loaded.value.key != key {
        violations.report(.corrupt, "\(Self.names[key]): a load returned a value of key \(loaded.value.key)")
      }
    }
  }
}

/// The course of a fetch, and the policy of its load, chosen at random.
struct FetchPlan: Sendable {
  enum Outcome: CaseIterable, Sendable {
    case store, keep, returnOnly, returnAndRemove, absent, fail
  }

  let outcome: Outcome
  let announces: Bool
  let yields: Int
  let policy: LoadPolicy

  init(_ client: Performer) {
    let outcomes = Outcome.allCases + [.store, .keep]
    outcome = outcomes[client.index(below: outcomes.count)]
    announces = client.index(below: 4) == 0
    yields = client.index(below: 4)
    let policies: [LoadPolicy] = [.cachedOrFetch, .freshOnly, .freshElseStale, .reload, .fetchAnew]
    policy = policies[client.index(below: policies.count)]
  }
}
