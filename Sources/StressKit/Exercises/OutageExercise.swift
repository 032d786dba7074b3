import Cistern
import Locking

/// An exercise with a memory-only cache and an origin that repeatedly becomes unavailable.
///
/// It checks three rules. During an outage, loads return stale values, but only within their grace. After a
/// failure, the cache does not ask the origin before the retry interval has passed. The number of concurrent
/// fetches never exceeds the limit.
final class OutageExercise: Exercise {
  private static let keyCount = 40
  private static let names = (0..<keyCount).map { "outage\($0)" }
  private static let lifetime = Lifetime.seconds(0.04, grace: 1.5)
  private static let retryInterval: UInt64 = 80_000_000
  private static let flightLimit = 4
  private static let attempts = 3

  private let cache: Result<Cache<Int, Version>, any Error>
  private let origin: UnsteadyOrigin
  private let register: VersionRegister
  private let ledger: FetchLedger
  private let freshness: FreshnessWatch
  private let throttles = Guarded(
    Array(repeating: ThrottleHistory(interval: retryInterval, lifetime: lifetime), count: keyCount))
  private let load: OriginLoad
  private let violations: ViolationLog

  init(seed: UInt64, violations: ViolationLog) {
    var settings = CacheConfiguration<Version>()
    settings.refreshRetryInterval = .nanoseconds(Int64(Self.retryInterval))
    settings.flightLimit = Self.flightLimit
    settings.retry = RetryPolicy(attempts: Self.attempts, initialDelay: .milliseconds(1)) {
      $0 is UnsteadyOrigin.Hiccup
    }
    // The failure of a flight without waiters has no effect that the exercise could observe. Therefore, these
    // flights run to completion.
    settings.completesAbandonedFlights = true
    cache = Result { try Cache(settings: settings, expiry: Self.lifetime.expiry) }
    origin = UnsteadyOrigin(seed: seed)
    register = VersionRegister(keyCount: Self.keyCount, sample: HistorySample(keys: []), violations: violations)
    ledger = FetchLedger(register: register, violations: violations)
    freshness = FreshnessWatch(lifetimes: Lifetimes([Self.lifetime]), violations: violations)
    load = OriginLoad(limit: Self.flightLimit, violations: violations)
    self.violations = violations
  }

  /// This exercise does not use the store.
  func open(in store: Store, isFirst: Bool) throws {}

  func perform(by client: Performer) async {
    guard let cache = violations.require(cache, "the memory-only cache") else { return }
    let key = client.index(below: Self.keyCount)
    switch client.index(below: 100) {
    case 0: write(key, client) { cache.setValue($0, forKey: key) }
    case 1: write(key, client) { _ in cache.removeValue(forKey: key) }
    case ..<20: lookUp(key, cache, client)
    default: await client.measure { await load(key, cache, LoadChoice.next(using: &client.generator)) }
    }
  }

  private func load(_ key: Int, _ cache: Cache<Int, Version>, _ choice: LoadChoice) async -> Outcome {
    let flight = Flight(key: key, choice: choice, writes: throttles.withLock { $0[key].writes })
    do {
      let loaded = try await cache.loadedValue(forKey: key, policy: choice.policy) { [self] _ in
        try await fetch(flight)
      }
      let end = Ticks.now()
      if loaded.isStale, choice.staleness == 0 {
        violations.report(.outlived, "\(Self.names[key]): a load that accepts only fresh values returned a stale one")
      }
      check(loaded.value, key, from: flight.call, to: end, accepting: choice.staleness)
      return Outcome(of: loaded, anew: choice.isReload)
    } catch let error as CisternError where error.code == .timedOut && choice.mayTimeOut {
      return .timedOut
    } catch let error as CisternError where error.code == .notCached && choice.mayFindNothing {
      return .missed
    } catch is UnsteadyOrigin.Hiccup {
      return .failed
    } catch is UnsteadyOrigin.Down {
      return .failed
    } catch {
      return violations.judge(error, of: "\(Self.names[key]): a load during outages")
    }
  }

  /// The state of one load, for the case that the load leads a flight.
  private final class Flight: Sendable {
    let key: Int
    let choice: LoadChoice
    let writes: Int
    let call = Ticks.now()
    let attempts = Guarded(0)

    init(key: Int, choice: LoadChoice, writes: Int) {
      self.key = key
      self.choice = choice
      self.writes = writes
    }
  }

  private func fetch(_ flight: Flight) async throws -> Version {
    let (key, name) = (flight.key, Self.names[flight.key])
    let attempt = flight.attempts.withLock { attempts in
      attempts += 1
      return attempts
    }
    if attempt > Self.attempts { violations.report(.unsound, "\(name): one flight asked the origin \(attempt) times") }
    return try await ledger.fetch(key, name: name, calledAt: flight.call) { fetch in
      let wrong = throttles.withLock {
        $0[key].begins(at: fetch.start, acceptsStale: flight.choice.leavesOriginAlone && attempt == 1)
      }
      if let wrong { violations.report(.throttled, "\(name): \(wrong)") }
      do {
        try await load.run { try await origin.answer() }
      } catch {
        // An error that is retried does not fail the flight yet.
        if !(error is UnsteadyOrigin.Hiccup) || attempt >= Self.attempts {
          throttles.withLock { $0[key].failed(at: Ticks.now(), after: flight.writes) }
        }
        throw error
      }
      let version = register.nextFetchedVersion(key)
      register.fetched(key, version, calledAt: flight.call, startedAt: fetch.start)
      throttles.withLock { $0[key].fetched(startedAt: fetch.start, after: flight.writes) }
      return version
    }
  }

  private func lookUp(_ key: Int, _ cache: Cache<Int, Version>, _ client: Performer) {
    let staleness: UInt64 = client.index(below: 2) == 0 ? 0 : 200_000_000
    let start = Ticks.now()
    let value = cache.value(forKey: key, staleUpTo: .nanoseconds(Int64(staleness)))
    let end = Ticks.now()
    client.tally.record(value == nil ? .missed : .memory, from: start, to: end)
    if let value { check(value, key, from: start, to: end, accepting: staleness) }
  }

  private func write(_ key: Int, _ client: Performer, _ body: (Version) -> Void) {
    let start = Ticks.now()
    throttles.withLock { $0[key].written() }
    register.write(key, .value) { version in
      body(version)
      freshness.wrote(key, version, by: Ticks.now())
    }
    throttles.withLock { $0[key].written() }
    client.tally.record(.written, from: start, to: Ticks.now())
  }

  private func check(_ version: Version, _ key: Int, from start: UInt64, to end: UInt64, accepting staleness: UInt64) {
    register.read(key, name: Self.names[key], version, from: start, to: end)
    freshness.read(key, name: Self.names[key], version, in: ReadWindow(start: start, end: end, staleness: staleness))
  }

  func settle() async {
    // `perform(by:)` reports a cache that could not be created.
    guard let cache = try? cache.get() else { return }
    for finding in await restingFindings(of: cache) { violations.report(.unsound, finding) }
    if ledger.count > 0 { violations.report(.unsound, "\(ledger.count) fetches run without a flight") }
  }
}
