import Cistern
import CisternTesting
import Synchronization

/// What all clients of a run share: the keys and how they are chosen, the origin, and everything that watches.
final class Workshop: Sendable {
  let configuration: StressConfiguration
  /// Tells this run's values from those of others.
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
  /// Requests made to the origin.
  let originRequests = Atomic<Int>(0)
  let originAnswers = OriginAnswers()
  /// Observers of keys and prefixes: how many there were, and what they were told.
  let scopedObservers = Atomic<Int>(0)
  let scopedChanges = Atomic<Int>(0)

  init(_ configuration: StressConfiguration, stop: StopSignal) {
    self.configuration = configuration
    self.stop = stop
    run = SplitMix64.runIdentifier(seed: configuration.seed)
    keys = configuration.keys
    let chooser =
      configuration.trace.map { KeyChooser(trace: $0) }
      ?? KeyChooser(keyCount: keys.count, exponent: configuration.zipfExponent, seed: configuration.seed)
    self.chooser = chooser
    violations = ViolationLog()
    var generator = SplitMix64(seed: configuration.seed, index: -2)
    sample = HistorySample(keys: (0..<HistorySample.keyCount).map { _ in chooser.next(using: &generator) })
    register = VersionRegister(
      keyCount: keys.count, sample: sample, violations: violations, scopes: { [keys] in keys.scopes(of: $0) })
    ledger = FetchLedger(register: register, violations: violations)
    freshness = FreshnessWatch(lifetimes: configuration.lifetimes, violations: violations)
    exercises = Exercises(
      of: configuration.profile.settings.mix, seed: configuration.seed, violations: violations)
  }

  /// Brings a key from the origin, for a caller that called at `call`, and checks what comes.
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

  /// Checks what a read returned: whole, this key's, and no older than it may be.
  ///
  /// - Parameters:
  ///   - staleness: for how many nanoseconds after its lifetime the read accepts a value.
  ///   - isThorough: whether every byte is read, or the stamp only.
  func check(
    _ value: RawSpan, of key: Int, from start: UInt64, to end: UInt64, accepting staleness: UInt64, isThorough: Bool
  ) {
    let name = keys.names[key]
    guard let stamp = Stamp(of: value, run: run) else {
      violations.report(.corrupt, "\(name): what was returned is no value of the run's: \(value.byteCount) bytes")
      return
    }
    guard stamp.key == key else {
      if case .foreign = stamp.version { return }
      violations.report(.corrupt, "\(name): the value of \(keys.names[stamp.key % keys.count]) was returned")
      return
    }
    guard stamp.length == value.byteCount else {
      violations.report(
        .corrupt, "\(name): \(stamp.version) is \(stamp.length) bytes long, and \(value.byteCount) came back")
      return
    }
    if isThorough && !stamp.matchesPayload(of: value) {
      violations.report(.corrupt, "\(name): the bytes of \(stamp.version) are not those that were written")
    }
    register.read(key, name: name, stamp.version, from: start, to: end)
    freshness.read(key, name: name, stamp.version, from: start, to: end, accepting: staleness)
  }
}

extension SplitMix64 {
  /// A number that no other run has: the seed, and the time.
  static func runIdentifier(seed: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed ^ Ticks.now() &* 0x9E37_79B9_7F4A_7C15)
    return generator.next()
  }
}
