import Cistern
import Locking

/// What is being stressed: a store, open, and its cache, with a witness who observes all of it; and the exercises' store
/// beside it.
struct Subject: Sendable {
  let store: Store
  let cache: Cache<String, [UInt8]>
  let witness: ObserverWitness
  private let exerciseStore: Store?
  private let observations = Observations()

  /// The name of the cache.
  static let cacheName = "stress"

  /// Opens all of it.
  ///
  /// - Parameter isFirst: whether the run begins.
  init(_ workshop: Workshop, directory: String, isFirst: Bool) throws {
    let configuration = workshop.configuration
    var options = Store.Configuration()
    options.evictionPolicy = configuration.evictionPolicy
    options.reportHandler = { [violations = workshop.violations] report in
      // Values that are too large are written on purpose, and the origin fails on purpose. Any other report is a violation.
      if report.code != .refused && report.code != .refreshFailed {
        violations.report(.unsound, "the store reports: \(report.message) (\(report.location))")
      }
    }
    store = try Store(
      directory: directory, memoryLimit: configuration.memoryLimit, diskLimit: configuration.diskLimit,
      configuration: options)
    cache = try store.cache(
      Subject.cacheName, of: [UInt8].self, keyedBy: String.self, configuration: Subject.configuration(workshop))
    let witness = ObserverWitness(run: workshop.run, keys: workshop.keys, violations: workshop.violations)
    self.witness = witness
    cache.observe(.all) { witness.receive($0) }.store(in: observations)
    exerciseStore = try workshop.exercises.open(directory: directory, isFirst: isFirst, options: options)
  }

  /// Each key has a lifetime and a tag of its own, which its values tell.
  private static func configuration(_ workshop: Workshop) -> CacheConfiguration<[UInt8]> {
    let (lifetimes, keys, run) = (workshop.configuration.lifetimes, workshop.keys, workshop.run)
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.expiryOfValue = { value in
      Stamp(of: value.rawSpan, run: run).map { lifetimes[$0.key].expiry }
    }
    configuration.tagsOfValue = { value in
      Stamp(of: value.rawSpan, run: run).map { [keys.tag(of: $0.key)] } ?? []
    }
    configuration.refreshRetryInterval = .milliseconds(100)
    return configuration
  }

  /// Ends the observation and closes the stores. Nobody may be using them.
  func close() async throws {
    observations.cancelAll()
    try await store.close()
    try await exerciseStore?.close()
  }
}

/// Where the clients of a run find what is being stressed; it changes while all of them are parked.
final class SubjectHolder: Sendable {
  private let subject: Guarded<Subject>

  init(_ subject: Subject) {
    self.subject = Guarded(subject)
  }

  var current: Subject { subject.withLock { $0 } }

  func replace(with new: Subject) {
    subject.withLock { $0 = new }
  }
}
