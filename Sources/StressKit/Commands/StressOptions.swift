import ArgumentParser
import Cistern
import Foundation
import InputFormats

/// The options for the keys of a run and the size of their values.
struct KeyOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "The number of keys. If the folder has fewer files, each file has several keys. (default: 20000)",
    transform: { try integerArgument($0, in: 1...10_000_000) })
  var keys: Int?

  @Option(
    parsing: .unconditional,
    help: "Use synthetic values of this size instead of files: \(ByteCount.argumentForm).", transform: valueSize)
  var valueSize: ByteCount?

  @Option(
    parsing: .unconditional,
    help: "The exponent of Zipf's law for the popularity of keys; 0 for equal popularity. (default: 0.99)",
    transform: exponent)
  var zipf = 0.99

  @Option(
    help: ArgumentHelp(
      "Follow the requests of a trace: a CSV file, plain or gzip, of key, or key,size or time,key,size.",
      valueName: "file"))
  var trace: String?

  /// The default number of keys.
  static let defaultCount = 20_000

  func validate() throws {
    if trace != nil && keys != nil { throw ValidationError("A trace has its own keys: omit --keys.") }
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
        "'\(text)' must be from \(Stamp.size) bytes, which identify a value, to \(KeySpace.largestValue).")
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

/// The options for the store of a run.
struct StressStoreOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "The memory tier's limit: \(ByteCount.argumentForm). (default: 16MiB)",
    transform: ByteCount.positive)
  var memoryLimit = ByteCount.mebibytes(16)

  @Option(parsing: .unconditional, help: "The disk tier's limit. (default: 32MiB)", transform: ByteCount.positive)
  var diskLimit = ByteCount.mebibytes(32)

  @Option(help: "The directory of the store, which is kept. (default: a temporary directory, removed at the end)")
  var directory: String?

  @Option(help: "The eviction policy of the memory tier: \(PolicyArgument.names).")
  var policy = PolicyArgument(.leastHitDensity)

  @Option(
    parsing: .unconditional,
    help: "The time after which the store is closed and reopened; 0 for never. (default: the profile's)",
    transform: Duration.argument)
  var reopenEvery: Duration?
}

/// The options for the origin of a run.
struct OriginOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Fetch from this server instead of the run's own. The names of keys are appended to the address.",
      valueName: "url"),
    transform: address)
  var origin: URL?

  @Flag(help: "Fetch from a function instead of an HTTP server. This puts more load on the cache.")
  var inProcess = false

  @Option(
    parsing: .unconditional,
    help: "The average latency of the origin. (default: the profile's)", transform: Duration.argument)
  var latency: Duration?

  @Option(
    parsing: .unconditional,
    help: "The fraction of requests that the origin fails: 0.02, or 2%. (default: the profile's)",
    transform: shareArgument)
  var failureRate: Double?

  func validate() throws {
    if origin != nil && inProcess { throw ValidationError("Use --origin or --in-process, not both.") }
  }

  var kind: StressConfiguration.OriginKind {
    origin.map { .remote($0) } ?? (inProcess ? .inProcess : .server)
  }

  private static func address(_ text: String) throws -> URL {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw ValidationError("'\(text)' is not an address: expected http://… or https://….")
    }
    return url
  }
}

/// The name of an eviction policy on the command line.
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
