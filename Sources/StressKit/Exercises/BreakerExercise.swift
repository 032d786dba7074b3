import Cistern
import CisternTesting
import Locking
import Synchronization

/// An exercise with a circuit breaker, and an origin that works and fails by turns.
///
/// It checks that the origin receives no more requests while it fails than while it works. The time is that of a manual
/// clock, which each operation moves on. The number of requests therefore depends little on the speed of the machine.
final class BreakerExercise: Exercise {
  private static let keyCount = 50
  /// The number of operations in which the origin works, or fails.
  static let phaseLength = 2_000
  private static let step = Duration.milliseconds(1)

  private let clock = ManualClock()
  private let cache: Result<Cache<Int, Int>, any Error>
  private let operations = Atomic<Int>(0)
  private let requests = Guarded(OriginRequests())
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    var store = Store.Configuration()
    store.clock = clock
    var settings = CacheConfiguration<Int>()
    settings.retry = RetryPolicy(attempts: 3, initialDelay: .zero)
    settings.refreshRetryInterval = Self.step
    settings.circuitBreaker = CircuitBreaker(
      opensAfter: .consecutiveFailures(5), openDuration: .milliseconds(50),
      maximumOpenDuration: .milliseconds(400))
    cache = Result {
      try Cache(
        settings: settings, expiry: .after(.milliseconds(200), graceStale: .milliseconds(600)), configuration: store)
    }
    self.violations = violations
  }

  /// The requests to the origin in complete phases.
  var counts: OriginRequests.Counts {
    requests.withLock { $0.counts(before: operations.load(ordering: .relaxed) / Self.phaseLength) }
  }

  /// This exercise does not use the store.
  func open(in store: Store, isFirst: Bool) throws {}

  func perform(by client: Performer) async {
    guard let cache = violations.require(cache, "the cache with a breaker") else { return }
    clock.advance(by: Self.step)
    let phase = operations.add(1, ordering: .relaxed).newValue / Self.phaseLength
    let key = client.index(below: Self.keyCount)
    await client.measure {
      do {
        let loaded = try await cache.loadedValue(forKey: key) { [self] key in
          requests.withLock { $0.note(in: phase) }
          await Task.yield()
          if OriginRequests.fails(in: phase) { throw UnsteadyOrigin.Down() }
          return key
        }
        if loaded.value != key { violations.report(.corrupt, "a load of key \(key) returned \(loaded.value)") }
        return Outcome(of: loaded, anew: false)
      } catch is UnsteadyOrigin.Down {
        return .failed
      } catch let error as CisternError where error.code == .circuitOpen {
        return .failed
      } catch {
        return violations.judge(error, of: "a load behind a breaker")
      }
    }
  }

  func settle() async {
    let counts = counts
    if counts.failing > counts.working {
      violations.report(
        .throttled,
        "the origin received \(counts.working) requests while it worked, and \(counts.failing) while it failed")
    }
    // `perform(by:)` reports a cache that could not be created.
    guard let cache = try? cache.get() else { return }
    for finding in await restingFindings(of: cache) { violations.report(.unsound, finding) }
  }
}
