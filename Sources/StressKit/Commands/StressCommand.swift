import ArgumentParser
import Cistern
import Foundation

/// `cistern stress`: its flags, and what they come to.
struct StressCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Use a cache hard, over real HTTP, and check that it never breaks its promises.",
    discussion: """
      Serves the files of FOLDER from an HTTP server on loopback. Clients fetch them through a cache of memory and disk, \
      while others write, remove, invalidate, observe, cancel, and close and reopen the store. The run checks that a key \
      has one fetch at a time; that no read returns a value older than one that was returned or committed before the \
      read began, or a value past its grace; that each observer receives every change once and in order; that limits are \
      never exceeded; and that nothing waits at the end. Caches for exercises run beside it: updates, merges, batches \
      and drafts, none of which is lost or seen in part, and an origin that fails for a while and is not asked then.

      Profiles: read-heavy, mostly hits; churn, mostly writes; invalidate, removals of tags, prefixes and all against \
      fetches; flaky-origin, failures, timeouts and grace; restart, closed and opened again three times a second; all, \
      something of everything.

      Ends after --duration, or --operations, or Ctrl-C, with a report. Fails if the server of --origin does not answer, \
      or gives no value at all. \(ExitStatus.explanation)

      Examples:
        cistern stress
        cistern stress ~/Pictures --clients 64 --memory-limit 256MiB --disk-limit 4GiB --duration 2m
        cistern stress --profile flaky-origin --duration 1m
        cistern stress --operations 2000000 --seed 7 --json report.json
        cistern stress --origin https://intranet.example/files/ --clients 4
      """)

  @Argument(help: "The folder whose files are served. (default: the current one)")
  var folder: String?

  @Option(help: "What clients do, and how often: \(Profile.names).")
  var profile = Profile.all

  @Option(
    parsing: .unconditional, help: "How long to run: \(Duration.argumentForm). (default: 20s)",
    transform: Duration.positiveArgument)
  var duration: Duration?

  @Option(
    parsing: .unconditional,
    help: "Run for this many operations instead of a time.",
    transform: { try integerArgument($0, in: 1...1_000_000_000_000) })
  var operations: Int?

  @Option(
    parsing: .unconditional, help: "The seed of every random choice. (default: a new one)", transform: seedArgument)
  var seed: UInt64?

  @Option(
    parsing: .unconditional, help: "Clients at work at once. (default: 16)",
    transform: { try integerArgument($0, in: 1...10_000) })
  var clients = 16

  @OptionGroup(title: "Keys and values")
  var keyOptions: KeyOptions

  @OptionGroup(title: "The store")
  var storeOptions: StressStoreOptions

  @OptionGroup(title: "The origin")
  var originOptions: OriginOptions

  @Option(help: ArgumentHelp("Also write the report as JSON; - for standard output.", valueName: "file"))
  var json: String?

  func validate() throws {
    if duration != nil && operations != nil { throw ValidationError("Give --duration or --operations, not both.") }
  }

  func run() async throws {
    let configuration: StressConfiguration
    do {
      configuration = try resolve()
    } catch let error as TraceError {
      throw CommandFailure(error)
    }
    let output = try JSONOutput.file(json)
    let console = Console.current
    if json != "-" { console.print("stress: " + configuration.announcement) }
    let stop = StopSignal(configuration.bound)
    let watch = InterruptWatch(stop)
    defer { withExtendedLifetime(watch) {} }
    let report: StressReport
    do {
      report = try await StressRun(configuration, stop: stop).run()
    } catch let error as CisternError {
      throw CommandFailure(error)
    }
    if json != "-" { console.print(report) }
    if let output { try JSONOutput.write(report, to: output) }
    if report.violationCount > 0 { throw CommandFailure("", status: .negative) }
    if let failure = report.originFailure { throw CommandFailure(failure, status: .badInput) }
  }

  /// The flags as a configuration: defaults filled in, the folder or the trace read.
  func resolve() throws -> StressConfiguration {
    let trace = try keyOptions.trace.map { try Trace(path: $0) }
    let keys = try keyOptions.keySpace(folder: folder, trace: trace)
    let bound: StressConfiguration.Bound =
      operations.map { .operations($0) } ?? .duration(duration ?? .seconds(20))
    let settings = profile.settings
    let reopenEvery = storeOptions.reopenEvery ?? settings.reopenEvery
    return StressConfiguration(
      profile: profile, seed: seed ?? UInt64.random(in: 1..<1 << 32), bound: bound, clients: clients, keys: keys,
      trace: trace,
      zipfExponent: keyOptions.zipf, memoryLimit: storeOptions.memoryLimit, diskLimit: storeOptions.diskLimit,
      directory: storeOptions.directory, origin: originOptions.kind,
      latency: originOptions.latency ?? settings.latency,
      failureRate: originOptions.failureRate ?? settings.failureRate, lifetimes: settings.lifetimes,
      reopenInterval: reopenEvery > .zero ? reopenEvery : nil, evictionPolicy: storeOptions.policy.kind)
  }
}
