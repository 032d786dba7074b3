import Cistern

/// The objects under stress: an open store, its cache, a witness that observes the cache, and the store of the
/// exercises.
struct Subject: Sendable {
  let store: Store
  let cache: Cache<String, [UInt8]>
  let witness: ObserverWitness
  private let exerciseStore: Store?
  private let observations = Observations()

  /// The name of the cache.
  static let cacheName = "stress"

  /// Opens the stores, and registers the witness.
  ///
  /// - Parameters:
  ///   - runState: The runState.
  ///   - directory: The directory of the stores.
  ///   - isFirst: Whether the run begins.
  /// - Throws: An error if a store cannot be opened.
  init(_ runState: RunState, directory: String, isFirst: Bool) throws {
    let configuration = runState.configuration
    var options = Store.Configuration()
    options.evictionPolicy = configuration.evictionPolicy
    options.reportHandler = { [violations = runState.violations] report in
      // The run writes oversize values and fails fetches on purpose. Every other report of the store is a
      // violation.
      if report.code != .refused && report.code != .refreshFailed {
        violations.report(.unsound, "the store reports: \(report.message) (\(report.location))")
      }
    }
    store = try Store(
      directory: directory, memoryLimit: configuration.memoryLimit, diskLimit: configuration.diskLimit,
      configuration: options)
    cache = try store.cache(
      Subject.cacheName, of: [UInt8].self, keyedBy: String.self, configuration: Subject.configuration(runState))
    let witness = ObserverWitness(run: runState.run, keys: runState.keys, violations: runState.violations)
    self.witness = witness
    cache.observe(.all) { witness.receive($0) }.store(in: observations)
    exerciseStore = try runState.exercises.open(directory: directory, isFirst: isFirst, options: options)
  }

  /// The lifetime and the tag of a value depend on its key, which the stamp of the value contains.
  private static func configuration(_ runState: RunState) -> CacheConfiguration<[UInt8]> {
    let (lifetimes, keys, run) = (runState.configuration.lifetimes, runState.keys, runState.run)
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

  /// Ends the observation, and closes the stores. No client may use them.
  ///
  /// Both stores are closed in any case: a store that stays open could not be opened again. Throws the first error.
  func close() async throws {
    observations.cancelAll()
    var failure: (any Error)?
    for store in [store, exerciseStore].compactMap({ $0 }) {
      do { try await store.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}
