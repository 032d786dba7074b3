import ArgumentParser
import Cistern
import Foundation

/// `cistern put`: writes one value's bytes.
struct PutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Store the bytes of standard input, or of a file, under a key.",
    discussion: """
      The bytes are stored as they are; a cache of Codable values expects JSON. Returns when they are on disk. Programs \
      that hold the key in memory go on with what they hold. \(ExitStatus.explanation)

      Examples:
        echo '{"title":"Rain"}' | cistern put ./store articles news/42
        cistern put ./store pictures logo --file logo.png --expires-after 1h
        cistern put ./new-store pictures logo --file logo.png --disk-limit 64MiB
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; a new one begins a cache.")
  var cache: String

  @OptionGroup var key: KeyArgument

  @Option(help: ArgumentHelp("Read this file instead of standard input.", valueName: "file"))
  var file: String?

  @Option(
    help: "The value's lifetime: \(Duration.argumentForm). (default: for ever)", transform: Duration.positiveArgument)
  var expiresAfter: Duration?

  @Option(
    help: "The limit of a store that is not there yet, and is made with it: \(ByteCount.argumentForm).",
    transform: ByteCount.positive)
  var diskLimit: ByteCount?

  func run() async throws {
    let key = try key.bytes()
    let bytes = try input()
    let store = try StoreOnDisk(writing: directory, orMakingWith: diskLimit)
    let partition = try store.partition(cache, beginning: true)
    let created = SystemClock().wallTime()
    let expires = expiresAfter.map { lifetime in
      WallTime(nanosecondsSince1970: created.nanosecondsSince1970 + Int64(lifetime.nanoseconds))
    }
    let metadata = RecordMetadata(
      created: created, expires: expires, cost: UInt32(clamping: max(1, bytes.count)), era: partition.currentEra)
    guard case .staged(let ticket) = partition.stage(.record(key: key, metadata, bytes: bytes)) else {
      try await store.close()
      throw CommandFailure(
        "the store refuses \(ByteCount.bytes(bytes.count)): more than it can hold with its limit", status: .badInput)
    }
    do {
      try await partition.waitForCommit(ticket)
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
    try await store.close()
  }

  private func input() throws -> [UInt8] {
    do {
      guard let file else { return try Console.current.readAll() }
      return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    } catch {
      throw CommandFailure(
        "cannot read \(file ?? "standard input"): \(error.localizedDescription)", status: .badInput)
    }
  }
}
