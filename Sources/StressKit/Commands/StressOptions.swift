import ArgumentParser
import Cistern
import Foundation

/// Which keys a run uses, and how large their values are.
struct KeyOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "How many keys there are: with fewer files, each is served under several names. (default: 20000)",
    transform: { try integerArgument($0, in: 1...10_000_000) })
  var keys: Int?

  @Option(
    parsing: .unconditional,
    help: "Make up values of this size instead of serving files: \(ByteCount.argumentForm).", transform: valueSize)
  var valueSize: ByteCount?

  @Option(
    parsing: .unconditional,
    help: "The exponent of Zipf's law by which keys are chosen; 0 for all alike. (default: 0.99)",
    transform: exponent)
  var zipf = 0.99

  @Option(
    help: ArgumentHelp(
      "Choose keys as a trace of requests has them: CSV, gzip too, of key, or key,size or time,key,size.",
      valueName: "file"))
  var trace: String?

  /// Keys that a run has where nothing else is said.
  static let defaultCount = 20_000

  func validate() throws {
    if trace != nil && keys != nil { throw ValidationError("A trace brings its own keys: leave out --keys.") }
  }

  func keySpace(folder: String?, trace: Trace?) throws -> KeySpace {
    if let trace { return try KeySpace(trace: trace, valueSize: valueSize?.bytes) }
    if let valueSize { return KeySpace(count: keys ?? KeyOptions.defaultCount, valueSize: valueSize.bytes) }
    let folder = folder ?? FileManager.default.currentDirectoryPath
    return KeySpace(folder: folder, files: try FolderScan.files(in: folder), count: keys ?? KeyOptions.defaultCount)
  }

  private static func valueSize(_ text: String) throws -> ByteCount {
    let size = try ByteCount.positive(text)
    guard (Stamp.size...KeySpace.largestValue.bytes).contains(size.bytes) else {
      throw ValidationError(
        "'\(text)' must be from \(Stamp.size) bytes, which tell values apart, to \(KeySpace.largestValue).")
    }
    return size
  }

  private static func exponent(_ text: String) throws -> Double {
    guard let exponent = Double(text), (0...10).contains(exponent) else {
      throw ValidationError("'\(text)' must be a number from 0 to 10.")
    }
    return exponent
  }
}

/// The store that a run uses.
struct StressStoreOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "The memory tier's limit: \(ByteCount.argumentForm). (default: 16MiB)",
    transform: ByteCount.positive)
  var memoryLimit = ByteCount.mebibytes(16)

  @Option(parsing: .unconditional, help: "The disk tier's limit. (default: 32MiB)", transform: ByteCount.positive)
  var diskLimit = ByteCount.mebibytes(32)

  @Option(help: "Where the store is, which stays there. (default: a temporary folder, removed at the end)")
  var directory: String?

  @Option(help: "Which entries make room in memory: \(PolicyArgument.names).")
  var policy = PolicyArgument(.leastHitDensity)

  @Option(
    parsing: .unconditional,
    help: "How long the store stays open before it is closed and opened again; 0 for ever. (default: the profile's)",
    transform: Duration.argument)
  var reopenEvery: Duration?
}

/// Where a run's values come from.
struct OriginOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Fetch from this server instead of one of the run's own; key names are appended to the address.",
      valueName: "url"),
    transform: address)
  var origin: URL?

  @Flag(help: "Fetch from a function instead of a server: the cache is busier, and HTTP is left out.")
  var inProcess = false

  @Option(
    parsing: .unconditional,
    help: "How long the origin takes to answer, on average. (default: the profile's)", transform: Duration.argument)
  var latency: Duration?

  @Option(
    parsing: .unconditional,
    help: "The share of requests that the origin fails: 0.02, or 2%. (default: the profile's)",
    transform: shareArgument)
  var failureRate: Double?

  func validate() throws {
    if origin != nil && inProcess { throw ValidationError("Give --origin or --in-process, not both.") }
  }

  var kind: StressConfiguration.OriginKind {
    origin.map { .remote($0) } ?? (inProcess ? .inProcess : .server)
  }

  private static func address(_ text: String) throws -> URL {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw ValidationError("'\(text)' is no address: expected http://… or https://….")
    }
    return url
  }
}

/// An eviction policy, by its name on the command line.
struct PolicyArgument: ExpressibleByArgument {
  let kind: EvictionPolicyKind

  init(_ kind: EvictionPolicyKind) {
    self.kind = kind
  }

  init?(argument: String) {
    guard let kind = EvictionPolicyKind(rawValue: argument.lowercased()) else { return nil }
    self.kind = kind
  }

  var defaultValueDescription: String { kind.rawValue }

  static var allValueStrings: [String] { EvictionPolicyKind.allCases.map(\.rawValue) }

  static var names: String { allValueStrings.joined(separator: ", ") }
}
