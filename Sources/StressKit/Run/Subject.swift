import Cistern
import Locking

/// What is being stressed: a store, open, and its cache, with a witness who observes all of it.
struct Subject: Sendable {
  let store: Store
  let cache: Cache<String, [UInt8]>
  let witness: ObserverWitness
  private let observations = Observations()

  init(_ configuration: StressConfiguration, directory: String, run: UInt64, violations: ViolationLog) throws {
    var options = Store.Configuration()
    options.evictionPolicy = configuration.evictionPolicy
    options.reportHandler = { report in
      switch report.code {
      case .refused:
        // Values that are too large are written on purpose.
        break
      case .setAside, .degraded, .recovered, .damagedRecord, .notEncodable, .notDecodable, .notMigrated, .longReader:
        violations.report(.unsound, "the store reports: \(report.message) (\(report.location))")
      }
    }
    store = try Store(
      directory: directory, memoryLimit: configuration.memoryLimit, diskLimit: configuration.diskLimit,
      configuration: options)
    cache = try store.cache("stress", of: [UInt8].self, keyedBy: String.self)
    let witness = ObserverWitness(run: run, violations: violations)
    self.witness = witness
    cache.observe(.all) { witness.receive($0) }.store(in: observations)
  }

  /// Ends the observation and closes the store. Nobody may be using it.
  func close() async throws {
    observations.cancelAll()
    try await store.close()
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
