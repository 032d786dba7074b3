import Cistern
import Foundation

/// A stress run, from its configuration to the report.
///
///     origin ─▶ store ─▶ clients ┬─▶ all finished ─▶ idle checks ─▶ close ─▶ report
///                                ├─ supervisor: closes and reopens the store
///                                ├─ limits: checked many times a second
///                                └─ progress: a line every few seconds
///
/// A run ends in any case. Clients, checks and a closing that never end are violations, and the run does not wait for
/// them.
struct StressRun: Sendable {
  let configuration: StressConfiguration
  let stop: StopSignal
  let directory: StoreDirectory
  var patience = Patience()

  init(_ configuration: StressConfiguration, stop: StopSignal) throws {
    self.configuration = configuration
    self.stop = stop
    directory = try StoreDirectory(configuration.directory)
  }

  /// Performs the run, and returns the report. Throws if the run could not begin.
  func run() async throws -> StressReport {
    defer { directory.removeTemporary() }
    try await directory.checkIsFree()
    let runState = RunState(configuration, stop: stop, temporary: directory.temporary)
    return switch configuration.origin {
    case .inProcess:
      try await run(runState, InProcessOrigin(behaviour: behaviour(runState)))
    case .remote(let url):
      try await run(runState, url: url, stamping: .onArrival(behaviour(runState)))
    case .server:
      try await OriginServer(behaviour: behaviour(runState)).run { url in
        try await run(runState, url: url, stamping: .byServer)
      }
    }
  }

  private func behaviour(_ runState: RunState) -> OriginBehaviour {
    OriginBehaviour(
      run: runState.run, keys: configuration.keys, register: runState.register, latency: configuration.latency,
      failureRate: configuration.failureRate)
  }

  private func run(_ runState: RunState, url: URL, stamping: HTTPOrigin.Stamping) async throws -> StressReport {
    // A bulk load requests several keys concurrently.
    let origin = try HTTPOrigin(
      base: url, keys: configuration.keys, stamping: stamping, connections: configuration.clients + 16)
    defer { origin.finish() }
    // The run's own server always responds. If a user's server does not, every load fails and nothing is checked.
    if case .onArrival = stamping { try await origin.requireAnswer() }
    return try await run(runState, origin)
  }

  /// Performs the run with this origin.
  func run(_ runState: RunState, _ origin: any Origin) async throws -> StressReport {
    let subject = try Subject(runState, directory: directory.path, isFirst: true)
    let holder = SubjectHolder(subject)
    let supervisor = StoreSupervisor(runState: runState, holder: holder, directory: directory.path)
    let tallies = (0..<configuration.clients).map { _ in ClientTally() }
    let start = Ticks.now()
    stop.begin(at: start)
    let watch = Task {
      await withTaskGroup { group in
        group.addTask { await supervisor.watchLimits() }
        group.addTask { await supervisor.reopenNowAndThen() }
        group.addTask { await ProgressLine(runState: runState, tallies: tallies.map(\.main), start: start).run() }
      }
    }
    let waiting = await work(runState, origin, holder, tallies)
    let seconds = Double(Ticks.now() - start) / 1e9
    watch.cancel()
    if waiting > 0 {
      runState.violations.report(
        .unsound, "\(waiting) clients still wait after the end of the run; the store was not checked, and stays open")
    } else {
      await finish(runState, supervisor, watch)
    }
    return StressReport(self, runState, supervisor, tallies, seconds: seconds)
  }

  /// Runs the clients. When the run is over, cancels clients that still wait for a slow origin after some seconds.
  ///
  /// - Returns: The number of clients that did not end, even after their cancellation.
  private func work(
    _ runState: RunState, _ origin: any Origin, _ holder: SubjectHolder, _ tallies: [ClientTally]
  ) async -> Int {
    let clients = (0..<configuration.clients).map { index in
      Task {
        var client = Client(index: index, runState: runState, origin: origin, holder: holder, tally: tallies[index])
        await client.work()
      }
    }
    let haveEnded = await ends {
      for client in clients { await client.value }
    } before: { [stop, patience] in
      while !stop.isRaised { try await Task.sleep(for: .milliseconds(100)) }
      try await Task.sleep(for: patience.beforeCancellation)
      for client in clients { client.cancel() }
      try await Task.sleep(for: patience.afterCancellation)
    }
    return haveEnded ? 0 : runState.barrier.memberCount
  }

  /// Performs the final checks, and closes the store.
  private func finish(_ runState: RunState, _ supervisor: StoreSupervisor, _ watch: Task<Void, Never>) async {
    let hasEnded = await ends {
      await watch.value
      await supervisor.finish()
      runState.sample.check(names: runState.keys.names, into: runState.violations)
    } before: { [patience] in
      try await Task.sleep(for: patience.forChecks)
    }
    if !hasEnded {
      runState.violations.report(.unsound, "the last checks and the closing of the store did not end")
    }
  }

  /// Returns the reason why a user's server never returned a value, or nil if it returned one. The run's own origin
  /// may fail on purpose.
  fileprivate func originFailure(_ runState: RunState) -> String? {
    guard case .remote(let url) = configuration.origin, let reason = runState.originAnswers.failureWithoutValue
    else { return nil }
    return "the origin \(url) returned no value: \(reason)"
  }
}

extension StressReport {
  fileprivate init(
    _ run: StressRun, _ runState: RunState, _ supervisor: StoreSupervisor, _ tallies: [ClientTally], seconds: Double
  ) {
    let counts = Tally.sum(tallies.map(\.main))
    let exerciseCounts = Tally.sum(tallies.map(\.exercises))
    seed = run.configuration.seed
    configuration = StressConfiguration.Summary(run.configuration)
    self.seconds = seconds
    operations = counts.operations + exerciseCounts.operations
    originRequests = runState.originRequests.load(ordering: .relaxed)
    originValues = runState.originAnswers.values
    originFailure = run.originFailure(runState)
    distinctKeys = runState.register.distinctKeys
    outcomes = OutcomeSummary.summaries(of: counts)
    exercises = OutcomeSummary.summaries(of: exerciseCounts)
    breaker = runState.exercises.breakerRequests
    limits = supervisor.limits.summaries
    observers = ObserverSummary(
      registered: supervisor.reopenings + 1 + runState.scopedObservers.load(ordering: .relaxed),
      changes: supervisor.changeCount, scopedChanges: runState.scopedChanges.load(ordering: .relaxed))
    refreshes = supervisor.refreshCount
    reopenings = supervisor.reopenings
    historyOperations = runState.sample.count
    interrupted = run.stop.isInterrupted
    violationCount = runState.violations.count
    violations = runState.violations.violations
  }
}
