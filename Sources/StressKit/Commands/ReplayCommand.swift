import ArgumentParser
import Cistern
import InputFormats

/// `cistern replay`: the options of the command, and their conversion to a `Replay`.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay a trace of requests in the memory tier, and print the miss ratios.",
    discussion: """
      TRACE is a CSV file, plain or gzip. Each line is a request in the same form: key, or key,size or \
      time,key,size. A first line with the names of the columns is skipped. Each request is "get; on a miss, load \
      and insert". The cost of a key is its size, or 1 if the trace has no sizes. The cache has as many shards as by \
      default on a machine with --processors. A column has the miss ratio with one shard. \(ExitStatus.explanation)

      Examples:
        cistern replay requests.csv.gz --memory-limit 64MiB
        cistern replay requests.csv --memory-limit 0.1% --memory-limit 1% --memory-limit 10% --policy lhd --policy lru
      """)

  @Argument(help: "The trace file.")
  var trace: String

  @Option(
    name: [.long, .customLong("limit")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A limit: a size (or a number of objects, if the trace has no sizes), or a percentage of the size of all objects. Repeat the option, or use commas, for several rows.",
      valueName: "limit"))
  var memoryLimit: [String]

  @Option(help: "A policy: \(PolicyArgument.names). Repeat the option for several rows. (default: all)")
  var policy: [PolicyArgument] = []

  @Option(help: "The number of processors of the simulated machine. (default: that of this machine)")
  var processors: Int?

  @Option(help: ArgumentHelp("Also write the results as JSON to this file (- for standard output).", valueName: "file"))
  var json: String?

  /// The limits, separated at commas.
  private var limitNames: [String] {
    memoryLimit.flatMap { $0.split(separator: ",").map(String.init) }
  }

  func validate() throws {
    if limitNames.isEmpty { throw ValidationError("Specify at least one --memory-limit.") }
    if let processors, !(1...65_536).contains(processors) {
      throw ValidationError("Specify 1 to 65,536 --processors.")
    }
    for name in limitNames { _ = try ReplayLimit(argument: name) }
  }

  func run() async throws {
    let policies = policy.isEmpty ? EvictionPolicyKind.allCases : policy.map(\.kind)
    let replay = Replay(
      path: trace, limits: try limitNames.map { try ReplayLimit(argument: $0) }, limitNames: limitNames,
      policies: policies, processorCount: processors)
    let output = try JSONOutput.file(json)
    let report: ReplayReport
    do {
      report = try await replay.run()
    } catch let error as TraceError {
      throw CommandFailure(error)
    }
    if json != "-" { Console.current.print(report) }
    if let output { try JSONOutput.write(report, to: output) }
  }
}
