import ArgumentParser
import Cistern
import Foundation
import InputFormats

/// `cistern stress`: the options of the command, and their conversion to a `StressConfiguration`.
struct StressCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Stress a cache over HTTP, and check its guarantees.",
    discussion: """
      The command serves the files of FOLDER from an HTTP server on the loopback interface. Clients fetch them \
      through a cache with a memory tier and a disk tier. At the same time, clients write, remove, invalidate, \
      observe and cancel, and the store is closed and reopened. The run checks these guarantees:
        - A key has at most one fetch at a time.
        - No read returns a value older than one that was returned or committed before the read began.
        - No read returns a value after its grace.
        - Each observer receives every change once and in order.
        - No tier exceeds its limit.
        - No caller waits at the end.

      Exercises with separate caches check that no update, merge, batch or draft is lost or visible in part. They \
      also check that the cache does not ask a failing origin again before the retry interval has passed, and that a \
      failing origin behind a circuit breaker receives no more requests than a working one. Loads with contexts check \
      that the cache never has a value that a fetch did not store. Observed contents have no gap and no duplicate, an \
      enumeration has each key once, and a backup of the store in use has whole batches.

      Profiles:
        read-heavy: mostly hits
        churn: mostly writes
        invalidate: removals of tags, prefixes and all keys, concurrently with fetches
        flaky-origin: failures, timeouts and grace
        restart: the store is closed and reopened three times a second
        all: a mixture of all kinds

      The run ends after --duration, after --operations, or on Ctrl-C, and prints a report. A second Ctrl-C ends it \
      without one. It ends in any case: a \
      store that cannot write, and a client that waits forever, are violations. The run fails if the server of \
      --origin does not answer, or never returns a value. \(ExitStatus.explanation)

      Examples:
        cistern stress
        cistern stress ~/Pictures --clients 64 --memory-limit 256MiB --disk-limit 4GiB --duration 2m
        cistern stress --profile flaky-origin --duration 1m
        cistern stress --operations 2000000 --seed 7 --json report.json
        cistern stress --origin https://intranet.example/files/ --clients 4
      """)

  @Argument(help: "The folder with the files to serve. (default: the current folder)")
  var folder: String?

  @Option(help: "The kind of load: \(Profile.names).")
  var profile = Profile.all

  @Option(
    parsing: .unconditional, help: "The duration of the run: \(Duration.argumentForm). (default: 20s)",
    transform: Duration.positiveArgument)
  var duration: Duration?

  @Option(
    parsing: .unconditional,
    help: "Run this number of operations instead of a duration.",
    transform: { try integerArgument($0, in: 1...1_000_000_000_000) })
  var operations: Int?

  @Option(
    parsing: .unconditional, help: "The seed of all random choices. (default: a random seed)", transform: seedArgument)
  var seed: UInt64?

  @Option(
    parsing: .unconditional, help: "The number of concurrent clients. (default: 16)",
    transform: { try integerArgument($0, in: 1...10_000) })
  var clients = 16

  @OptionGroup(title: "Keys and values")
  var keyOptions: KeyOptions

  @OptionGroup(title: "The store")
  var storeOptions: StressStoreOptions

  @OptionGroup(title: "The origin")
  var originOptions: OriginOptions

  @Option(help: ArgumentHelp("Also write the report as JSON to this file (- for standard output).", valueName: "file"))
  var json: String?

  func validate() throws {
    if duration != nil && operations != nil { throw ValidationError("Use --duration or --operations, not both.") }
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
    let run = try StressRun(configuration, stop: stop)
    let watch = InterruptWatch(
      stop, removing: RunRemains(directory: run.directory.temporary, partialReport: output?.partial))
    defer { withExtendedLifetime(watch) {} }
    let report: StressReport
    do {
      report = try await run.run()
    } catch let error as CisternError {
      throw CommandFailure(error)
    }
    if json != "-" { console.print(report) }
    if let output { try JSONOutput.write(report, to: output) }
    if report.violationCount > 0 { throw CommandFailure("", status: .negative) }
    if let failure = report.originFailure { throw CommandFailure(failure, status: .badInput) }
  }

  /// Returns the configuration: the options with their defaults, and the keys of the folder or the trace.
  func resolve() throws -> StressConfiguration { try StressConfiguration(self) }
}

extension StressConfiguration {
  fileprivate init(_ options: StressCommand) throws {
    let settings = options.profile.settings
    profile = options.profile
    seed = options.seed ?? UInt64.random(in: 1..<1 << 32)
    bound = options.operations.map { .operations($0) } ?? .duration(options.duration ?? .seconds(20))
    clients = options.clients
    trace = try options.keyOptions.trace.map { try Trace(path: $0) }
    keys = try options.keyOptions.keySpace(folder: options.folder, trace: trace)
    zipfExponent = options.keyOptions.zipf
    memoryLimit = options.storeOptions.memoryLimit
    diskLimit = options.storeOptions.diskLimit
    directory = options.storeOptions.directory
    origin = options.originOptions.kind
    latency = options.originOptions.latency ?? settings.latency
    failureRate = options.originOptions.failureRate ?? settings.failureRate
    lifetimes = settings.lifetimes
    let reopenEvery = options.storeOptions.reopenEvery ?? settings.reopenEvery
    reopenInterval = reopenEvery > .zero ? reopenEvery : nil
    evictionPolicy = options.storeOptions.policy.kind
  }
}
