import Cistern
import CisternTesting
import Foundation
import Synchronization

/// The state that all clients of a run share: the configuration, the keys, and the checkers.
final class RunState: Sendable {
  let configuration: StressConfiguration
  /// The number that distinguishes the values of this run from those of other runs.
  let run: UInt64
  let keys: KeySpace
  let chooser: KeyChooser
  let violations: ViolationLog
  let register: VersionRegister
  let sample: HistorySample
  let ledger: FetchLedger
  let freshness: FreshnessWatch
  let exercises: Exercises
  let barrier = Barrier()
  let stop: StopSignal
  /// The number of requests to the origin.
  let originRequests = Atomic<Int>(0)
  let originAnswers = OriginAnswers()
  /// The number of observers of keys and prefixes, and the number of changes that they received.
  let scopedObservers = Atomic<Int>(0)
  let scopedChanges = Atomic<Int>(0)

  /// - Parameters:
  ///   - configuration: The configuration of the run.
  ///   - stop: The signal that ends the run.
  ///   - temporary: The directory for files that the run removes.
  init(_ configuration: StressConfiguration, stop: StopSignal, temporary: String = NSTemporaryDirectory()) {
    self.configuration = configuration
    self.stop = stop
    run = SeededGenerator.runIdentifier(seed: configuration.seed)
    keys = configuration.keys
    let chooser =
      configuration.trace.map { KeyChooser(trace: $0) }
      ?? KeyChooser(keyCount: keys.count, exponent: configuration.zipfExponent, seed: configuration.seed)
    self.chooser = chooser
    violations = ViolationLog()
    var generator = SeededGenerator(seed: configuration.seed, index: -2)
    sample = HistorySample(keys: (0..<HistorySample.keyCount).map { _ in chooser.next(using: &generator) })
    register = VersionRegister(
      keyCount: keys.count, sample: sample, violations: violations, scopes: { [keys] in keys.scopes(of: $0) })
    ledger = FetchLedger(register: register, violations: violations)
    freshness = FreshnessWatch(lifetimes: configuration.lifetimes, violations: violations)
    exercises = Exercises(
      of: configuration.profile.settings.mix, seed: configuration.seed, violations: violations, temporary: temporary)
  }

  /// Fetches a key from the origin for a caller that called at `call`, and checks the result.
  func fetch(_ key: Int, from origin: any Origin, calledAt call: UInt64) async throws -> [UInt8] {
    let name = keys.names[key]
    return try await ledger.fetch(key, name: name, calledAt: call) { fetch in
      originRequests.add(1, ordering: .relaxed)
      let (value, stamp) = try await originAnswers.note {
        let value = try await origin.fetch(key)
        guard let stamp = Stamp(of: value.rawSpan, run: run), stamp.key == key, stamp.length == value.count else {
          throw OriginError.garbled(name)
        }
        return (value, stamp)
      }
      register.fetched(key, stamp.version, calledAt: call, startedAt: fetch.start)
      return value
    }
  }

  /// Checks a value that a read returned: its bytes, its key, and its age.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - window: The time of the read, and the values that it accepts.
  ///   - isThorough: Whether to check every byte, or only the stamp.
  func check(_ value: RawSpan, of key: Int, in window: ReadWindow, isThorough: Bool) {
    let name = keys.names[key]
    guard let stamp = Stamp(of: value, run: run) else {
      violations.report(.corrupt, "\(name): a read returned \(value.byteCount) bytes that are not a value of this run")
      return
    }
    guard stamp.key == key else {
      if case .foreign = stamp.version { return }
      violations.report(.corrupt, "\(name): a read returned the value of \(keys.names[stamp.key % keys.count])")
      return
    }
    guard stamp.length == value.byteCount else {
      violations.report(
        .corrupt, "\(name): \(stamp.version) has \(stamp.length) bytes, but a read returned \(value.byteCount)")
      return
    }
    if isThorough && !stamp.matchesPayload(of: value) {
      violations.report(.corrupt, "\(name): the bytes of \(stamp.version) differ from the written ones")
    }
    register.read(key, name: name, stamp.version, from: window.start, to: window.end)
    freshness.read(key, name: name, stamp.version, in: window)
  }
}

extension SeededGenerator {
  /// Returns a number that is different for every run. It depends on the seed and the time.
  static func runIdentifier(seed: UInt64) -> UInt64 {
    var generator = SeededGenerator(seed: seed ^ Ticks.now() &* 0x9E37_79B9_7F4A_7C15)
    return generator.next()
  }
}
