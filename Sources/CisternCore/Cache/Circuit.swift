import Locking
import Synchronization

/// The circuit breaker of a cache: the storage around ``CircuitState``.
@usableFromInline
final class Circuit: Sendable {
  /// The probe that the current task is part of. Loads inside its fetch pass a half-open breaker.
  private final class Probe: Sendable {
    let circuit: Circuit
    let generation: CircuitGeneration
    /// Whether the fetch has ended. A task that it started may outlive it.
    let hasEnded = Atomic<Bool>(false)

    init(of circuit: Circuit, generation: CircuitGeneration) {
      self.circuit = circuit
      self.generation = generation
    }
  }

  @TaskLocal private static var probe: Probe?

  private let isFailure: @Sendable (any Error) -> Bool
  private let state: Guarded<CircuitState>
  /// Records a state change. Called under the lock, so that observers receive state changes in their order.
  private let record: @Sendable (CircuitState.Transition) -> Void
  /// Delivers the recorded state changes. Called outside all locks.
  private let deliver: @Sendable () -> Void

  init(
    _ breaker: CircuitBreaker, recording record: @escaping @Sendable (CircuitState.Transition) -> Void,
    then deliver: @escaping @Sendable () -> Void
  ) {
    self.record = record
    self.deliver = deliver
    isFailure = breaker.isFailure
    state = Guarded(CircuitState(breaker))
  }

  /// Throws if a call would be rejected now. A call that waits for a permit checks this before, and begins after it.
  func check(by clock: any CacheClock) throws(CircuitRejection) {
    if let rejection = rejection(by: clock) { throw rejection }
  }

  /// Returns the reason for which a call would be rejected now; nil if it would be admitted.
  func rejection(by clock: any CacheClock) -> CircuitRejection? {
    let now = clock.now()
    let rejection = state.withLock { state in isPartOfProbe(state) ? nil : state.rejection(at: now) }
    return rejection.map { CircuitRejection($0, at: now) }
  }

  /// Calls a fetch, if the breaker permits it, and counts its result.
  func call<Fetched>(by clock: any CacheClock, _ fetch: () async throws -> Fetched) async throws -> Fetched {
    guard let call = try begin(at: clock.now()) else { return try await fetch() }
    do {
      let fetched =
        if call.isProbe {
          try await probing(call, fetch)
        } else {
          try await fetch()
        }
      // A fetch that its callers left can return any value. It tells nothing about the origin.
      end(call, with: Task.isCancelled ? .cancelled : .success, at: clock.now())
      return fetched
    } catch {
      end(call, with: result(of: error), at: clock.now())
      throw error
    }
  }

  /// Calls the fetch of a probe. Loads inside it are part of the probe until it ends.
  private func probing<Fetched>(
    _ call: CircuitState.Call, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    let probe = Probe(of: self, generation: call.generation)
    defer { probe.hasEnded.store(true, ordering: .releasing) }
    return try await Self.$probe.withValue(probe, operation: fetch)
  }

  /// Starts work that no fetch waits for. It is part of no probe, also if the current task is.
  @usableFromInline
  static func startOutsideProbes(_ start: () -> Void) {
    if probe == nil { start() } else { $probe.withValue(nil, operation: start) }
  }

  /// Begins a call. Returns nil for a call that is part of a probe and is not counted.
  private func begin(at now: MonotonicTime) throws(CircuitRejection) -> CircuitState.Call? {
    let begun = state.withLock { state in
      let begun = isPartOfProbe(state) ? nil : state.begin(at: now)
      if let transition = begun?.transition { record(transition) }
      return begun
    }
    guard let begun else { return nil }
    if begun.transition != nil { deliver() }
    switch begun.admission {
    case .admitted(let call): return call
    case .rejected(let rejection): throw CircuitRejection(rejection, at: now)
    }
  }

  private func end(_ call: CircuitState.Call, with result: CircuitState.Result, at now: MonotonicTime) {
    let hasChanged = state.withLock { state in
      guard let transition = state.end(call, with: result, at: now) else { return false }
      record(transition)
      return true
    }
    if hasChanged { deliver() }
  }

  /// Whether the current task is part of a probe whose result still counts.
  private func isPartOfProbe(_ state: CircuitState) -> Bool {
    guard case .halfOpen = state.phase, let probe = Self.probe else { return false }
    return probe.circuit === self && probe.generation == state.generation && !probe.hasEnded.load(ordering: .acquiring)
  }

  private func result(of error: any Error) -> CircuitState.Result {
    // A rejected load inside the fetch is no answer of this origin.
    if error is CancellationError || Task.isCancelled || CircuitRejection.isCause(of: error) { return .cancelled }
    return isFailure(error) ? .failure : .success
  }

  /// The state, for tests.
  var phase: CircuitState.Phase { state.withLock { $0.phase } }
}
